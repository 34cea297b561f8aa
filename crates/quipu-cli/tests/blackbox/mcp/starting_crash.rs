//! Starts that fail, ends that are asked for, and how a host comes to know why.

use std::process::Command;

use serde_json::json;

use super::Host;
use crate::support::{Settings, finding};

#[test]
fn the_second_host_on_a_data_directory_is_told_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let data = ["--data".as_ref(), dir.path().as_os_str()];
    let mut first = Host::begin(data);
    let mut second = Host::start(data);
    let refused = second.initialize();
    let message = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    for part in ["another quipu process", "quipu serve --data", "--url"] {
        assert!(message.contains(part), "{message}");
    }
    let ended = second.finish().failed();
    assert!(ended.stderr.contains("quipu serve --data"), "{}", ended.stderr);
    first.record("the first goes on");
}

#[test]
fn a_host_on_the_directory_of_a_server_is_told_its_address() {
    let dir = tempfile::tempdir().unwrap();
    let server = Settings::dev(dir.path()).start();
    let mut host = Host::start(["--data".as_ref(), dir.path().as_os_str()]);
    let refused = host.initialize();
    let expected = format!("quipu mcp --url http://{}", server.address);
    assert!(refused["error"]["message"].as_str().unwrap().contains(&expected), "{refused}");
    host.finish().failed();
    server.stop();
    // The server is gone, and so is what it said of itself.
    Host::begin(["--data".as_ref(), dir.path().as_os_str()]).record("now it is free");
}

#[test]
fn a_host_that_says_nothing_sees_the_reason_on_stderr() {
    let dir = tempfile::tempdir().unwrap();
    let data = ["--data".as_ref(), dir.path().as_os_str()];
    let _first = Host::begin(data);
    let ended = Host::start(data).close().failed();
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_process_that_is_told_to_stop_closes_its_memory_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let data = ["--data".as_ref(), dir.path().as_os_str()];
    let mut host = Host::begin(data);
    host.record("c");
    let asked = Command::new("kill").args(["-TERM", &host.pid().to_string()]).status().unwrap();
    assert!(asked.success());
    host.finish().succeeded();
    assert_eq!(Host::begin(data).attune(), ["c"]);
}

#[test]
fn a_process_that_is_killed_loses_nothing_that_it_answered() {
    let dir = tempfile::tempdir().unwrap();
    let data = ["--data".as_ref(), dir.path().as_os_str()];
    let mut host = Host::begin(data);
    host.record("c");
    let call = json!({"name": "akashik_record", "arguments": finding("perhaps")});
    host.request("tools/call", call);
    drop(host);
    let known = Host::begin(data).attune();
    assert!(known.contains(&"c".to_owned()), "{known:?}");
}
