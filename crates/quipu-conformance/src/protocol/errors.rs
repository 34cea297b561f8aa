//! Cases on errors: section 5 of the catalogue, the shape and each code that a client can provoke.
//! STORAGE_FULL, EPOCH_OVERFLOW, INTERNAL_ERROR, REPLAY_TOO_LARGE and the two warnings of RECORD
//! cannot be provoked from outside.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, without},
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_errors_01_an_error_has_its_shape,
        "ERR-1",
        "An error has code, message, operation, recoverable and suggested_action."
    ),
    rule!(
        Must,
        l0_errors_02_an_error_names_its_operation,
        "ERR-1",
        "operation is that of the message."
    ),
    rule!(
        Reading,
        l0_errors_03_statuses_are_those_of_the_table,
        "A-21",
        "400 for validation, 409 for AGENT_ID_TAKEN."
    ),
    rule!(
        Must,
        l0_errors_04_agent_not_registered_is_recoverable,
        "ERR-1",
        "AGENT_NOT_REGISTERED is recoverable in RECORD and ATTUNE."
    ),
    rule!(
        Must,
        l0_errors_05_an_operation_that_is_not_offered_is_unsupported,
        "ERR-1",
        "What is not among supported_operations answers UNSUPPORTED_OPERATION, not recoverable."
    ),
    rule!(
        Should,
        l0_errors_06_an_error_says_what_to_do,
        "ERR-1",
        "A recoverable error suggests an action."
    ),
    rule!(
        Must,
        l0_errors_07_codes_of_refusals_are_strings,
        "ERR-1 A-07",
        "Refusals that the protocol has no code for still have the shape."
    ),
    rule!(
        Reading,
        l2_errors_08_not_found_is_404,
        "A-21",
        "UNIT_NOT_FOUND and CONFLICT_NOT_FOUND have the status 404."
    )
    .needing(&["MERGE", "REPLAY"]),
    rule!(
        Reading,
        l2_errors_09_an_illegal_move_is_409,
        "A-21",
        "INVALID_TRANSITION has the status 409."
    )
    .needing(&["MERGE"]),
    rule!(
        Reading,
        l0_errors_10_a_large_number_does_no_harm,
        "ERR-1",
        "A number that no machine holds is no reason to fail."
    ),
];

fn shape(error: &Value) -> Checked {
    ensure(!error.text("/code")?.is_empty(), "code is empty")?;
    ensure(!error.text("/message")?.is_empty(), "message is empty")?;
    error.flag("/recoverable")?;
    error.has_keys("the error", &["operation", "suggested_action"])
}

fn l0_errors_01_an_error_has_its_shape(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    let bad = without(finding(case.words("Forms were lost")), "intent");
    shape(&agent.refused("RECORD", bad, "MISSING_INTENT")?)?;
    let again = json!({"id": agent.id, "role": "clerk"});
    shape(&agent.refused("REGISTER", again, "AGENT_ID_TAKEN")?)
}

fn l0_errors_02_an_error_names_its_operation(case: &mut Case) -> Checked {
    let (agent, stranger) = (case.agent("clerk")?, case.stranger());
    let bad = without(finding(case.words("Forms were lost")), "intent");
    same(
        "operation",
        agent.refused("RECORD", bad, "MISSING_INTENT")?.text("/operation")?,
        "RECORD",
    )?;
    let scope = json!({"scope": {"role": "clerk", "max_units": 1}});
    let error = stranger.refused("ATTUNE", scope, "AGENT_NOT_REGISTERED")?;
    same("operation", error.text("/operation")?, "ATTUNE")
}

fn l0_errors_03_statuses_are_those_of_the_table(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    let bad = without(finding(case.words("Forms were lost")), "intent");
    same("status of MISSING_INTENT", agent.send("RECORD", bad)?.status, 400)?;
    let again = json!({"id": agent.id, "role": "clerk"});
    same("status of AGENT_ID_TAKEN", agent.send("REGISTER", again)?.status, 409)
}

fn l0_errors_04_agent_not_registered_is_recoverable(case: &mut Case) -> Checked {
    let stranger = case.stranger();
    let unit = finding(case.words("Forms were lost"));
    let error = stranger.refused("RECORD", unit, "AGENT_NOT_REGISTERED")?;
    same("recoverable", error.flag("/recoverable")?, true)?;
    let scope = json!({"scope": {"role": "clerk", "max_units": 1}});
    let error = stranger.refused("ATTUNE", scope, "AGENT_NOT_REGISTERED")?;
    same("recoverable", error.flag("/recoverable")?, true)
}

fn l0_errors_05_an_operation_that_is_not_offered_is_unsupported(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    let all = [
        "DEREGISTER",
        "DETECT",
        "MERGE",
        "SUBSCRIBE",
        "REPLAY",
        "COMPACT",
        "COORDINATE",
        "HANDOFF",
        "SESSION",
    ];
    for operation in all.iter().filter(|operation| !case.field.supports(operation)) {
        let error = agent.refused(operation, json!({}), "UNSUPPORTED_OPERATION")?;
        same("recoverable", error.flag("/recoverable")?, false)?;
    }
    Ok(())
}

fn l0_errors_06_an_error_says_what_to_do(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    let bad = without(finding(case.words("Forms were lost")), "intent");
    let error = agent.refused("RECORD", bad, "MISSING_INTENT")?;
    ensure(!error.text("/suggested_action")?.is_empty(), "suggested_action is empty")
}

fn l0_errors_07_codes_of_refusals_are_strings(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    shape(&agent.refused_somehow("ATTUNE", json!({"scope": {"max_units": 1}}))?)?;
    shape(&agent.refused_somehow("RECORD", finding(String::new()))?)
}

fn l2_errors_08_not_found_is_404(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    let merge = json!({"conflict_id": format!("c-{}", case.token), "strategy": "last_write_wins",
        "resolution": {"rationale": "It is newer"}});
    same("status of CONFLICT_NOT_FOUND", agent.send("MERGE", merge)?.status, 404)?;
    let replay = json!({"target_type": "task", "target_id": format!("t-{}", case.token), "depth": "summary"});
    same("status of UNIT_NOT_FOUND", agent.send("REPLAY", replay)?.status, 404)
}

fn l2_errors_09_an_illegal_move_is_409(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    let again = judge.send("MERGE", dispute.merge("last_write_wins", json!({})))?;
    same("status of INVALID_TRANSITION", again.status, 409)
}

fn l0_errors_10_a_large_number_does_no_harm(case: &mut Case) -> Checked {
    let agent = case.agent("clerk")?;
    let message = agent.message("ATTUNE", json!({"scope": {"role": "clerk", "max_units": "N"}}));
    for number in ["1e999", "99999999999999999999999999", "-1e999"] {
        let text = message.to_string().replace("\"N\"", number);
        let reply = case.post_raw("/v1/attune", &text, "application/json")?;
        ensure(reply.status < 500, format!("{number} answers {}", reply.status))?;
    }
    agent.record(finding(case.words("Forms were found"))).map(drop)
}
