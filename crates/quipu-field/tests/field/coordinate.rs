//! COORDINATE by its rules: every pair of the state machine, dependencies, leases, who may, and what
//! the agents do meanwhile.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    coordination::{act, add, agent, coordinate, from, make, team},
    replay_words::{descriptions, replay},
    support::message,
};
use quipu_core::{Origin, origin::ScriptedOrigin};
use quipu_field::{Field, FieldOptions};
use quipu_log::{Engine, FieldName, MemoryEngine, Salt};
use quipu_wire::{
    ErrorCode,
    akashik::{AgentStatus, DeregisterPayload, RegisterPayload, TaskStatus},
};
use serde_json::{Value, json};

const ACTIONS: [&str; 11] = [
    "assign", "claim", "start", "block", "unblock", "complete", "fail", "release", "retry",
    "cancel", "renew",
];

/// How a task gets into a status.
fn path_to(status: TaskStatus) -> &'static [&'static str] {
    match status {
        TaskStatus::Pending => &[],
        TaskStatus::Assigned => &["claim"],
        TaskStatus::InProgress => &["claim", "start"],
        TaskStatus::Blocked => &["claim", "start", "block"],
        TaskStatus::Completed => &["claim", "start", "complete"],
        TaskStatus::Failed => &["claim", "start", "fail"],
        TaskStatus::Cancelled => &["cancel"],
    }
}

/// The table of the contract, in the order of `ACTIONS`.
fn table(status: TaskStatus) -> [Option<TaskStatus>; 11] {
    use TaskStatus::{Assigned, Blocked, Cancelled, Completed, Failed, InProgress, Pending};
    let cancel = Some(Cancelled);
    match status {
        Pending => {
            [Some(Assigned), Some(Assigned), None, None, None, None, None, None, None, cancel, None]
        }
        Assigned => [
            None,
            None,
            Some(InProgress),
            None,
            None,
            None,
            None,
            Some(Pending),
            None,
            cancel,
            Some(Assigned),
        ],
        InProgress => [
            None,
            None,
            None,
            Some(Blocked),
            None,
            Some(Completed),
            Some(Failed),
            Some(Pending),
            None,
            cancel,
            Some(InProgress),
        ],
        Blocked => [
            None,
            None,
            None,
            None,
            Some(InProgress),
            None,
            None,
            Some(Pending),
            None,
            cancel,
            Some(Blocked),
        ],
        Failed => [None, None, None, None, None, None, None, None, Some(Pending), cancel, None],
        Completed | Cancelled => [None; 11],
    }
}

#[tokio::test]
async fn every_pair_of_status_and_action_goes_as_the_table_says() {
    let (_, field) = team(&[("a", "worker", 10)]).await;
    for status in TaskStatus::ALL {
        for (action, expected) in ACTIONS.into_iter().zip(table(*status)) {
            let id = format!("{status}-{action}");
            make(&field, from("a", None), &id, json!({})).await;
            for step in path_to(*status) {
                act(&field, from("a", None), &id, step).await.unwrap();
            }
            let moved = act(&field, from("a", None), &id, action).await;
            let expected = expected.ok_or(ErrorCode::InvalidTransition);
            assert_eq!(moved.map(|task| task.status), expected, "{action} when {status}");
        }
    }
}

#[tokio::test]
async fn a_task_comes_back_as_it_was_made_and_says_why_it_is_blocked() {
    let (_, field) = team(&[("a", "worker", 6)]).await;
    let task = make(&field, from("a", None), "t", json!({})).await;
    assert_eq!((task.title.as_str(), task.intent.purpose.as_str()), ("a title", "a purpose"));
    assert_eq!((task.status, task.created_by.as_str()), (TaskStatus::Pending, "a"));
    assert_eq!((task.priority, task.epoch_created), (5, task.epoch_updated));
    act(&field, from("a", None), "t", "claim").await.unwrap();
    act(&field, from("a", None), "t", "start").await.unwrap();
    let blocked = act(&field, from("a", None), "t", "block").await.unwrap();
    assert_eq!(blocked.blocked_reason.as_deref(), Some("why"));
    let renewed = act(&field, from("a", None), "t", "renew").await;
    assert_eq!(renewed.unwrap().blocked_reason.as_deref(), Some("why"));
    let unblocked = act(&field, from("a", None), "t", "unblock").await.unwrap();
    assert_eq!(unblocked.blocked_reason, None);
    let unit = add(&field, from("a", None), json!({})).await.unwrap();
    let done = json!({"action": "complete", "task_id": "t", "task": {"result_unit_ids": [unit]}});
    let done = coordinate(&field, from("a", None), done).await.unwrap().task.unwrap();
    assert_eq!((done.status, done.result_unit_ids), (TaskStatus::Completed, vec![unit]));
}

#[tokio::test]
async fn an_agent_works_waits_and_rests_as_its_tasks_move() {
    let (_, field) = team(&[("a", "worker", 6)]).await;
    for id in ["one", "two"] {
        make(&field, from("a", None), id, json!({"assignee": "a"})).await;
    }
    let is = |status, task: Option<&str>| {
        let agent = agent(&field, "a");
        assert_eq!((agent.status, agent.current_task_id.as_deref()), (status, task));
    };
    is(AgentStatus::Idle, None);
    act(&field, from("a", None), "one", "start").await.unwrap();
    is(AgentStatus::Working, Some("one"));
    act(&field, from("a", None), "one", "block").await.unwrap();
    is(AgentStatus::Waiting, Some("one"));
    act(&field, from("a", None), "two", "start").await.unwrap();
    is(AgentStatus::Working, Some("two"));
    act(&field, from("a", None), "two", "complete").await.unwrap();
    is(AgentStatus::Waiting, Some("one"));
    act(&field, from("a", None), "one", "unblock").await.unwrap();
    is(AgentStatus::Working, Some("one"));
    act(&field, from("a", None), "one", "release").await.unwrap();
    is(AgentStatus::Idle, None);
}

#[tokio::test]
async fn what_depends_on_others_starts_after_them_and_nothing_depends_on_itself() {
    let (_, field) = team(&[("a", "worker", 6)]).await;
    make(&field, from("a", None), "first", json!({"assignee": "a"})).await;
    let create = |id: &str, on: &str| {
        json!({"action": "create", "assignee": "a",
               "task": {"id": id, "title": "t", "intent": {"purpose": "p"}, "depends_on": [on]}})
    };
    coordinate(&field, from("a", None), create("second", "first")).await.unwrap();
    let refused = async |payload: Value| {
        coordinate(&field, from("a", None), payload).await.unwrap_err().code()
    };
    assert_eq!(refused(create("loop", "loop")).await, ErrorCode::InvalidPayload);
    assert_eq!(refused(create("lost", "nowhere")).await, ErrorCode::UnitNotFound);
    assert_eq!(refused(create("first", "second")).await, ErrorCode::InvalidTransition);
    let start = async |id| act(&field, from("a", None), id, "start").await.map(|task| task.status);
    assert_eq!(start("second").await, Err(ErrorCode::InvalidTransition));
    start("first").await.unwrap();
    act(&field, from("a", None), "first", "complete").await.unwrap();
    assert_eq!(start("second").await, Ok(TaskStatus::InProgress));
}

#[tokio::test]
async fn giving_tasks_to_others_needs_6_and_moving_those_of_others_8() {
    let agents = [("a", "worker", 4), ("b", "worker", 4), ("lead", "lead", 6), ("boss", "b", 8)];
    let (_, field) = team(&agents).await;
    let give = |to: &str| {
        json!({"action": "create", "assignee": to,
               "task": {"title": "t", "intent": {"purpose": "p"}}})
    };
    let refused = coordinate(&field, from("a", None), give("b")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    coordinate(&field, from("a", None), give("a")).await.unwrap();
    coordinate(&field, from("lead", None), give("b")).await.unwrap();
    let refused = coordinate(&field, from("lead", None), give("nobody")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnitNotFound);
    make(&field, from("a", None), "t", json!({"assignee": "a"})).await;
    for action in ["start", "release", "renew", "cancel"] {
        for other in ["b", "lead"] {
            let refused = act(&field, from(other, None), "t", action).await.unwrap_err();
            assert_eq!(refused, ErrorCode::InsufficientAuthority, "{action} by {other}");
        }
    }
    act(&field, from("boss", None), "t", "cancel").await.unwrap();
    let missing = act(&field, from("a", None), "nothing", "start").await;
    assert_eq!(missing.unwrap_err(), ErrorCode::UnitNotFound);
}

#[tokio::test]
async fn tasks_are_listed_by_status_agent_and_need() {
    let (_, field) = team(&[("a", "worker", 6), ("b", "worker", 6)]).await;
    make(&field, from("a", None), "one", json!({"assignee": "b"})).await;
    make(&field, from("b", None), "two", json!({})).await;
    act(&field, from("b", None), "one", "release").await.unwrap();
    let list = async |filter: Value| -> Vec<String> {
        let payload = json!({"action": "list", "filter": filter});
        let answer = coordinate(&field, from("a", None), payload).await.unwrap();
        answer.tasks.unwrap().into_iter().map(|task| task.id).collect()
    };
    assert_eq!(list(json!({})).await, ["one", "two"]);
    assert_eq!(list(json!({"created_by": "b"})).await, ["two"]);
    assert_eq!(list(json!({"needs_reassignment": true})).await, ["one"]);
    assert_eq!(list(json!({"status": ["completed"]})).await, Vec::<String>::new());
    assert_eq!(list(json!({"assigned_to": "b"})).await, Vec::<String>::new());
}

#[tokio::test]
async fn who_leaves_the_field_leaves_its_tasks_to_the_pool() {
    let (engine, field) = team(&[("a", "worker", 6), ("b", "worker", 6)]).await;
    for (id, steps) in [("one", 0), ("two", 1), ("done", 2)] {
        make(&field, from("a", None), id, json!({"assignee": "a"})).await;
        for action in ["start", "complete"].into_iter().take(steps) {
            act(&field, from("a", None), id, action).await.unwrap();
        }
    }
    let bye = DeregisterPayload { agent_id: "a".to_owned() };
    let left = field.deregister(message("bye", "a"), bye).await.unwrap();
    assert_eq!(left.cleanup.tasks_reassigned, 2);
    let claimed = act(&field, from("b", None), "two", "claim").await.unwrap();
    assert_eq!((claimed.assigned_to.as_deref(), claimed.needs_reassignment), (Some("b"), false));
    let hash = field.state_hash();
    assert_eq!(crate::support::open(&engine, None).state_hash(), hash);
}

#[tokio::test]
async fn the_same_message_twice_moves_once_and_another_under_its_id_is_refused() {
    let (_, field) = team(&[("a", "worker", 6)]).await;
    let create = json!({"action": "create", "task": {"title": "t", "intent": {"purpose": "p"}}});
    let first = coordinate(&field, message("x", "a"), create.clone()).await.unwrap();
    assert_eq!(coordinate(&field, message("x", "a"), create).await.unwrap(), first);
    let id = first.task.unwrap().id;
    let claim = json!({"action": "claim", "task_id": id});
    let claimed = coordinate(&field, message("y", "a"), claim.clone()).await.unwrap();
    assert_eq!(coordinate(&field, message("y", "a"), claim).await.unwrap(), claimed);
    let other = json!({"action": "start", "task_id": id});
    let refused = coordinate(&field, message("y", "a"), other).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::MessageIdReused);
}

/// Time that stands until it is moved.
#[derive(Debug, Default)]
pub(crate) struct Clockwork {
    pub(crate) now: AtomicU64,
    ids: ScriptedOrigin,
}

impl Origin for Clockwork {
    fn now_ms(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    fn id_bits(&self) -> u128 {
        self.ids.id_bits()
    }

    fn salt(&self) -> Salt {
        self.ids.salt()
    }
}

pub(crate) async fn with_clock(
    snapshots: Option<PathBuf>,
) -> (Arc<Clockwork>, Arc<dyn Engine>, Arc<Field>) {
    let clock = Arc::new(Clockwork::default());
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let origin = Arc::clone(&clock) as Arc<dyn Origin>;
    let options = FieldOptions { snapshots, ..FieldOptions::new(origin) };
    let field = Field::open(Arc::clone(&engine), FieldName::default_field(), options).unwrap();
    for agent in ["a", "b"] {
        let payload = json!({"id": agent, "role": "worker"});
        let (payload, _) = RegisterPayload::parse(payload).unwrap();
        field.register(message(&format!("register-{agent}"), agent), payload).await.unwrap();
    }
    (clock, engine, field)
}

async fn status_of(field: &Arc<Field>, id: &str) -> (TaskStatus, bool) {
    let payload = json!({"action": "get", "task_id": id});
    let task = coordinate(field, from("b", None), payload).await.unwrap().task.unwrap();
    (task.status, task.needs_reassignment)
}

#[tokio::test]
async fn a_lease_that_runs_out_returns_the_task_before_the_next_command_is_decided() {
    let (clock, engine, field) = with_clock(None).await;
    make(&field, from("a", None), "t", json!({})).await;
    let claim = json!({"action": "claim", "task_id": "t", "lease_ms": 1000});
    let claimed = coordinate(&field, from("a", None), claim).await.unwrap().task.unwrap();
    assert_eq!(claimed.lease_expires_at.as_deref(), Some("1970-01-01T00:00:01Z"));
    clock.now.store(900, Ordering::Relaxed);
    act(&field, from("a", None), "t", "start").await.unwrap();
    clock.now.store(1899, Ordering::Relaxed);
    act(&field, from("a", None), "t", "renew").await.unwrap();
    assert_eq!(agent(&field, "a").status, AgentStatus::Working);
    clock.now.store(2899, Ordering::Relaxed);
    let late = act(&field, from("a", None), "t", "complete").await.unwrap_err();
    assert_eq!(late, ErrorCode::InvalidTransition, "the task is nobody's by now");
    assert_eq!(status_of(&field, "t").await, (TaskStatus::Pending, true));
    assert_eq!(agent(&field, "a").status, AgentStatus::Idle);
    act(&field, from("b", None), "t", "claim").await.unwrap();
    let hash = field.state_hash();
    assert_eq!(crate::support::open(&engine, None).state_hash(), hash);
}

#[tokio::test]
async fn a_lease_that_runs_out_is_noticed_without_any_command() {
    let (clock, _, field) = with_clock(None).await;
    make(&field, from("a", None), "t", json!({"assignee": "a", "lease_ms": 1000})).await;
    field.expire_leases();
    assert_eq!(status_of(&field, "t").await, (TaskStatus::Assigned, false));
    clock.now.store(1000, Ordering::Relaxed);
    field.expire_leases();
    field.close().await;
    assert_eq!(status_of(&field, "t").await, (TaskStatus::Pending, true));
    let story = replay(&field, "task", "t").await;
    assert_eq!(
        descriptions(&story),
        [
            "Task t: created for a: a title",
            "Task t: put back because its lease ran out, assigned -> pending",
        ]
    );
}
