//! Each kind of event that a client can cause (section 3.7). `agent.failed` needs a timeout of the server and is not
//! tested.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, same},
        json::JsonAccess,
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(Must, l2_event_01_memory_recorded, "SUB-1", "A new unit is announced."),
    rule!(
        Must,
        l2_event_02_memory_superseded,
        "SUB-1 MRG-3",
        "A unit that was replaced is announced."
    )
    .needing(&["MERGE"]),
    rule!(
        Reading,
        l2_event_03_memory_contested,
        "SUB-1 A-13",
        "Units of a new conflict are announced as contested."
    ),
    rule!(Must, l2_event_04_conflict_detected, "SUB-1", "A new conflict is announced."),
    rule!(Must, l2_event_05_conflict_resolved, "SUB-1 MRG-5", "A resolution is announced.")
        .needing(&["MERGE"]),
    rule!(Must, l2_event_06_agent_joined, "SUB-1", "A new agent is announced."),
    rule!(
        Reading,
        l2_event_07_handoff_incoming,
        "COO-6",
        "An offer is announced to its receiver and requires action."
    )
    .needing(&["HANDOFF"]),
    rule!(Must, l3_event_08_task_state_changed, "COO-6", "Every move of a task is announced.")
        .needing(&["COORDINATE"]),
    rule!(Must, l3_event_09_task_assigned, "COO-6", "An assignment is announced to the assignee.")
        .needing(&["COORDINATE"]),
    rule!(Must, l3_event_10_task_completed, "COO-6", "A completion is announced.")
        .needing(&["COORDINATE"]),
    rule!(Must, l3_event_11_session_paused, "COO-6", "A pause is announced to members.")
        .needing(&["SESSION"]),
    rule!(
        Must,
        l3_event_12_session_ended,
        "COO-6",
        "The end of a session is announced to members."
    )
    .needing(&["SESSION"]),
];

fn l2_event_01_memory_recorded(case: &mut Case) -> Checked {
    let mut push = case.agent("analyst")?.subscribe(&["memory.recorded"])?;
    let unit = case.agent("scribe")?.record(finding(case.words("Bells rang")))?;
    push.until_unit("memory.recorded", &unit.id).map(drop)
}

fn l2_event_02_memory_superseded(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let mut push = case.agent("analyst")?.subscribe(&["memory.superseded"])?;
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    push.until_unit("memory.superseded", &dispute.older.id).map(drop)
}

fn l2_event_03_memory_contested(case: &mut Case) -> Checked {
    let mut push = case.agent("analyst")?.subscribe(&["memory.contested"])?;
    let dispute = case.dispute()?;
    push.until_unit("memory.contested", &dispute.older.id).map(drop)
}

fn l2_event_04_conflict_detected(case: &mut Case) -> Checked {
    let mut push = case.agent("analyst")?.subscribe(&["conflict.detected"])?;
    let dispute = case.dispute()?;
    let got = push.until(|got| got["conflict_id"] == dispute.id.as_str())?;
    same("event", got.text("/event")?, "conflict.detected")?;
    same("epoch", got.integer("/epoch")?, dispute.newer.epoch)
}

fn l2_event_05_conflict_resolved(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute()?, case.agent("judge")?);
    let mut push = case.agent("analyst")?.subscribe(&["conflict.resolved"])?;
    judge.ok("MERGE", dispute.merge("last_write_wins", json!({})))?;
    push.until(|got| got["conflict_id"] == dispute.id.as_str()).map(drop)
}

fn l2_event_06_agent_joined(case: &mut Case) -> Checked {
    let mut push = case.agent("analyst")?.subscribe(&["agent.joined"])?;
    let newcomer = case.agent("newcomer")?;
    let named =
        |got: &Value| got["summary"].as_str().is_some_and(|text| text.contains(&newcomer.id));
    push.until(|got| got["event"] == "agent.joined" && named(got)).map(drop)
}

fn l2_event_07_handoff_incoming(case: &mut Case) -> Checked {
    let (giver, taker) = (case.agent("worker")?, case.agent("worker")?);
    let mut push = taker.subscribe(&["handoff.incoming"])?;
    let offer = json!({
        "action": "offer", "task_id": format!("task-{}", case.token), "to_agent": taker.id,
        "reason": "My shift ends", "context": {"summary": "Half of it is done"},
    });
    giver.ok("HANDOFF", offer)?;
    let got = push.until_event("handoff.incoming")?;
    same("requires_action", got.flag("/requires_action")?, true)
}

fn l3_event_08_task_state_changed(case: &mut Case) -> Checked {
    let task = case.task()?;
    let mut push = case.agent("watcher")?.subscribe(&["task.state_changed"])?;
    for action in ["claim", "start", "block", "unblock", "complete"] {
        task.go(action)?;
        push.until_event("task.state_changed")?;
    }
    Ok(())
}

fn l3_event_09_task_assigned(case: &mut Case) -> Checked {
    let task = case.task()?;
    let helper = case.agent("worker")?;
    let mut push = helper.subscribe(&["task.assigned"])?;
    let assign = json!({"action": "assign", "task_id": task.id, "assignee": helper.id});
    task.worker.ok("COORDINATE", assign)?;
    push.until_event("task.assigned").map(drop)
}

fn l3_event_10_task_completed(case: &mut Case) -> Checked {
    let task = case.task_in("in_progress")?;
    let mut push = case.agent("watcher")?.subscribe(&["task.completed"])?;
    task.go("complete")?;
    push.until_event("task.completed").map(drop)
}

/// Waits, as a member, for the event of an action on the session.
fn session_event(case: &mut Case, action: &str, event: &str) -> Checked {
    let room = case.room()?;
    let member = case.agent("analyst")?;
    let member = room.joined(&member)?;
    let mut push = member.subscribe(&[event])?;
    room.act(&room.creator, action, json!({}))?;
    push.until_event(event).map(drop)
}

fn l3_event_11_session_paused(case: &mut Case) -> Checked {
    session_event(case, "pause", "session.paused")
}

fn l3_event_12_session_ended(case: &mut Case) -> Checked {
    session_event(case, "end", "session.ended")
}
