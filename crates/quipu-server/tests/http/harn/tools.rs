//! What can be called here, and which models the server asks.

use serde_json::{Value, json};

use super::{actors::Actor, modules::installed, refusal, refused, task_calls::operator};
use crate::support::TestServer;

/// All tools, page by page.
fn all(actor: &mut Actor) -> Vec<Value> {
    let (mut tools, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = actor.read(&format!("/v1/tools?limit=4{cursor}"));
        tools.extend(page["data"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next_cursor"].as_str() else { return tools };
        cursor = format!("&cursor={next}");
    }
}

#[test]
fn the_tools_are_the_operations_and_what_skills_personas_and_modules_offer() {
    let server = TestServer::start();
    let mut client = operator(&server);
    let source = "pub fn review(input: any) { return input }";
    let module = installed(&mut client, source, &[]);
    let mut actor = Actor::operator(&server);
    let worker = actor.made("/v1/personas", &json!({
        "name": "clerk", "version": "1", "entry_workflow": "main", "description": "files things",
        "autonomy_tier": "act_auto", "receipt_policy": "required",
        "metadata": {"tools": [
            "grep",
            {"name": "file it", "description": "Files it.", "input_schema": {"type": "object"}},
            7, {"no": "name"}, "",
        ]},
    }));
    assert_eq!(worker["tools"], json!(["grep", "file it"]));
    let worker = worker["id"].as_str().unwrap();
    let tools = all(&mut actor);
    let ids: Vec<&str> = tools.iter().map(|tool| tool["id"].as_str().unwrap()).collect();
    let expected = ["akashik_record", "akashik_attune", "skill_attune"];
    assert!(expected.iter().all(|id| ids.contains(id)), "{ids:?}");
    let (module, filed) = (format!("{module}:review"), format!("{worker}:file it"));
    assert_eq!(ids[ids.len() - 3..], [module.as_str(), &format!("{worker}:grep"), &filed]);
    for tool in &tools {
        assert_eq!(tool["object"], "tool");
        assert!(tool["input_schema"].is_object() && tool["output_schema"].is_object());
        let id = tool["id"].as_str().unwrap().replace(' ', "%20").replace(':', "%3A");
        assert_eq!(actor.read(&format!("/v1/tools/{id}")), *tool, "{id}");
    }
    let record = tools.iter().find(|tool| tool["id"] == "akashik_record").unwrap();
    assert!(
        record["input_schema"]["properties"]["units"].is_object()
            || record["input_schema"]["properties"]["content"].is_object()
            || record["input_schema"]["properties"].is_object()
    );
    assert_eq!(record["metadata"]["call"]["path"], "/v1/record");
    for id in ["nothing", "persona_x:grep", ":", &format!("{worker}:no")] {
        let reply = actor.get(&format!("/v1/tools/{id}"));
        assert_eq!(refusal(&reply), refused(404, "resource_not_found"), "{id}");
    }
}

#[test]
fn the_operations_that_are_listed_are_those_that_mcp_offers() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let operations: Vec<Value> = all(&mut actor)
        .into_iter()
        .filter(|tool| tool["metadata"]["provider"] == "operation")
        .collect();
    assert_eq!(
        operations.len(),
        quipu_wire::akashik::Operation::ALL.len() - 1,
        "SUBSCRIBE is no tool"
    );
    for tool in operations {
        let path = tool["metadata"]["call"]["path"].as_str().unwrap();
        let reply = server.operator().post(path, &json!({}));
        assert_ne!(reply.status, 404, "{path} can be called");
    }
}

#[test]
fn the_catalog_has_what_the_server_asks_and_nothing_else() {
    let server = TestServer::start();
    let mut actor = Actor::operator(&server);
    let catalog = actor.read("/v1/provider-catalog");
    assert_eq!(catalog["schema_version"], 6);
    assert_eq!(catalog["schema"], "https://harnlang.com/schemas/provider-catalog.v6.json");
    assert_eq!(catalog["providers"].as_array().map(Vec::len), Some(1));
    assert_eq!(catalog["models"].as_array().map(Vec::len), Some(1), "nothing is configured");
    let model = &catalog["models"][0];
    assert_eq!(
        (&model["provider"], &model["role"], &model["dimensions"]),
        (&json!("quipu"), &json!("embedding"), &json!(256))
    );
    assert_eq!(catalog["qc_defaults"], json!({"embedding": model["id"]}));
    for member in ["aliases", "variants", "families"] {
        assert_eq!(catalog[member], json!([]));
    }
    let stranger = super::stranger(&server).get("/v1/provider-catalog");
    assert_eq!(refusal(&stranger), refused(401, "unauthenticated"));
}
