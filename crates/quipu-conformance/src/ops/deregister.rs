//! DEREGISTER: section 3.2 of the catalogue.

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
        l1_deregister_01_the_agent_drops_out_of_the_registry,
        "DER-1 L1-5",
        "After DEREGISTER the agent can do nothing any more."
    ),
    rule!(
        Must,
        l1_deregister_02_units_stay_and_stay_visible,
        "DER-2",
        "The units of an agent that left are still given by ATTUNE."
    ),
    rule!(
        Should,
        l3_deregister_03_flags_tasks_for_reassignment,
        "DER-3",
        "Tasks of an agent that left are counted and go back to the pool."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Must,
        l1_deregister_04_an_unknown_agent_is_not_found_not_an_error,
        "DER-4",
        "An unknown agent_id answers not_found."
    ),
    rule!(
        Must,
        l1_deregister_05_answers_with_the_clean_up,
        "DER-1",
        "The answer has status ok and counts of units and tasks."
    ),
    rule!(
        Reading,
        l1_deregister_06_a_second_time_is_not_found,
        "DER-4 A-09",
        "An agent that already left is not found."
    ),
    rule!(
        Reading,
        l1_deregister_07_an_unregistered_caller_is_refused,
        "A-09",
        "A stranger cannot deregister somebody else."
    ),
    rule!(
        Must,
        l1_deregister_08_needs_an_agent_id,
        "DER-1",
        "A DEREGISTER that names nobody is refused."
    ),
    rule!(
        Reading,
        l1_deregister_09_the_error_for_strangers_is_not_recoverable_here,
        "DER-4",
        "In DEREGISTER, AGENT_NOT_REGISTERED is marked as not recoverable."
    ),
    rule!(
        Must,
        l3_deregister_10_leaves_the_list_of_agents,
        "DER-1 HTTP-1",
        "GET /v1/agents has the agent no more, or as offline."
    ),
];

fn l1_deregister_01_the_agent_drops_out_of_the_registry(case: &mut Case) -> Checked {
    let agent = case.agent("guest")?;
    let answer = agent.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    same("status", answer.text("/status")?, "ok")?;
    agent.refused("RECORD", finding(case.words("It went home")), "AGENT_NOT_REGISTERED")?;
    let attune = json!({"scope": {"role": "guest", "max_units": 1}});
    agent.refused("ATTUNE", attune, "AGENT_NOT_REGISTERED").map(drop)
}

fn l1_deregister_02_units_stay_and_stay_visible(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("guest")?, case.agent("analyst")?);
    let unit = author.record(finding(case.words("The garden has a well")))?;
    author.ok("DEREGISTER", json!({"agent_id": author.id}))?;
    let seen = reader.sees(&unit)?;
    same("content", seen.text("/content")?, unit.content.as_str())?;
    same("author", seen.text("/source/agent_id")?, author.id.as_str())
}

fn l3_deregister_03_flags_tasks_for_reassignment(case: &mut Case) -> Checked {
    let task = case.task_in("in_progress")?;
    let other = case.agent("analyst")?;
    let answer = task.worker.ok("DEREGISTER", json!({"agent_id": task.worker.id}))?;
    same("tasks_reassigned", answer.integer("/cleanup/tasks_reassigned")?, 1)?;
    let found = other.ok("COORDINATE", json!({"action": "get", "task_id": task.id}))?;
    same("status", found.text("/task/status")?, "pending")?;
    same("needs_reassignment", found.flag("/task/needs_reassignment")?, true)?;
    ensure(found.is_nothing("/task/assigned_to"), "the task still has an owner")
}

fn l1_deregister_04_an_unknown_agent_is_not_found_not_an_error(case: &mut Case) -> Checked {
    let agent = case.agent("host")?;
    let nobody = case.fresh_id();
    let answer = agent.ok("DEREGISTER", json!({"agent_id": nobody}))?;
    same("status", answer.text("/status")?, "not_found")
}

fn l1_deregister_05_answers_with_the_clean_up(case: &mut Case) -> Checked {
    let agent = case.agent("guest")?;
    agent.record(finding(case.words("The garden has a well")))?;
    agent.record(finding(case.words("The well has a lid")))?;
    let answer = agent.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    same("units_orphaned", answer.integer("/cleanup/units_orphaned")?, 2)?;
    same("tasks_reassigned", answer.integer("/cleanup/tasks_reassigned")?, 0)
}

fn l1_deregister_06_a_second_time_is_not_found(case: &mut Case) -> Checked {
    let (agent, host) = (case.agent("guest")?, case.agent("host")?);
    host.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    let answer = host.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    same("status", answer.text("/status")?, "not_found")
}

fn l1_deregister_07_an_unregistered_caller_is_refused(case: &mut Case) -> Checked {
    let (agent, stranger) = (case.agent("guest")?, case.stranger());
    stranger.refused("DEREGISTER", json!({"agent_id": agent.id}), "AGENT_NOT_REGISTERED")?;
    agent.record(finding(case.words("The guest is still here"))).map(drop)
}

fn l1_deregister_08_needs_an_agent_id(case: &mut Case) -> Checked {
    let agent = case.agent("guest")?;
    agent.refused_somehow("DEREGISTER", json!({}))?;
    agent.record(finding(case.words("The guest is still here"))).map(drop)
}

fn l1_deregister_09_the_error_for_strangers_is_not_recoverable_here(case: &mut Case) -> Checked {
    let (agent, stranger) = (case.agent("guest")?, case.stranger());
    let payload = json!({"agent_id": agent.id});
    let error = stranger.refused("DEREGISTER", payload, "AGENT_NOT_REGISTERED")?;
    same("recoverable", error.flag("/recoverable")?, false)
}

fn l3_deregister_10_leaves_the_list_of_agents(case: &mut Case) -> Checked {
    let agent = case.agent("guest")?;
    agent.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    let body = case.get("/v1/agents")?.done("GET /v1/agents")?;
    let live = |entry: &&serde_json::Value| {
        entry["id"] == agent.id.as_str() && entry["status"] != "offline"
    };
    ensure(!body.list("/agents")?.iter().any(|entry| live(&entry)), "the agent is still listed")
}
