//! Several hosts on one memory: by a server, with keys, across its restarts.

use serde_json::json;

use super::Host;
use crate::support::{Settings, finding, quipu};

#[test]
fn two_hosts_on_one_server_share_what_they_know() {
    let dir = tempfile::tempdir().unwrap();
    let server = Settings::dev(dir.path()).start();
    let url = format!("http://{}", server.address);
    let (mut first, mut second) = (Host::begin(["--url", &url]), Host::begin(["--url", &url]));
    first.record("from the first");
    second.record("from the second");
    let mut known = first.attune();
    known.sort();
    assert_eq!(known, ["from the first", "from the second"]);
    assert_eq!(second.attune().len(), 2);
}

#[test]
fn a_key_of_one_agent_makes_the_host_that_agent() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let server = Settings::new(dir.path()).start();
    let create = ["key", "create", "--data", data, "--agent", "ana", "--authority", "4"];
    let made = quipu(create).succeeded().stdout;
    let key = made.lines().last().unwrap();
    let mut host = Host::begin(["--url", &format!("http://{}", server.address), "--key", key]);
    host.record("c");
    let scope = json!({"scope": {"role": "r", "max_units": 1}});
    let given = host.call("akashik_attune", scope);
    let source = &given["structuredContent"]["record"][0]["memory_unit"]["source"];
    assert_eq!(source["agent_id"], "ana", "{given}");
}

#[test]
fn without_a_key_every_call_says_so_and_the_host_stays() {
    let dir = tempfile::tempdir().unwrap();
    let server = Settings::new(dir.path()).start();
    let mut host = Host::begin(["--url", &format!("http://{}", server.address)]);
    for _ in 0..2 {
        let refused = host.call("akashik_attune", json!({"scope": {"role": "r", "max_units": 1}}));
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("UNAUTHENTICATED"), "{text}");
    }
}

#[test]
fn a_server_that_is_killed_and_restarted_under_a_host_records_everything_once_crash() {
    let dir = tempfile::tempdir().unwrap();
    let server = Settings::dev(dir.path()).start();
    let address = server.address.to_string();
    let mut host = Host::begin(["--url", &format!("http://{address}")]);
    host.record("before");
    server.kill();
    let arguments = json!({"name": "akashik_record", "arguments": finding("meanwhile")});
    let waiting = host.request("tools/call", arguments);
    let _server = Settings::dev(dir.path()).argument("--listen").argument(&address).start();
    let answer = host.response(waiting);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    host.record("after");
    let mut known = host.attune();
    known.sort();
    assert_eq!(known, ["after", "before", "meanwhile"]);
}

#[test]
fn a_host_is_registered_again_with_a_server_that_forgot_everything_crash() {
    let dir = tempfile::tempdir().unwrap();
    let in_memory = Settings::dev(dir.path()).argument("--log").argument("memory:");
    let server = in_memory.start();
    let address = server.address.to_string();
    let mut host = Host::begin(["--url", &format!("http://{address}")]);
    host.record("forgotten");
    server.kill();
    let _server = in_memory.argument("--listen").argument(&address).start();
    host.record("new");
    assert_eq!(host.attune(), ["new"]);
}
