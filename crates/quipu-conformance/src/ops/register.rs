//! REGISTER: section 3.1 of the catalogue, with the shapes of section 2.2 and 2.5.

use serde_json::json;

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::JsonAccess,
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_register_01_answers_registered_with_the_agent,
        "L0-1 REG-3",
        "A new agent is answered with its id, role and status."
    ),
    rule!(
        Must,
        l0_register_02_refuses_an_id_that_is_live,
        "REG-1",
        "An id in use is refused with AGENT_ID_TAKEN."
    ),
    rule!(
        Must,
        l0_register_03_rejects_when_a_required_operation_is_missing,
        "REG-2",
        "Missing operations reject the agent and are all named in the reason."
    ),
    rule!(Must, l0_register_04_a_new_agent_is_idle, "REG-4", "The status of a new agent is idle."),
    rule!(
        Must,
        l0_register_05_a_rejected_agent_is_not_registered,
        "REG-2 REG-5",
        "After a rejection the agent still cannot record."
    ),
    rule!(
        Must,
        l0_register_06_needs_id_and_role,
        "REG-1 L0-1",
        "A REGISTER without id or without role is refused."
    ),
    rule!(
        Must,
        l0_register_07_accepts_required_operations_that_exist,
        "REG-2",
        "Operations that are there do not stand in the way."
    ),
    rule!(
        Must,
        l1_register_08_returns_field_capabilities,
        "REG-3 L1-10",
        "The answer has field_capabilities with all five keys."
    ),
    rule!(
        Must,
        l1_register_09_the_claimed_level_and_the_operations_agree,
        "REG-3 L1-10",
        "A Field offers every operation of the level that it claims."
    ),
    rule!(
        Should,
        l1_register_10_keeps_the_interests,
        "REG-1",
        "The interests come back with the agent."
    ),
    rule!(
        Must,
        l1_register_11_an_id_is_free_again_after_deregister,
        "REG-1 A-09",
        "The id is unique among current agents only."
    )
    .needing(&["DEREGISTER"]),
    rule!(Must, l2_register_12_claims_level_2, "REG-3 L1-10", "A Field of Level 2 says so."),
    rule!(Must, l3_register_13_claims_level_3, "REG-3 L1-10", "A Field of Level 3 says so."),
];

/// What a Field of each level must offer.
const OPERATIONS: [&[&str]; 4] = [
    &["REGISTER", "RECORD", "ATTUNE"],
    &["DEREGISTER", "DETECT"],
    &["MERGE", "SUBSCRIBE", "REPLAY", "COMPACT", "HANDOFF"],
    &["COORDINATE", "SESSION"],
];

fn l0_register_01_answers_registered_with_the_agent(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "cartographer"}))?;
    same("status", answer.text("/status")?, "registered")?;
    same("id", answer.text("/agent/id")?, agent.id.as_str())?;
    same("role", answer.text("/agent/role")?, "cartographer")?;
    ensure(answer.is_nothing("/rejection_reason"), "a success has a rejection_reason")
}

fn l0_register_02_refuses_an_id_that_is_live(case: &mut Case) -> Checked {
    let agent = case.agent("cartographer")?;
    let again = json!({"id": agent.id, "role": "pirate"});
    let error = agent.refused("REGISTER", again, "AGENT_ID_TAKEN")?;
    same("recoverable", error.flag("/recoverable")?, true)
}

fn l0_register_03_rejects_when_a_required_operation_is_missing(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let payload = json!({"id": agent.id, "role": "seer", "required_operations": ["RECORD", "DIVINATE", "LEVITATE"]});
    let answer = agent.refused_somehow("REGISTER", payload)?;
    same("status", answer.text("/status")?, "rejected")?;
    let reason = answer.text("/rejection_reason")?;
    for missing in ["DIVINATE", "LEVITATE"] {
        ensure(reason.contains(missing), format!("the reason does not name {missing}: {reason}"))?;
    }
    ensure(!reason.contains("RECORD"), format!("the reason names what is there: {reason}"))
}

fn l0_register_04_a_new_agent_is_idle(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "r", "status": "failed"}))?;
    same("status", answer.text("/agent/status")?, "idle")?;
    ensure(answer.is_nothing("/agent/current_task_id"), "a new agent has a task")
}

fn l0_register_05_a_rejected_agent_is_not_registered(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let payload = json!({"id": agent.id, "role": "seer", "required_operations": ["DIVINATE"]});
    agent.refused_somehow("REGISTER", payload)?;
    let unit = finding(case.words("Tides were foretold"));
    agent.refused("RECORD", unit, "AGENT_NOT_REGISTERED").map(drop)
}

fn l0_register_06_needs_id_and_role(case: &mut Case) -> Checked {
    let agent = case.stranger();
    agent.refused_somehow("REGISTER", json!({"id": agent.id}))?;
    agent.refused_somehow("REGISTER", json!({"id": agent.id, "role": ""}))?;
    agent.refused_somehow("REGISTER", json!({"role": "cartographer"}))?;
    agent.refused_somehow("REGISTER", json!({"id": "", "role": "cartographer"})).map(drop)
}

fn l0_register_07_accepts_required_operations_that_exist(case: &mut Case) -> Checked {
    let needs = ["REGISTER", "RECORD", "ATTUNE"];
    case.agent_with(json!({"required_operations": needs})).map(drop)
}

fn l1_register_08_returns_field_capabilities(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "cartographer"}))?;
    let capabilities = answer.at("/field_capabilities")?;
    ensure(capabilities.integer("/conformance_level")? <= 3, "the level is above 3")?;
    same("protocol_version", capabilities.text("/protocol_version")?, "0.1.0")?;
    capabilities.texts("/supported_operations")?;
    capabilities.texts("/conflict_strategies")?;
    same("persistence", capabilities.flag("/persistence")?, true)
}

fn l1_register_09_the_claimed_level_and_the_operations_agree(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "cartographer"}))?;
    let level = answer.integer("/field_capabilities/conformance_level")?;
    ensure(level >= 1, "the Field claims level 0")?;
    let operations = answer.texts("/field_capabilities/supported_operations")?;
    let levels = OPERATIONS.iter().take(usize::try_from(level).unwrap_or(3) + 1);
    for operation in levels.flat_map(|level| level.iter()) {
        let claimed = operations.iter().any(|entry| entry == operation);
        ensure(claimed, format!("level {level} without {operation}"))?;
    }
    Ok(())
}

fn l1_register_10_keeps_the_interests(case: &mut Case) -> Checked {
    let agent = case.stranger();
    let payload = json!({"id": agent.id, "role": "cartographer", "interests": ["maps", "tides"]});
    let answer = agent.ok("REGISTER", payload)?;
    same(
        "interests",
        answer.texts("/agent/interests")?,
        vec!["maps".to_owned(), "tides".to_owned()],
    )
}

fn l1_register_11_an_id_is_free_again_after_deregister(case: &mut Case) -> Checked {
    let agent = case.agent("cartographer")?;
    agent.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "sailor"}))?;
    same("status", answer.text("/agent/status")?, "idle")?;
    agent.record(finding(case.words("The ship came back"))).map(drop)
}

fn claims(case: &mut Case, level: u64) -> Checked {
    let agent = case.stranger();
    let answer = agent.ok("REGISTER", json!({"id": agent.id, "role": "cartographer"}))?;
    let claimed = answer.integer("/field_capabilities/conformance_level")?;
    ensure(claimed >= level, format!("the Field claims level {claimed}"))
}

fn l2_register_12_claims_level_2(case: &mut Case) -> Checked {
    claims(case, 2)
}

fn l3_register_13_claims_level_3(case: &mut Case) -> Checked {
    claims(case, 3)
}
