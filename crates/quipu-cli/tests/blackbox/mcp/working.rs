//! A host at work on a data directory of its own.

use serde_json::json;

use super::Host;
use crate::support::{finding, verify_is_green};

#[test]
fn what_one_process_records_the_next_one_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("made-by-the-first-start");
    let arguments = ["--data".as_ref(), data.as_os_str()];
    let mut first = Host::begin(arguments);
    first.record("The importer retries three times.");
    let ended = first.close().succeeded();
    assert_eq!(ended.stderr, "", "a host would show it");
    let mut second = Host::begin(arguments);
    assert_eq!(second.attune(), ["The importer retries three times."]);
    second.close().succeeded();
    assert_eq!(verify_is_green(&data)["units"], 1);
}

#[test]
fn a_client_of_the_newest_revision_needs_no_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::start(["--data".as_ref(), dir.path().as_os_str()]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "Black Box", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let found = host.ask("server/discover", json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap().clone();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let params = json!({"_meta": meta, "name": "akashik_record", "arguments": finding("c")});
    let recorded = host.ask("tools/call", params);
    assert_eq!(recorded["result"]["structuredContent"]["status"], "accepted", "{recorded}");
}

#[test]
fn the_agent_and_its_role_can_be_configured() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let mut host = Host::begin(["--data", data, "--agent", "ada", "--role", "engineer"]);
    host.record("c");
    let scope = json!({"scope": {"role": "r", "max_units": 1}});
    let given = host.call("akashik_attune", scope);
    let source = &given["structuredContent"]["record"][0]["memory_unit"]["source"];
    assert_eq!((&source["agent_id"], &source["agent_role"]), (&json!("ada"), &json!("engineer")));
}

#[test]
fn arguments_of_a_megabyte_are_taken_and_larger_texts_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::begin(["--data".as_ref(), dir.path().as_os_str()]);
    host.record(&"x".repeat(1024 * 1024));
    let refused = host.call("akashik_record", finding(&"x".repeat(1024 * 1024 + 1)));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("INVALID_PAYLOAD: content: "), "{text}");
    let refused = host.call("akashik_record", finding(&"x".repeat(5 * 1024 * 1024)));
    assert_eq!(refused["isError"], true, "{refused}");
    host.record("and it goes on");
}

#[test]
fn calls_that_were_sent_before_the_pipe_was_closed_are_carried_out_once() {
    let dir = tempfile::tempdir().unwrap();
    let data = ["--data".as_ref(), dir.path().as_os_str()];
    let mut host = Host::begin(data);
    host.record("0");
    for number in 1..20 {
        let call = json!({"name": "akashik_record", "arguments": finding(&number.to_string())});
        host.request("tools/call", call);
    }
    host.close().succeeded();
    let mut contents = Host::begin(data).attune();
    contents.sort_by_key(|content| content.parse::<u32>().unwrap());
    let mut once = contents.clone();
    once.dedup();
    assert_eq!(contents, once);
    assert!(contents.contains(&"0".to_owned()));
}

#[test]
fn garbage_between_messages_does_not_end_the_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let mut host = Host::begin(["--data".as_ref(), dir.path().as_os_str()]);
    host.write(b"this is no JSON\n\n{\"half\": \n");
    host.record("still here");
}
