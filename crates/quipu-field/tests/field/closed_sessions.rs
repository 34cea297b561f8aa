//! A closed session from outside: what happens in it changes nothing outside that others could notice,
//! and nobody gets around its rules.

use std::sync::Arc;

use crate::coordination::{act, add, coordinate, from, handoff, make, seen, session, team};
use quipu_core::Message;
use quipu_field::Field;
use quipu_wire::{
    ErrorCode,
    akashik::{
        AttunePayload, CompactPayload, DeregisterPayload, DetectPayload, MergePayload,
        MergeResponse, RegisterPayload, ReplayPayload, ReplayResponse, UnitStatus, UnitView,
    },
};
use serde_json::{Value, json};

const TEAM: [(&str, &str, u8); 4] =
    [("lead", "lead", 7), ("ben", "worker", 4), ("intern", "intern", 4), ("out", "worker", 6)];

/// A session `sec` of `lead`, with `ben` and `intern`, in which interns see no decisions.
async fn closed(join: &str) -> Arc<Field> {
    let (_, field) = team(&TEAM).await;
    let rules = json!([{"role": "intern", "deny_types": ["decision"]}]);
    let policy = json!({"join": join, "visibility_rules": rules});
    let create = json!({"action": "create", "session_id": "sec",
                        "session": {"goal": "g", "policy": policy}});
    session(&field, from("lead", None), create).await.unwrap();
    for agent in ["ben", "intern"] {
        let invite = json!({"action": "join", "session_id": "sec", "agent_id": agent});
        session(&field, from("lead", None), invite).await.unwrap();
    }
    field
}

/// Leaves the Field and comes back under another role.
async fn change_role(field: &Arc<Field>, agent: &str, role: &str) {
    let payload = DeregisterPayload { agent_id: agent.to_owned() };
    field.deregister(from(agent, None), payload).await.unwrap();
    let payload = json!({"id": agent, "role": role, "authority_level": 4});
    field.register(from(agent, None), RegisterPayload::parse(payload).unwrap().0).await.unwrap();
}

async fn join(field: &Arc<Field>, agent: &str) -> Result<(), ErrorCode> {
    let join = json!({"action": "join", "session_id": "sec"});
    session(field, from(agent, None), join).await.map(|_| ()).map_err(|error| error.code())
}

async fn replay(
    field: &Arc<Field>,
    by: Message,
    kind: &str,
    id: &str,
) -> Result<ReplayResponse, ErrorCode> {
    let payload = json!({"target_type": kind, "target_id": id, "depth": "full_trace"});
    let (payload, _) = ReplayPayload::parse(payload).unwrap();
    field.replay(by, payload).await.map_err(|error| error.code())
}

async fn merge(
    field: &Arc<Field>,
    by: Message,
    strategy: &str,
    more: Value,
) -> Result<MergeResponse, ErrorCode> {
    let listing = DetectPayload::parse(json!({"mode": "list"})).unwrap().0;
    let known = field.detect(from("lead", Some("sec")), listing).await.unwrap();
    let mut resolution = json!({"rationale": "r"});
    for (key, value) in more.as_object().unwrap() {
        resolution[key] = value.clone();
    }
    let payload = json!({"conflict_id": known.conflicts[0].id, "strategy": strategy,
                         "resolution": resolution});
    let (payload, _) = MergePayload::parse(payload).unwrap();
    field.merge(by, payload).await.map_err(|error| error.code())
}

/// What an outsider is told of a unit's status.
async fn status(field: &Arc<Field>, id: &str) -> Option<UnitStatus> {
    let scope = json!({"role": "r", "max_units": 9, "include_own": true});
    let (payload, _) = AttunePayload::parse(json!({"scope": scope})).unwrap();
    let answer = field.attune(from("out", None), payload).await.unwrap();
    answer.record.into_iter().find_map(|scoped| match scoped.memory_unit {
        UnitView::Unit(unit) if unit.id == id => Some(unit.status),
        UnitView::Unit(_) | UnitView::Id { .. } => None,
    })
}

fn relation(kind: &str, target: &str) -> Value {
    json!({"content": "x", "relations": [{"type": kind, "target_id": target}]})
}

#[tokio::test]
async fn who_comes_back_under_another_role_is_no_member_any_more() {
    let field = closed("invite").await;
    let decision = json!({"type": "decision", "content": "secret"});
    add(&field, from("lead", Some("sec")), decision).await.unwrap();
    change_role(&field, "intern", "lead").await;
    assert_eq!(join(&field, "intern").await, Err(ErrorCode::UnitNotFound));
    assert_eq!(seen(&field, from("intern", Some("sec"))).await.unwrap(), Vec::<String>::new());
    let get = json!({"action": "get", "session_id": "sec"});
    let shown = session(&field, from("lead", None), get).await.unwrap().session.unwrap();
    assert_eq!(shown.members, ["ben", "lead"]);
}

#[tokio::test]
async fn where_rules_go_by_roles_nobody_lets_itself_in_again_under_another() {
    let field = closed("open").await;
    let decision = json!({"type": "decision", "content": "secret"});
    add(&field, from("lead", Some("sec")), decision).await.unwrap();
    change_role(&field, "intern", "lead").await;
    assert_eq!(join(&field, "intern").await, Err(ErrorCode::InsufficientAuthority));
    change_role(&field, "intern", "intern").await;
    assert_eq!(join(&field, "intern").await, Ok(()), "as it was before");
    assert_eq!(seen(&field, from("intern", Some("sec"))).await.unwrap(), Vec::<String>::new());
    change_role(&field, "intern", "lead").await;
    let invite = json!({"action": "join", "session_id": "sec", "agent_id": "intern"});
    session(&field, from("lead", None), invite).await.unwrap();
    assert_eq!(seen(&field, from("intern", Some("sec"))).await.unwrap(), ["secret"]);
}

#[tokio::test]
async fn replay_tells_tasks_and_handoffs_to_members_only() {
    let field = closed("invite").await;
    make(&field, from("lead", Some("sec")), "t-sec", json!({"assignee": "lead"})).await;
    let offer =
        json!({"action": "offer", "task_id": "named", "to_agent": "ben", "reason": "secret"});
    handoff(&field, from("lead", Some("sec")), offer).await.unwrap();
    for task in ["t-sec", "named"] {
        let told = replay(&field, from("out", None), "task", task).await;
        assert_eq!(told.err(), Some(ErrorCode::UnitNotFound), "{task}");
        let told = replay(&field, from("ben", Some("sec")), "task", task).await.unwrap();
        assert!(told.total_events > 0, "{task}");
    }
    let own = json!({"intent": {"purpose": "p", "task_id": "t-sec"}});
    let own = add(&field, from("out", None), own).await.unwrap();
    let told = replay(&field, from("out", None), "memory_unit", &own).await.unwrap();
    assert_eq!((told.total_events, told.agents_involved), (1, vec!["out".to_owned()]));
}

#[tokio::test]
async fn a_unit_of_a_closed_session_neither_contests_nor_replaces_a_public_one() {
    let field = closed("invite").await;
    let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
    add(&field, from("lead", Some("sec")), relation("contradicts", &public)).await.unwrap();
    assert_eq!(status(&field, &public).await, Some(UnitStatus::Active));
    add(&field, from("lead", Some("sec")), relation("supersedes", &public)).await.unwrap();
    assert_eq!(status(&field, &public).await, Some(UnitStatus::Active));
    let listing = DetectPayload::parse(json!({"mode": "list"})).unwrap().0;
    let within = field.detect(from("ben", Some("sec")), listing.clone()).await.unwrap();
    assert_eq!(within.conflicts.len(), 1, "whoever sees both sees the conflict");
    let outside = field.detect(from("out", None), listing).await.unwrap();
    assert_eq!(outside.conflicts, Vec::new());
    let told = replay(&field, from("out", None), "memory_unit", &public).await.unwrap();
    assert_eq!(told.total_events, 1);
}

#[tokio::test]
async fn a_conflict_settled_in_a_closed_session_leaves_the_public_unit_as_it_is() {
    for (strategy, more) in
        [("last_write_wins", json!({})), ("synthesis", json!({"synthesis": "both"}))]
    {
        let field = closed("invite").await;
        let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
        add(&field, from("lead", Some("sec")), relation("contradicts", &public)).await.unwrap();
        let settled = merge(&field, from("lead", Some("sec")), strategy, more).await.unwrap();
        assert!(!settled.side_effects.superseded_units.contains(&public), "{strategy}");
        assert_eq!(settled.side_effects.notified_agents, ["lead"], "{strategy}");
        assert_eq!(status(&field, &public).await, Some(UnitStatus::Active), "{strategy}");
    }
}

#[tokio::test]
async fn a_public_unit_that_prevails_is_active_whatever_hidden_units_say() {
    let field = closed("invite").await;
    let old = add(&field, from("out", None), json!({"content": "old"})).await.unwrap();
    let new = add(&field, from("ben", None), relation("contradicts", &old)).await.unwrap();
    add(&field, from("lead", Some("sec")), relation("contradicts", &new)).await.unwrap();
    assert_eq!(status(&field, &new).await, Some(UnitStatus::Contested));
    merge(&field, from("out", None), "last_write_wins", json!({})).await.unwrap();
    assert_eq!(status(&field, &new).await, Some(UnitStatus::Active));
}

#[tokio::test]
async fn a_read_in_a_session_that_one_may_not_know_of_is_as_in_one_that_is_not_there() {
    let field = closed("invite").await;
    make(&field, from("lead", Some("sec")), "t-sec", json!({})).await;
    add(&field, from("lead", Some("sec")), json!({"content": "secret"})).await.unwrap();
    add(&field, from("ben", None), json!({"content": "public"})).await.unwrap();
    for id in ["sec", "no-such"] {
        let place = || from("out", Some(id));
        assert_eq!(seen(&field, place()).await.unwrap(), ["public"], "{id}");
        let listing = DetectPayload::parse(json!({"mode": "list"})).unwrap().0;
        assert_eq!(field.detect(place(), listing).await.unwrap().conflicts, Vec::new(), "{id}");
        let tasks = coordinate(&field, place(), json!({"action": "list"})).await.unwrap().tasks;
        assert_eq!(tasks, Some(Vec::new()), "{id}");
        let told = replay(&field, place(), "session", id).await;
        assert_eq!(told.err(), Some(ErrorCode::UnitNotFound), "{id}");
        let archive = json!({"strategy": "archive", "filter": {"session_id": id}});
        let (archive, _) = CompactPayload::parse(archive).unwrap();
        let archived = field.compact(from("out", None), archive).await.unwrap();
        assert_eq!(archived.units_affected, 0, "{id}");
    }
    let refused = add(&field, from("out", Some("sec")), json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority, "but nothing is written in it");
}

#[tokio::test]
async fn a_hidden_task_is_handed_over_like_a_name_that_is_no_tasks() {
    let field = closed("invite").await;
    let payload = json!({"id": "other", "role": "worker", "authority_level": 6});
    field.register(from("other", None), RegisterPayload::parse(payload).unwrap().0).await.unwrap();
    make(&field, from("lead", Some("sec")), "t-sec", json!({"assignee": "lead"})).await;
    let offer = |task: &str, to: &str| json!({"action": "offer", "task_id": task, "to_agent": to, "reason": "r"});
    // Neither of the two who are outside is told whether there is such a task.
    let mut met = Vec::new();
    for task in ["t-sec", "t-no"] {
        let offered = handoff(&field, from("out", None), offer(task, "other")).await.unwrap();
        let again = handoff(&field, from("out", None), offer(task, "other")).await.unwrap_err();
        let mut offered = offered.handoff.unwrap();
        let accept = json!({"action": "accept", "handoff_id": offered.id});
        if task == "t-sec" {
            act(&field, from("lead", Some("sec")), "t-sec", "start").await.unwrap();
            act(&field, from("lead", Some("sec")), "t-sec", "complete").await.unwrap();
        }
        let taken = handoff(&field, from("other", None), accept).await.unwrap().handoff.unwrap();
        assert_eq!(std::mem::take(&mut offered.task_id), task);
        met.push((again.code(), offered.status, taken.status));
    }
    assert_eq!(met[0], met[1]);

    // Who knows of the task is told that it is not handed over.
    let offered = handoff(&field, from("out", None), offer("later", "ben")).await.unwrap();
    make(&field, from("lead", Some("sec")), "later", json!({"assignee": "lead"})).await;
    let accept = json!({"action": "accept", "handoff_id": offered.handoff.unwrap().id});
    let refused = handoff(&field, from("ben", None), accept).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnitNotFound, "accepted, and not had, would be a lie");
    act(&field, from("lead", Some("sec")), "later", "start").await.unwrap();
}

#[tokio::test]
async fn what_became_of_a_hidden_unit_is_not_told() {
    let field = closed("invite").await;
    let secret =
        add(&field, from("lead", Some("sec")), json!({"content": "secret"})).await.unwrap();
    let public = add(&field, from("out", None), json!({"content": "public"})).await.unwrap();
    for strategy in ["archive", "purge"] {
        let payload = json!({"strategy": strategy, "filter": {"unit_ids": [secret, public]},
                             "reason": "why not"});
        let (payload, _) = CompactPayload::parse(payload).unwrap();
        let root = Message { authority: 10, ..from("root", Some("sec")) };
        if strategy == "archive" {
            let joins = json!({"id": "root", "role": "r", "authority_level": 10});
            let joins = RegisterPayload::parse(joins).unwrap().0;
            field.register(from("root", None), joins).await.unwrap();
        }
        assert_eq!(field.compact(root, payload).await.unwrap().units_affected, 2, "{strategy}");
        let told = replay(&field, from("out", None), "memory_unit", &secret).await;
        assert_eq!(told.err(), Some(ErrorCode::UnitNotFound), "{strategy}");
        let told = replay(&field, from("out", None), "memory_unit", &public).await.unwrap();
        let lines: Vec<_> = told.timeline.iter().map(|it| it.description.as_str()).collect();
        assert!(lines.iter().any(|line| line.contains("why not")), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("more units")), "{lines:?}");
        let told = replay(&field, from("ben", Some("sec")), "memory_unit", &secret).await.unwrap();
        assert!(told.timeline.iter().any(|it| it.description.contains("and 1 more units")));
    }
}

#[tokio::test]
async fn nothing_is_settled_in_a_session_that_is_over() {
    let field = closed("invite").await;
    let old = add(&field, from("lead", Some("sec")), json!({"content": "old"})).await.unwrap();
    add(&field, from("ben", Some("sec")), relation("contradicts", &old)).await.unwrap();
    let end = json!({"action": "end", "session_id": "sec"});
    session(&field, from("lead", None), end).await.unwrap();
    let refused = merge(&field, from("lead", Some("sec")), "last_write_wins", json!({})).await;
    assert_eq!(refused.err(), Some(ErrorCode::InvalidTransition));
}
