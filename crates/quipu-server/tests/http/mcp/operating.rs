//! Carrying operations out by tools, with the caller's own key.

use quipu_server::secrets::keys::KeyAgent;
use serde_json::json;

use super::{Mcp, VERSION_NEW, VERSION_OLD, finding};
use crate::support::TestServer;

fn scope() -> serde_json::Value {
    json!({"scope": {"role": "engineer", "max_units": 5}})
}

#[test]
fn what_one_generation_records_the_other_is_given() {
    let server = TestServer::start();
    let key = server.key(4);
    for (writes, reads) in [(VERSION_OLD, VERSION_NEW), (VERSION_NEW, VERSION_OLD)] {
        let recorded = Mcp::begin(&server, &key, writes).call("akashik_record", finding());
        assert_eq!(recorded["isError"], false, "{recorded}");
        let id = recorded["structuredContent"]["memory_unit_id"].as_str().unwrap().to_owned();
        let mut reader = Mcp::begin(&server, &key, reads);
        let given = reader.call("akashik_attune", scope());
        let units = given["structuredContent"]["record"].as_array().unwrap();
        assert!(units.iter().any(|unit| unit["memory_unit"]["id"] == *id), "{given}");
        assert!(given["content"][0]["text"].as_str().unwrap().contains(&id), "{given}");
    }
    let mut operator = server.operator();
    let agents = operator.get("/v1/agents").json();
    assert_eq!(agents["agents"][0]["id"], "raw-client", "{agents}");
    assert_eq!(agents["agents"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_of_one_agent_speaks_for_that_agent_alone() {
    let server = TestServer::start();
    let key = server.key_for(KeyAgent::Named("ana".to_owned()), 4, None);
    let mut mcp = Mcp::begin(&server, &key, VERSION_NEW);
    assert_eq!(mcp.call("akashik_record", finding())["isError"], false);
    let agents = server.operator().get("/v1/agents").json();
    assert_eq!(agents["agents"][0]["id"], "ana", "{agents}");
    let mut others = finding();
    others["agent_id"] = json!("bo");
    let refused = mcp.call("akashik_record", others);
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("INSUFFICIENT_AUTHORITY: agent_id: the key is ana's"), "{text}");
}

#[test]
fn a_key_that_may_not_is_told_so_by_the_tool() {
    let server = TestServer::start();
    let mut mcp = Mcp::begin(&server, &server.key(2), VERSION_OLD);
    let refused = mcp.call("akashik_record", finding());
    assert!(refused["content"][0]["text"].as_str().unwrap().starts_with("INSUFFICIENT_AUTHORITY"));
    assert_eq!(mcp.call("akashik_attune", scope())["isError"], false);
}

#[test]
fn headers_choose_the_field_and_the_agent() {
    let server = TestServer::start();
    let key = server.key(10);
    let http =
        server.client().with_key(&key).with("quipu-field", "team-7").with("akashik-agent", "ada");
    let mut mcp = Mcp::over(http, VERSION_NEW);
    // Reading makes no Field, but the host's first word does.
    assert_eq!(mcp.call("akashik_attune", scope())["isError"], false);
    let agents = server.operator().with("quipu-field", "team-7").get("/v1/agents").json();
    assert_eq!(
        (&agents["agents"][0]["id"], &agents["agents"][0]["role"]),
        (&json!("ada"), &json!("engineer"))
    );
}

#[test]
fn a_memory_that_was_recorded_is_read_as_a_resource_and_replayed() {
    let server = TestServer::start();
    let mut mcp = Mcp::begin(&server, &server.key(4), VERSION_OLD);
    let recorded = mcp.call("akashik_record", finding());
    let id = recorded["structuredContent"]["memory_unit_id"].as_str().unwrap().to_owned();
    for uri in [format!("quipu://unit/{id}"), format!("quipu://replay/memory_unit/{id}")] {
        let read = mcp.ask("resources/read", json!({"uri": uri}));
        let text =
            read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        assert!(text.contains(finding()["content"].as_str().unwrap()), "{text}");
    }
    let listed = mcp.ask("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], format!("quipu://unit/{id}"), "{listed}");
}

#[test]
fn a_status_says_whose_the_key_is() {
    let server = TestServer::start();
    let key = server.key_for(KeyAgent::Named("ana".to_owned()), 4, None);
    assert_eq!(server.client().with_key(&key).get("/v1/field/status").json()["agent_id"], "ana");
    assert_eq!(server.operator().get("/v1/field/status").json().get("agent_id"), None);
}
