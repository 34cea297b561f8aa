//! Cases on the envelope and the HTTP binding: sections 1.1 and 1.3 of the catalogue.

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::route,
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with, without},
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_envelope_01_takes_a_whole_envelope,
        "ENV-1 L0-11",
        "A message in the full envelope is accepted."
    ),
    rule!(
        Must,
        l0_envelope_02_refuses_another_protocol,
        "ENV-2",
        "A protocol other than akashik is refused."
    ),
    rule!(
        Must,
        l0_envelope_03_refuses_another_version,
        "ENV-3",
        "A version that the Field does not support is refused."
    ),
    rule!(
        Must,
        l0_envelope_04_refuses_a_missing_key,
        "ENV-4",
        "Each of the eight keys is required."
    ),
    rule!(
        Must,
        l0_envelope_05_refuses_an_unknown_key,
        "ENV-4",
        "Unknown top-level keys are invalid."
    ),
    rule!(
        Must,
        l0_envelope_06_refuses_keys_of_the_wrong_kind,
        "ENV-4",
        "Ids are non-empty strings, the session is a string or null, the payload an object."
    ),
    rule!(
        Must,
        l0_envelope_07_refuses_an_epoch_that_is_not_a_natural_number,
        "ENV-5",
        "The epoch is an integer of at least 0."
    ),
    rule!(
        Must,
        l0_envelope_08_refuses_an_unknown_operation,
        "ENV-6",
        "The operation is one of the twelve."
    ),
    rule!(
        Must,
        l0_envelope_09_refuses_an_unregistered_agent,
        "ENV-7 REG-5",
        "Every operation but REGISTER needs a registered agent."
    ),
    rule!(
        Reading,
        l0_envelope_10_refuses_an_operation_on_the_wrong_route,
        "A-04",
        "The operation must be that of the route."
    ),
    rule!(
        Reading,
        l0_envelope_11_answers_a_repeated_message_with_the_same_answer,
        "ENV-8 A-05",
        "A message that is sent twice is carried out once."
    ),
    rule!(
        Reading,
        l0_envelope_12_refuses_an_id_that_was_used_for_another_message,
        "ENV-8 A-05",
        "The same id with another body is an error."
    ),
    rule!(
        Must,
        l0_envelope_13_session_may_be_null,
        "ENV-9",
        "A null session is no session, and the unit has none either."
    ),
    rule!(
        Must,
        l0_http_01_answers_in_json,
        "HTTP-2",
        "Answers and errors are declared as application/json."
    ),
    rule!(
        Must,
        l0_http_02_refuses_a_body_that_is_not_json,
        "HTTP-2",
        "A body that is not JSON is refused without harm."
    ),
    rule!(
        Should,
        l0_http_03_refuses_a_body_declared_as_something_else,
        "HTTP-2",
        "A body declared as plain text is refused."
    ),
    rule!(
        Must,
        l3_http_04_gives_an_overview_of_the_field,
        "HTTP-1",
        "GET /v1/field/status answers with an object."
    ),
    rule!(
        Must,
        l3_http_05_lists_registered_agents,
        "HTTP-1",
        "GET /v1/agents has an agent that registered, with its role and status."
    ),
    rule!(
        Must,
        l3_http_06_lists_active_conflicts,
        "HTTP-1",
        "GET /v1/conflicts has a conflict that is not resolved."
    ),
];

/// Sends a RECORD with a changed envelope, which must be refused.
fn refuses(case: &mut Case, change: impl Fn(Value) -> Value) -> Checked<Value> {
    let agent = case.agent("envelope_tester")?;
    let message = change(agent.message("RECORD", finding(case.words("Bridges were inspected"))));
    let reply = agent.deliver("/v1/record", &message)?;
    ensure(reply.status < 500, format!("{message} is answered with {}", reply.status))?;
    reply.is_refused("RECORD").map(|()| reply.body)
}

fn l0_envelope_01_takes_a_whole_envelope(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    agent.record(finding(case.words("Bridges were inspected"))).map(drop)
}

fn l0_envelope_02_refuses_another_protocol(case: &mut Case) -> Checked {
    refuses(case, |message| with(message, json!({"protocol": "akashic"}))).map(drop)
}

fn l0_envelope_03_refuses_another_version(case: &mut Case) -> Checked {
    refuses(case, |message| with(message, json!({"version": "9.9.9"})))?;
    refuses(case, |message| with(message, json!({"version": ""}))).map(drop)
}

fn l0_envelope_04_refuses_a_missing_key(case: &mut Case) -> Checked {
    let keys =
        ["protocol", "version", "id", "operation", "agent_id", "session_id", "epoch", "payload"];
    for key in keys {
        refuses(case, |message| without(message, key))?;
    }
    Ok(())
}

fn l0_envelope_05_refuses_an_unknown_key(case: &mut Case) -> Checked {
    refuses(case, |message| with(message, json!({"token": "abc"}))).map(drop)
}

fn l0_envelope_06_refuses_keys_of_the_wrong_kind(case: &mut Case) -> Checked {
    let changes = [
        json!({"id": ""}),
        json!({"id": 7}),
        json!({"agent_id": ""}),
        json!({"agent_id": null}),
        json!({"session_id": 7}),
        json!({"payload": []}),
        json!({"payload": "text"}),
    ];
    for change in changes {
        refuses(case, |message| with(message, change.clone()))?;
    }
    Ok(())
}

fn l0_envelope_07_refuses_an_epoch_that_is_not_a_natural_number(case: &mut Case) -> Checked {
    for epoch in [json!(-1), json!(1.5), json!("1"), json!(null)] {
        refuses(case, |message| with(message, json!({"epoch": epoch.clone()})))?;
    }
    Ok(())
}

fn l0_envelope_08_refuses_an_unknown_operation(case: &mut Case) -> Checked {
    refuses(case, |message| with(message, json!({"operation": "FORGET"})))?;
    refuses(case, |message| with(message, json!({"operation": "record"}))).map(drop)
}

fn l0_envelope_09_refuses_an_unregistered_agent(case: &mut Case) -> Checked {
    let stranger = case.stranger();
    let unit = finding(case.words("Strangers say so"));
    stranger.refused("RECORD", unit, "AGENT_NOT_REGISTERED")?;
    let scope = json!({"scope": {"role": "analyst", "max_units": 1}});
    stranger.refused("ATTUNE", scope, "AGENT_NOT_REGISTERED").map(drop)
}

fn l0_envelope_10_refuses_an_operation_on_the_wrong_route(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    let message = agent.message("RECORD", finding(case.words("Bridges were inspected")));
    agent.deliver(&route("ATTUNE"), &message)?.is_refused("RECORD on /v1/attune")
}

fn l0_envelope_11_answers_a_repeated_message_with_the_same_answer(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    let reader = case.agent("analyst")?;
    let content = case.words("Bridges were inspected");
    let message = agent.message("RECORD", finding(content.clone()));
    let first = agent.deliver("/v1/record", &message)?.done("RECORD")?;
    let second = agent.deliver("/v1/record", &message)?.done("the repeated RECORD")?;
    same("memory_unit_id", second.text("/memory_unit_id")?, first.text("/memory_unit_id")?)?;
    let seen = reader.attune_since(first.integer("/epoch")?, json!({}))?;
    let same_text = |item: &&Value| item["memory_unit"]["content"] == content.as_str();
    same("units of that text", seen.list("/record")?.iter().filter(same_text).count(), 1)
}

fn l0_envelope_12_refuses_an_id_that_was_used_for_another_message(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    let message = agent.message("RECORD", finding(case.words("Bridges were inspected")));
    agent.deliver("/v1/record", &message)?.done("RECORD")?;
    let other = with(message, json!({"payload": finding(case.words("Tunnels were dug"))}));
    agent.deliver("/v1/record", &other)?.is_refused("RECORD with a used id")
}

fn l0_envelope_13_session_may_be_null(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("envelope_tester")?, case.agent("analyst")?);
    let unit = author.record(finding(case.words("Bridges were inspected")))?;
    let seen = reader.sees(&unit)?;
    ensure(seen.is_nothing("/source/session_id"), format!("the unit has a session: {seen}"))
}

fn l0_http_01_answers_in_json(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    for payload in [finding(case.words("Bridges were inspected")), json!({})] {
        let reply = agent.send("RECORD", payload)?;
        let kind = reply.content_type.split(';').next().unwrap_or_default().trim().to_owned();
        same("content-type", kind.as_str(), "application/json")?;
    }
    Ok(())
}

fn l0_http_02_refuses_a_body_that_is_not_json(case: &mut Case) -> Checked {
    for body in ["", "{", "[]", "null", "{\"protocol\":\"akashik\""] {
        let reply = case.post_raw("/v1/record", body, "application/json")?;
        ensure((400..500).contains(&reply.status), format!("{body:?} answers {}", reply.status))?;
    }
    case.agent("envelope_tester").map(drop)
}

fn l0_http_03_refuses_a_body_declared_as_something_else(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    let message = agent.message("RECORD", finding(case.words("Bridges were inspected")));
    let reply = case.post_raw("/v1/record", &message.to_string(), "text/plain")?;
    reply.is_refused("RECORD as text/plain")
}

fn l3_http_04_gives_an_overview_of_the_field(case: &mut Case) -> Checked {
    case.get("/v1/field/status")?.done("GET /v1/field/status").map(drop)
}

fn l3_http_05_lists_registered_agents(case: &mut Case) -> Checked {
    let agent = case.agent("envelope_tester")?;
    let body = case.get("/v1/agents")?.done("GET /v1/agents")?;
    let found = body.list("/agents")?.iter().find(|entry| entry["id"] == agent.id.as_str());
    let found = found.cloned().unwrap_or_default();
    same("role", found.text("/role")?, "envelope_tester")?;
    same("status", found.text("/status")?, "idle")
}

fn l3_http_06_lists_active_conflicts(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let body = case.get("/v1/conflicts")?.done("GET /v1/conflicts")?;
    let found = body.list("/conflicts")?.iter().any(|entry| entry["id"] == dispute.id.as_str());
    ensure(found, "the conflict is not in the list")
}
