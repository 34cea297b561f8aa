//! Who speaks, and how it comes to be registered.

use quipu_mcp::HandlerOptions;
use quipu_wire::akashik::Operation;
use serde_json::json;

use crate::support::{BOTH, Generation, TinyField, connect, connect_with, finding, text};

fn named(name: &str) -> String {
    name.to_owned()
}

#[tokio::test]
async fn a_host_that_knows_nothing_is_registered_under_its_own_name_when_it_first_speaks() {
    for generation in BOTH {
        let field = TinyField::default();
        let connected = connect(&field, generation).await;
        connected.call("akashik_record", finding()).await;
        connected.call("akashik_record", finding()).await;
        let host = named("test-host");
        let expected = [
            (Operation::Record, host.clone()),
            (Operation::Register, host.clone()),
            (Operation::Record, host.clone()),
            (Operation::Record, host),
        ];
        assert_eq!(field.operations(), expected);
    }
}

#[tokio::test]
async fn a_memory_that_forgot_the_host_is_told_again() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::WithSessions).await;
    connected.call("akashik_record", finding()).await;
    field.state().registered.clear();
    let result = connected.call("akashik_record", finding()).await;
    assert_eq!(result.is_error, Some(false));
    assert!(field.state().registered.contains("test-host"));
}

#[tokio::test]
async fn two_processes_of_one_host_are_the_same_agent() {
    let field = TinyField::default();
    let first = connect(&field, Generation::WithSessions).await;
    let second = connect(&field, Generation::Stateless).await;
    for connected in [first, second] {
        assert_eq!(connected.call("akashik_record", finding()).await.is_error, Some(false));
    }
    assert_eq!(field.state().registered.len(), 1);
}

#[tokio::test]
async fn the_configured_agent_goes_before_the_keys_own_and_that_before_the_clients_name() {
    let field = TinyField::default();
    field.state().bound = Some(named("of-the-key"));
    let options =
        HandlerOptions { agent: Some(named("configured")), role: Some(named("engineer")) };
    let configured = connect_with(&field, Generation::WithSessions, options).await;
    configured.call("akashik_record", finding()).await;
    let bound = connect(&field, Generation::WithSessions).await;
    bound.call("akashik_record", finding()).await;
    let agents: Vec<_> = field.state().registered.iter().cloned().collect();
    assert_eq!(agents, ["configured", "of-the-key"]);
    let state = field.state();
    let roles = state.calls.iter().filter_map(|call| match &call.verb {
        quipu_mcp::Verb::Operate(Operation::Register, payload) => payload["role"].as_str(),
        quipu_mcp::Verb::Operate(..) | quipu_mcp::Verb::Read(_) => None,
    });
    assert_eq!(roles.collect::<Vec<_>>(), ["engineer", "agent"]);
}

#[tokio::test]
async fn an_agent_that_is_named_has_to_register_itself() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::WithSessions).await;
    let mut arguments = finding();
    arguments["agent_id"] = json!("ada");
    let result = connected.call("akashik_record", arguments.clone()).await;
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).starts_with("AGENT_NOT_REGISTERED"), "{}", text(&result));
    assert!(text(&result).contains("akashik_register"), "{}", text(&result));
    let registered = connected.call("akashik_register", json!({"id": "ada", "role": "r"})).await;
    assert!(text(&registered).contains("\"agent_id\": \"ada\""), "{}", text(&registered));
    assert_eq!(connected.call("akashik_record", arguments).await.is_error, Some(false));
    let spoke: Vec<_> = field.operations().into_iter().map(|(_, agent)| agent).collect();
    assert_eq!(spoke, ["ada", "ada", "ada"]);
}

#[tokio::test]
async fn a_host_is_given_what_it_recorded_itself_and_a_named_agent_is_not() {
    let field = TinyField::default();
    field.state().registered.insert(named("ada"));
    let connected = connect(&field, Generation::Stateless).await;
    let scope = json!({"role": "r", "max_units": 3});
    connected.call("akashik_attune", json!({"scope": scope})).await;
    assert_eq!(field.last_payload()["scope"]["include_own"], true);
    connected.call("akashik_attune", json!({"scope": scope, "agent_id": "ada"})).await;
    assert_eq!(field.last_payload()["scope"].get("include_own"), None);
    let without = json!({"role": "r", "max_units": 3, "include_own": false});
    connected.call("akashik_attune", json!({"scope": without})).await;
    assert_eq!(field.last_payload()["scope"]["include_own"], false);
}

#[tokio::test]
async fn who_leaves_speaks_for_itself_unless_the_key_is_anothers() {
    let field = TinyField::default();
    field.state().registered.extend([named("ada"), named("of-the-key")]);
    let connected = connect(&field, Generation::WithSessions).await;
    connected.call("akashik_deregister", json!({"agent_id": "ada"})).await;
    assert_eq!(field.operations().last().unwrap(), &(Operation::Deregister, named("ada")));
    field.state().bound = Some(named("of-the-key"));
    connected.call("akashik_deregister", json!({"agent_id": "ada"})).await;
    assert_eq!(field.operations().last().unwrap(), &(Operation::Deregister, named("of-the-key")));
    assert_eq!(field.last_payload(), json!({"agent_id": "ada"}));
}
