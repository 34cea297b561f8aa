//! COORDINATE, tasks and what they do to agents: section 8.2 of the catalogue.

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::Agent,
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l3_coordinate_01_a_task_lives_from_creation_to_completion,
        "COO-2 COO-3 L3-1 L3-2",
        "A task is created, claimed, started and completed."
    ),
    rule!(
        Reading,
        l3_coordinate_02_a_task_has_its_shape,
        "COO-5",
        "A task has all keys of the contract."
    ),
    rule!(
        Reading,
        l3_coordinate_03_an_assignee_makes_it_assigned,
        "COO-5",
        "Created with an assignee, a task is assigned."
    ),
    rule!(
        Reading,
        l3_coordinate_04_a_task_needs_an_intent,
        "COO-5",
        "A task without intent.purpose is refused."
    ),
    rule!(
        Reading,
        l3_coordinate_05_waits_for_its_dependencies,
        "COO-5",
        "A task starts only when what it depends on is completed."
    ),
    rule!(
        Reading,
        l3_coordinate_06_refuses_a_cycle,
        "COO-5",
        "A task cannot depend on itself or on what does not exist."
    ),
    rule!(
        Reading,
        l3_coordinate_07_starting_makes_the_agent_work,
        "SM-3",
        "start sets the agent working, with current_task_id."
    ),
    rule!(
        Reading,
        l3_coordinate_08_blocking_makes_the_agent_wait,
        "SM-3",
        "block sets the agent waiting, unblock working again."
    ),
    rule!(
        Reading,
        l3_coordinate_09_completing_makes_the_agent_idle,
        "SM-3",
        "complete, fail and release set the agent idle, without a task."
    ),
    rule!(
        Reading,
        l3_coordinate_10_an_unknown_task_is_not_found,
        "COO-7",
        "An unknown task answers UNIT_NOT_FOUND, not recoverable."
    ),
    rule!(
        Reading,
        l3_coordinate_11_lists_tasks,
        "COO-5",
        "list has the task, and its filter by status holds."
    ),
    rule!(
        Reading,
        l3_coordinate_12_only_the_owner_moves_a_task,
        "COO-5 SEC-5",
        "Another standard agent cannot start or complete it."
    ),
    rule!(
        Reading,
        l3_coordinate_13_nobody_claims_a_claimed_task,
        "COO-7",
        "A second claim answers INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_coordinate_14_blocking_and_failing_need_a_reason,
        "COO-5",
        "block keeps its reason, and a missing one is refused."
    ),
    rule!(
        Reading,
        l3_coordinate_15_refuses_bad_requests,
        "COO-2",
        "Unknown actions and missing task ids are refused."
    ),
    rule!(
        Reading,
        l3_coordinate_16_an_unknown_assignee_is_refused,
        "COO-5",
        "A task cannot be assigned to nobody."
    ),
    rule!(Must, l3_coordinate_17_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
    rule!(
        Reading,
        l3_coordinate_18_the_epochs_are_kept,
        "COO-5",
        "epoch_created stays, epoch_updated grows."
    ),
];

/// The agent as GET /v1/agents returns it.
fn agent_now(case: &Case, agent: &Agent) -> Checked<Value> {
    let body = case.get("/v1/agents")?.done("GET /v1/agents")?;
    let found = body.list("/agents")?.iter().find(|entry| entry["id"] == agent.id.as_str());
    Ok(found.cloned().unwrap_or_default())
}

fn l3_coordinate_01_a_task_lives_from_creation_to_completion(case: &mut Case) -> Checked {
    case.task_in("completed").map(drop)
}

fn l3_coordinate_02_a_task_has_its_shape(case: &mut Case) -> Checked {
    let task = case.task()?;
    let got = task.get()?;
    let keys = [
        "id",
        "session_id",
        "title",
        "intent",
        "status",
        "created_by",
        "assigned_to",
        "depends_on",
        "needs_reassignment",
        "result_unit_ids",
        "epoch_created",
        "epoch_updated",
    ];
    got.has_keys("the task", &keys)?;
    same("created_by", got.text("/created_by")?, task.worker.id.as_str())?;
    same("purpose", got.text("/intent/purpose")?, "Test the life of a task")?;
    same("needs_reassignment", got.flag("/needs_reassignment")?, false)
}

fn l3_coordinate_03_an_assignee_makes_it_assigned(case: &mut Case) -> Checked {
    let (boss, worker) = (case.agent("boss")?, case.agent("worker")?);
    let payload = with(case.new_task(json!({})), json!({"assignee": worker.id}));
    let answer = boss.ok("COORDINATE", payload)?;
    same("status", answer.text("/task/status")?, "assigned")?;
    same("assigned_to", answer.text("/task/assigned_to")?, worker.id.as_str())
}

fn l3_coordinate_04_a_task_needs_an_intent(case: &mut Case) -> Checked {
    let boss = case.agent("boss")?;
    for intent in [json!(null), json!({}), json!({"purpose": ""})] {
        boss.refused_somehow("COORDINATE", case.new_task(json!({"intent": intent})))?;
    }
    Ok(())
}

fn l3_coordinate_05_waits_for_its_dependencies(case: &mut Case) -> Checked {
    let first = case.task()?;
    let worker = case.agent("worker")?;
    let answer = worker.ok("COORDINATE", case.new_task(json!({"depends_on": [first.id]})))?;
    let second = crate::actors::task::Task { id: answer.text("/task/id")?.to_owned(), worker };
    second.go("claim")?;
    second.worker.refused("COORDINATE", second.payload("start"), "INVALID_TRANSITION")?;
    for action in ["claim", "start", "complete"] {
        first.go(action)?;
    }
    same("status", second.go("start")?.text("/status")?, "in_progress")
}

fn l3_coordinate_06_refuses_a_cycle(case: &mut Case) -> Checked {
    let boss = case.agent("boss")?;
    let own = format!("task-{}", case.token);
    let circle = case.new_task(json!({"id": own, "depends_on": [own]}));
    boss.refused_somehow("COORDINATE", circle)?;
    let nowhere = case.new_task(json!({"depends_on": [format!("task-{}-none", case.token)]}));
    boss.refused_somehow("COORDINATE", nowhere).map(drop)
}

fn l3_coordinate_07_starting_makes_the_agent_work(case: &mut Case) -> Checked {
    let task = case.task_in("in_progress")?;
    let agent = agent_now(case, &task.worker)?;
    same("status", agent.text("/status")?, "working")?;
    same("current_task_id", agent.text("/current_task_id")?, task.id.as_str())
}

fn l3_coordinate_08_blocking_makes_the_agent_wait(case: &mut Case) -> Checked {
    let task = case.task_in("blocked")?;
    same("status", agent_now(case, &task.worker)?.text("/status")?, "waiting")?;
    task.go("unblock")?;
    same("status", agent_now(case, &task.worker)?.text("/status")?, "working")
}

fn l3_coordinate_09_completing_makes_the_agent_idle(case: &mut Case) -> Checked {
    for action in ["complete", "fail", "release"] {
        let task = case.task_in("in_progress")?;
        task.go(action)?;
        let agent = agent_now(case, &task.worker)?;
        same(&format!("status after {action}"), agent.text("/status")?, "idle")?;
        ensure(agent.is_nothing("/current_task_id"), format!("a task after {action}"))?;
    }
    Ok(())
}

fn l3_coordinate_10_an_unknown_task_is_not_found(case: &mut Case) -> Checked {
    let agent = case.agent("worker")?;
    for action in ["get", "claim", "start", "cancel"] {
        let payload =
            json!({"action": action, "task_id": format!("task-{}", case.token), "reason": "r"});
        let error = agent.refused("COORDINATE", payload, "UNIT_NOT_FOUND")?;
        same("recoverable", error.flag("/recoverable")?, false)?;
    }
    Ok(())
}

fn l3_coordinate_11_lists_tasks(case: &mut Case) -> Checked {
    let task = case.task()?;
    let listed = |filter: Value| {
        let answer = task.worker.ok("COORDINATE", json!({"action": "list", "filter": filter}))?;
        Ok(answer.list("/tasks")?.iter().any(|entry| entry["id"] == task.id.as_str()))
    };
    ensure(listed(json!({}))?, "the task is not listed")?;
    ensure(listed(json!({"status": ["pending"]}))?, "the task is not among the pending")?;
    ensure(!listed(json!({"status": ["completed"]}))?, "the task is among the completed")
}

fn l3_coordinate_12_only_the_owner_moves_a_task(case: &mut Case) -> Checked {
    let task = case.task_in("assigned")?;
    let other = case.agent_of(4)?;
    other.refused_somehow("COORDINATE", task.payload("start"))?;
    task.go("start")?;
    other.refused_somehow("COORDINATE", task.payload("complete"))?;
    same("status", task.get()?.text("/status")?, "in_progress")
}

fn l3_coordinate_13_nobody_claims_a_claimed_task(case: &mut Case) -> Checked {
    let task = case.task_in("assigned")?;
    let other = case.agent("worker")?;
    other.refused("COORDINATE", task.payload("claim"), "INVALID_TRANSITION")?;
    same("assigned_to", task.get()?.text("/assigned_to")?, task.worker.id.as_str())
}

fn l3_coordinate_14_blocking_and_failing_need_a_reason(case: &mut Case) -> Checked {
    let task = case.task_in("in_progress")?;
    for action in ["block", "fail"] {
        let payload = crate::actors::json::without(task.payload(action), "reason");
        task.worker.refused_somehow("COORDINATE", payload)?;
    }
    same("blocked_reason", task.go("block")?.text("/blocked_reason")?, "It had to be")
}

fn l3_coordinate_15_refuses_bad_requests(case: &mut Case) -> Checked {
    let agent = case.agent("worker")?;
    agent.refused_somehow("COORDINATE", json!({}))?;
    agent.refused_somehow("COORDINATE", json!({"action": "ponder"}))?;
    agent.refused_somehow("COORDINATE", json!({"action": "claim"}))?;
    agent.refused_somehow("COORDINATE", json!({"action": "create"})).map(drop)
}

fn l3_coordinate_16_an_unknown_assignee_is_refused(case: &mut Case) -> Checked {
    let task = case.task()?;
    let payload = with(task.payload("assign"), json!({"assignee": case.fresh_id()}));
    task.worker.refused_somehow("COORDINATE", payload).map(drop)
}

fn l3_coordinate_17_refuses_a_stranger(case: &mut Case) -> Checked {
    let stranger = case.stranger();
    let payload = case.new_task(json!({}));
    stranger.refused("COORDINATE", payload, "AGENT_NOT_REGISTERED").map(drop)
}

fn l3_coordinate_18_the_epochs_are_kept(case: &mut Case) -> Checked {
    let task = case.task()?;
    let before = task.get()?;
    let after = task.go("claim")?;
    same("epoch_created", after.integer("/epoch_created")?, before.integer("/epoch_created")?)?;
    let (old, new) = (before.integer("/epoch_updated")?, after.integer("/epoch_updated")?);
    ensure(new > old, format!("epoch_updated went from {old} to {new}"))
}
