//! Who sees what: sessions, role rules, authority; and that what is not seen cannot be learned of.

use std::sync::Arc;

use crate::{
    coordination::{act, add, agent, coordinate, from, make, seen, session, team},
    support::message,
};
use quipu_core::{Reader, origin::ScriptedOrigin};
use quipu_field::{Field, FieldOptions};
use quipu_log::FieldName;
use quipu_wire::{
    ErrorCode,
    akashik::{AttunePayload, DetectPayload},
};
use serde_json::{Value, json};

const TEAM: [(&str, &str, u8); 4] =
    [("a", "worker", 4), ("b", "worker", 4), ("intern", "intern", 2), ("root", "operator", 10)];

async fn create(field: &Arc<Field>, id: &str, policy: Value) {
    let payload =
        json!({"action": "create", "session_id": id, "session": {"goal": "g", "policy": policy}});
    session(field, from("a", None), payload).await.unwrap();
}

async fn join(field: &Arc<Field>, who: &str, id: &str) {
    let payload = json!({"action": "join", "session_id": id});
    session(field, from(who, None), payload).await.unwrap();
}

#[tokio::test]
async fn a_session_sees_its_own_and_what_belongs_to_none_and_none_sees_only_the_latter() {
    let (_, field) = team(&TEAM).await;
    create(&field, "s", json!({})).await;
    create(&field, "other", json!({})).await;
    join(&field, "b", "s").await;
    for (label, content) in [(None, "free"), (Some("s"), "of s"), (Some("other"), "of other")] {
        add(&field, from("a", label), json!({"content": content})).await.unwrap();
    }
    assert_eq!(seen(&field, from("b", None)).await.unwrap(), ["free"]);
    assert_eq!(seen(&field, from("b", Some("s"))).await.unwrap(), ["free", "of s"]);
    let refused = seen(&field, from("b", Some("other"))).await;
    assert_eq!(refused, Err(ErrorCode::InsufficientAuthority));
    assert_eq!(seen(&field, from("root", Some("other"))).await.unwrap(), ["free", "of other"]);
    let refused = add(&field, from("b", Some("other")), json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
}

#[tokio::test]
async fn no_agent_enters_or_reaches_more_than_its_credential_allows() {
    let (_, field) = team(&TEAM).await;
    create(&field, "s", json!({})).await;
    add(&field, from("a", Some("s")), json!({"content": "of s"})).await.unwrap();
    make(&field, from("a", Some("s")), "t", json!({})).await;
    let mut weak = from("root", Some("s"));
    weak.authority = 9;
    assert_eq!(seen(&field, weak.clone()).await, Err(ErrorCode::InsufficientAuthority));
    let refused = add(&field, weak.clone(), json!({})).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    let get = json!({"action": "get", "task_id": "t"});
    let hidden = coordinate(&field, weak, get.clone()).await.unwrap_err();
    assert_eq!(hidden.code(), ErrorCode::UnitNotFound);
    coordinate(&field, from("root", Some("s")), get).await.unwrap();
    assert_eq!(seen(&field, from("root", Some("s"))).await.unwrap(), ["of s"]);
}

#[tokio::test]
async fn attune_says_nothing_of_conflicts_that_are_out_of_sight() {
    let (_, field) = team(&TEAM).await;
    create(&field, "s", json!({})).await;
    let old = add(&field, from("a", Some("s")), json!({"content": "yes"})).await.unwrap();
    let against =
        json!({"content": "no", "relations": [{"type": "contradicts", "target_id": old}]});
    add(&field, from("a", Some("s")), against).await.unwrap();
    let (payload, _) =
        AttunePayload::parse(json!({"scope": {"role": "worker", "max_units": 5}})).unwrap();
    let within = field.attune(from("a", Some("s")), payload.clone()).await.unwrap();
    let of_conflicts = |warnings: &[String]| warnings.iter().any(|text| text.contains("conflict"));
    assert_eq!((within.conflicts.len(), of_conflicts(&within.warnings)), (1, false));
    let outside = field.attune(from("b", None), payload).await.unwrap();
    assert_eq!((outside.conflicts.len(), of_conflicts(&outside.warnings)), (0, false));
}

#[tokio::test]
async fn a_session_id_that_nobody_opened_is_a_label_for_whoever_sends_it() {
    let (_, field) = team(&TEAM).await;
    add(&field, from("a", Some("label")), json!({"content": "labelled"})).await.unwrap();
    assert_eq!(seen(&field, from("b", Some("label"))).await.unwrap(), ["labelled"]);
    assert_eq!(seen(&field, from("b", Some("another"))).await.unwrap(), Vec::<String>::new());
    assert_eq!(seen(&field, from("b", None)).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_session_may_show_its_units_outside_and_a_field_may_show_all() {
    let (engine, field) = team(&TEAM).await;
    create(&field, "public", json!({"cross_session_visibility": true})).await;
    create(&field, "private", json!({})).await;
    add(&field, from("a", Some("public")), json!({"content": "shown"})).await.unwrap();
    add(&field, from("a", Some("private")), json!({"content": "hidden"})).await.unwrap();
    add(&field, from("a", Some("label")), json!({"content": "labelled"})).await.unwrap();
    assert_eq!(seen(&field, from("b", None)).await.unwrap(), ["shown"]);
    field.close().await;
    let options = FieldOptions {
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    let open = Field::open(engine, FieldName::default_field(), options).unwrap();
    assert_eq!(seen(&open, from("b", None)).await.unwrap(), ["hidden", "labelled", "shown"]);
}

#[tokio::test]
async fn role_rules_and_authority_limits_are_applied_by_what_the_agent_registered_as() {
    let (_, field) = team(&TEAM).await;
    let rules = json!({"visibility_rules": [
        {"role": "intern", "allow_types": ["finding", "decision"], "deny_types": ["decision"]},
        {"below_authority": 4, "deny_types": ["human_directive"]},
        {"role": "worker", "deny_types": ["observation"]},
    ]});
    create(&field, "s", rules).await;
    for who in ["b", "intern"] {
        join(&field, who, "s").await;
    }
    for kind in ["finding", "decision", "observation"] {
        add(&field, from("a", Some("s")), json!({"type": kind, "content": kind})).await.unwrap();
    }
    let directive = json!({"type": "human_directive", "content": "human_directive"});
    add(&field, from("root", Some("s")), directive).await.unwrap();
    assert_eq!(seen(&field, from("intern", Some("s"))).await.unwrap(), ["finding"]);
    let worker = ["decision", "finding", "human_directive"];
    assert_eq!(seen(&field, from("b", Some("s"))).await.unwrap(), worker);
    assert_eq!(seen(&field, from("root", Some("s"))).await.unwrap().len(), 4);
}

#[tokio::test]
async fn what_an_agent_may_not_see_it_cannot_learn_of() {
    let (_, field) = team(&TEAM).await;
    create(&field, "s", json!({})).await;
    let hidden = add(&field, from("a", Some("s")), json!({})).await.unwrap();
    let against = json!({"relations": [{"type": "contradicts", "target_id": hidden}]});
    add(&field, from("a", Some("s")), against.clone()).await.unwrap();
    make(&field, from("a", Some("s")), "t", json!({"assignee": "a"})).await;
    act(&field, from("a", Some("s")), "t", "start").await.unwrap();

    let refused = add(&field, from("b", None), against).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnitNotFound, "by its id");
    let listing = DetectPayload::parse(json!({"mode": "list"})).unwrap().0;
    let listed = field.detect(message("d", "b"), listing).await.unwrap();
    assert_eq!(listed.conflicts, Vec::new(), "by a conflict");
    let scope = json!({"scope": {"role": "r", "max_units": 9}});
    let (payload, _) = AttunePayload::parse(scope).unwrap();
    let attuned = field.attune(message("x", "b"), payload).await.unwrap();
    assert_eq!(attuned.conflicts, Vec::new());
    assert_eq!(attuned.context_budget.units_available, 0, "by a count");
    let reader =
        Reader { agent: Some("b".to_owned()), session: None, authority: 4, everywhere: false };
    assert_eq!(field.conflicts_for(reader.clone()).await.unwrap().conflicts, Vec::new());
    let counted = field.status_for(&reader);
    assert_eq!((counted.units.total, counted.conflicts.total), (0, 0));
    for action in ["get", "claim", "start"] {
        let payload = json!({"action": action, "task_id": "t"});
        let refused = coordinate(&field, from("b", None), payload).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::UnitNotFound, "{action}");
    }
    let listed = coordinate(&field, from("b", None), json!({"action": "list"})).await.unwrap();
    assert_eq!(listed.tasks, Some(Vec::new()));
    let agents = field.agents_for(&reader).agents;
    assert!(agents.iter().all(|agent| agent.current_task_id.is_none()), "by who works on it");

    assert_eq!(agent(&field, "a").current_task_id.as_deref(), Some("t"));
    assert_eq!(field.conflicts().await.unwrap().conflicts.len(), 1);
    assert_eq!(field.status().units.total, 2);
}
