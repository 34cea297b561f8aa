//! Credentials: section 7.1 of the catalogue and A-20 (`Authorization: Bearer`).

use std::rc::Rc;

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::Agent,
        case::Case,
        check::{Checked, Failed, ensure, same},
        json::JsonAccess,
        target::BoundKey,
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l2_security_01_every_operation_needs_a_token,
        "SEC-1",
        "Each operation without a token is refused."
    ),
    rule!(
        Must,
        l2_security_02_a_wrong_token_is_refused,
        "SEC-1",
        "A token that was never given out is refused."
    ),
    rule!(
        Reading,
        l2_security_03_the_code_is_unauthenticated,
        "A-07 A-21",
        "A missing token answers UNAUTHENTICATED with status 401."
    ),
    rule!(
        Reading,
        l2_security_04_the_get_routes_need_a_token_too,
        "SEC-1 SEC-7",
        "The GET routes show nothing without a token."
    ),
    rule!(
        Must,
        l3_security_05_authority_is_checked_against_the_credential,
        "SEC-4 REG-6 L3-4",
        "An agent does not get more authority than its key has."
    ),
    rule!(
        Reading,
        l3_security_06_a_bound_key_speaks_for_its_agent_alone,
        "REG-6 A-20",
        "The key of one agent cannot speak for another."
    ),
    rule!(
        Must,
        l2_security_07_a_refusal_does_nothing,
        "SEC-1",
        "A RECORD without a token leaves nothing behind."
    ),
    rule!(
        Reading,
        l2_security_08_a_stream_needs_a_token,
        "SEC-1",
        "Push without a token is refused."
    )
    .needing(&["SUBSCRIBE"]),
];

/// One message of each operation that the Field offers.
fn one_of_each(case: &mut Case) -> Vec<(&'static str, Value)> {
    let all = [
        ("REGISTER", json!({"id": case.fresh_id(), "role": "spy"})),
        ("RECORD", finding(case.words("Gates were left open"))),
        ("ATTUNE", json!({"scope": {"role": "spy", "max_units": 1}})),
        ("DETECT", json!({"mode": "list"})),
        ("SUBSCRIBE", json!({"action": "list"})),
        ("HANDOFF", json!({"action": "list"})),
        ("COORDINATE", json!({"action": "list"})),
        ("SESSION", json!({"action": "list"})),
        ("REPLAY", json!({"target_type": "task", "target_id": "t", "depth": "summary"})),
        (
            "MERGE",
            json!({"conflict_id": "c", "strategy": "vote", "resolution": {"rationale": "r"}}),
        ),
        ("COMPACT", json!({"strategy": "archive", "filter": {"session_id": case.token}})),
        ("DEREGISTER", json!({"agent_id": case.fresh_id()})),
    ];
    all.into_iter().filter(|(operation, _)| case.field.supports(operation)).collect()
}

/// The refusal must be about the credential and not about the operation: the token is checked first.
fn turned_away(agent: &Agent, operation: &str, payload: Value) -> Checked {
    let body = agent.refused_somehow(operation, payload)?;
    let code = body.get("code").and_then(Value::as_str).unwrap_or_default();
    let late = ["AGENT_NOT_REGISTERED", "UNIT_NOT_FOUND", "CONFLICT_NOT_FOUND"].contains(&code);
    ensure(!late, format!("{operation} without a valid token answers {code}"))
}

fn l2_security_01_every_operation_needs_a_token(case: &mut Case) -> Checked {
    let agent = case.agent("guard")?.keyed(None);
    for (operation, payload) in one_of_each(case) {
        turned_away(&agent, operation, payload)?;
    }
    Ok(())
}

fn l2_security_02_a_wrong_token_is_refused(case: &mut Case) -> Checked {
    let agent = case.agent("guard")?.keyed(Some("not-a-key-of-this-field"));
    for (operation, payload) in one_of_each(case) {
        turned_away(&agent, operation, payload)?;
    }
    Ok(())
}

fn l2_security_03_the_code_is_unauthenticated(case: &mut Case) -> Checked {
    let agent = case.agent("guard")?.keyed(None);
    let reply = agent.send("RECORD", finding(case.words("Gates were left open")))?;
    same("code", reply.body.text("/code")?, "UNAUTHENTICATED")?;
    same("status", reply.status, 401)
}

fn l2_security_04_the_get_routes_need_a_token_too(case: &mut Case) -> Checked {
    for route in ["/v1/agents", "/v1/conflicts"] {
        let reply = case.field.client.get(route, None);
        let reply = reply.map_err(|error| Failed::Wrong(format!("GET {route}: {error}")))?;
        ensure(
            reply.status == 401,
            format!("GET {route} without a token answers {}", reply.status),
        )?;
    }
    Ok(())
}

/// Registers the agent of the bound key with these declarations, and returns the answer too.
fn bound(case: &mut Case, declares: Value) -> Checked<(BoundKey, Agent, Value)> {
    let Some(key) = case.field.bound.clone() else {
        return Err(Failed::Untried("no key of a single agent was given".to_owned()));
    };
    let keeper = case.agent("keeper")?;
    keeper.ok("DEREGISTER", json!({"agent_id": key.agent}))?;
    let agent = Agent::new(Rc::clone(&case.field), key.agent.clone(), Some(key.key.clone()));
    let reply = agent.send("REGISTER", declares)?;
    Ok((key, agent, reply.body))
}

fn l3_security_05_authority_is_checked_against_the_credential(case: &mut Case) -> Checked {
    let id = case.field.bound.as_ref().map(|key| key.agent.clone());
    let claim = json!({"id": id, "role": "upstart", "authority_level": 10});
    let (key, agent, answer) = bound(case, claim)?;
    // The Field may refuse the claim, or reduce it to the authority of the key.
    if answer.get("status") == Some(&json!("registered")) {
        let payload = json!({"strategy": "purge",
            "filter": {"max_age_epochs": 4_000_000_000_000_u64, "types": ["human_directive"]}});
        agent.refused_somehow("COMPACT", payload)?;
        let given = answer.get("agent").and_then(|agent| agent.get("authority_level"));
        let within =
            given.and_then(Value::as_u64).is_none_or(|level| level <= u64::from(key.authority));
        ensure(within, format!("the agent was given authority {given:?}"))?;
    }
    Ok(())
}

fn l3_security_06_a_bound_key_speaks_for_its_agent_alone(case: &mut Case) -> Checked {
    let id = case.field.bound.as_ref().map(|key| key.agent.clone());
    let (key, _, _) = bound(case, json!({"id": id, "role": "upstart"}))?;
    let other = case.agent("guard")?;
    let disguised = other.keyed(Some(&key.key));
    disguised.refused_somehow("RECORD", finding(case.words("Gates were left open")))?;
    let newcomer = case.stranger().keyed(Some(&key.key));
    let payload = json!({"id": newcomer.id, "role": "spy"});
    newcomer.refused_somehow("REGISTER", payload).map(drop)
}

fn l2_security_07_a_refusal_does_nothing(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("guard")?, case.agent("analyst")?);
    let since = reader.attune(json!({"max_units": 1}))?.integer("/epoch")?;
    let content = case.words("Gates were left open");
    agent.keyed(None).refused_somehow("RECORD", finding(content.clone()))?;
    let answer = reader.attune_since(since, json!({}))?;
    let kept =
        answer.list("/record")?.iter().filter(|i| i["memory_unit"]["content"] == content.as_str());
    same("units of that text", kept.count(), 0)
}

fn l2_security_08_a_stream_needs_a_token(case: &mut Case) -> Checked {
    let agent = case.agent("guard")?;
    let push = agent.subscribe(&["memory.recorded"])?;
    // A link may carry a secret of its own; without that, a stream needs the token.
    let bare = push.link.split('?').next().unwrap_or_default();
    let opened = case.field.client.stream(bare, None, None);
    ensure(opened.is_err(), "the stream opens without a token")
}
