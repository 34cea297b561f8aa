//! COORDINATE, the state machine of tasks: every legal move of section 8.2, and every illegal one. The protocol
//! demands a full state machine (L3-2); its states and moves are our reading.

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::JsonAccess,
        task::MOVES,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Reading,
        l3_task_01_pending_to_assigned_by_assign,
        "COO-3 L3-2",
        "assign gives a pending task to an agent."
    ),
    rule!(
        Reading,
        l3_task_02_pending_to_assigned_by_claim,
        "COO-3 L3-2",
        "claim takes a pending task."
    ),
    rule!(
        Reading,
        l3_task_03_assigned_to_in_progress,
        "COO-3 L3-2",
        "start begins an assigned task."
    ),
    rule!(
        Reading,
        l3_task_04_in_progress_to_blocked,
        "COO-3 L3-2",
        "block stops a task in progress."
    ),
    rule!(
        Reading,
        l3_task_05_in_progress_to_completed,
        "COO-3 L3-2",
        "complete ends a task in progress."
    ),
    rule!(
        Reading,
        l3_task_06_in_progress_to_failed,
        "COO-3 L3-2",
        "fail ends a task in progress for now."
    ),
    rule!(
        Reading,
        l3_task_07_blocked_to_in_progress,
        "COO-3 L3-2",
        "unblock goes on with a blocked task."
    ),
    rule!(
        Reading,
        l3_task_08_assigned_back_to_pending,
        "COO-3 L3-2",
        "release gives an assigned task back."
    ),
    rule!(
        Reading,
        l3_task_09_in_progress_back_to_pending,
        "COO-3 L3-2",
        "release gives a task in progress back."
    ),
    rule!(
        Reading,
        l3_task_10_blocked_back_to_pending,
        "COO-3 L3-2",
        "release gives a blocked task back."
    ),
    rule!(
        Reading,
        l3_task_11_failed_to_pending,
        "COO-3 L3-2",
        "retry puts a failed task into the pool again."
    ),
    rule!(
        Reading,
        l3_task_12_every_open_state_to_cancelled,
        "COO-3 L3-2",
        "cancel ends a task in any state that is not terminal."
    ),
    rule!(
        Reading,
        l3_task_21_pending_refuses_other_moves,
        "COO-7 L3-2",
        "Every other action on a pending task is INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_task_22_assigned_refuses_other_moves,
        "COO-7 L3-2",
        "Every other action on an assigned task is INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_task_23_in_progress_refuses_other_moves,
        "COO-7 L3-2",
        "Every other action on a task in progress is INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_task_24_blocked_refuses_other_moves,
        "COO-7 L3-2",
        "Every other action on a blocked task is INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_task_25_failed_refuses_other_moves,
        "COO-7 L3-2",
        "Every other action on a failed task is INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_task_26_completed_is_terminal,
        "COO-7 L3-2",
        "No action moves a completed task."
    ),
    rule!(
        Reading,
        l3_task_27_cancelled_is_terminal,
        "COO-7 L3-2",
        "No action moves a cancelled task."
    ),
];

/// Brings a task into a state, moves it, and requires the state after it.
fn moves(case: &mut Case, from: &str, action: &str, to: &str) -> Checked {
    let task = case.task_in(from)?;
    same("status", task.go(action)?.text("/status")?, to)?;
    same("status afterwards", task.get()?.text("/status")?, to)
}

/// Brings a task into a state and requires that every other action is refused and changes nothing.
fn stays(case: &mut Case, state: &str, legal: &[&str]) -> Checked {
    let task = case.task_in(state)?;
    for action in MOVES.iter().filter(|action| !legal.contains(action)) {
        let error =
            task.worker.refused("COORDINATE", task.payload(action), "INVALID_TRANSITION")?;
        same("recoverable", error.flag("/recoverable")?, true)?;
        same(&format!("status after {action}"), task.get()?.text("/status")?, state)?;
    }
    Ok(())
}

/// Releases a task and requires that it is unassigned and flagged.
fn releases(case: &mut Case, from: &str) -> Checked {
    let task = case.task_in(from)?;
    let got = task.go("release")?;
    same("status", got.text("/status")?, "pending")?;
    same("needs_reassignment", got.flag("/needs_reassignment")?, true)?;
    ensure(got.is_nothing("/assigned_to"), "it still has an owner")?;
    let again = task.go("claim")?;
    same("needs_reassignment after claim", again.flag("/needs_reassignment")?, false)
}

fn l3_task_01_pending_to_assigned_by_assign(case: &mut Case) -> Checked {
    moves(case, "pending", "assign", "assigned")
}

fn l3_task_02_pending_to_assigned_by_claim(case: &mut Case) -> Checked {
    moves(case, "pending", "claim", "assigned")
}

fn l3_task_03_assigned_to_in_progress(case: &mut Case) -> Checked {
    moves(case, "assigned", "start", "in_progress")
}

fn l3_task_04_in_progress_to_blocked(case: &mut Case) -> Checked {
    moves(case, "in_progress", "block", "blocked")
}

fn l3_task_05_in_progress_to_completed(case: &mut Case) -> Checked {
    moves(case, "in_progress", "complete", "completed")
}

fn l3_task_06_in_progress_to_failed(case: &mut Case) -> Checked {
    moves(case, "in_progress", "fail", "failed")
}

fn l3_task_07_blocked_to_in_progress(case: &mut Case) -> Checked {
    moves(case, "blocked", "unblock", "in_progress")
}

fn l3_task_08_assigned_back_to_pending(case: &mut Case) -> Checked {
    releases(case, "assigned")
}

fn l3_task_09_in_progress_back_to_pending(case: &mut Case) -> Checked {
    releases(case, "in_progress")
}

fn l3_task_10_blocked_back_to_pending(case: &mut Case) -> Checked {
    releases(case, "blocked")
}

fn l3_task_11_failed_to_pending(case: &mut Case) -> Checked {
    moves(case, "failed", "retry", "pending")
}

fn l3_task_12_every_open_state_to_cancelled(case: &mut Case) -> Checked {
    for state in ["pending", "assigned", "in_progress", "blocked", "failed"] {
        moves(case, state, "cancel", "cancelled")?;
    }
    Ok(())
}

fn l3_task_21_pending_refuses_other_moves(case: &mut Case) -> Checked {
    stays(case, "pending", &["assign", "claim", "cancel"])
}

fn l3_task_22_assigned_refuses_other_moves(case: &mut Case) -> Checked {
    stays(case, "assigned", &["start", "release", "cancel"])
}

fn l3_task_23_in_progress_refuses_other_moves(case: &mut Case) -> Checked {
    stays(case, "in_progress", &["block", "complete", "fail", "release", "cancel"])
}

fn l3_task_24_blocked_refuses_other_moves(case: &mut Case) -> Checked {
    stays(case, "blocked", &["unblock", "release", "cancel"])
}

fn l3_task_25_failed_refuses_other_moves(case: &mut Case) -> Checked {
    stays(case, "failed", &["retry", "cancel"])
}

fn l3_task_26_completed_is_terminal(case: &mut Case) -> Checked {
    stays(case, "completed", &[])
}

fn l3_task_27_cancelled_is_terminal(case: &mut Case) -> Checked {
    stays(case, "cancelled", &[])
}
