//! Traced ATTUNEs: what an agent was shown is in the log, and REPLAY of what it recorded afterwards says so.

use std::sync::Arc;

use crate::{
    coordination::{add, from, session, team},
    support::{open, open_traced},
};
use quipu_core::Message;
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{
        AttunePayload, AttuneResponse, CompactPayload, RegisterPayload, ReplayEvent, ReplayPayload,
        ReplayResponse,
    },
};
use serde_json::{Value, json};

async fn traced() -> (Arc<dyn Engine>, Arc<Field>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_traced(&engine);
    for agent in ["a", "b"] {
        let (payload, _) = RegisterPayload::parse(json!({"id": agent, "role": "r"})).unwrap();
        field.register(from(agent, None), payload).await.unwrap();
    }
    (engine, field)
}

async fn attune(field: &Arc<Field>, from: Message, hint: Option<&str>) -> AttuneResponse {
    let payload = json!({"scope": {"role": "planner", "max_units": 20}, "context_hint": hint});
    field.attune(from, AttunePayload::parse(payload).unwrap().0).await.unwrap()
}

async fn replay(field: &Arc<Field>, by: Message, kind: &str, id: &str) -> ReplayResponse {
    let payload = json!({"target_type": kind, "target_id": id, "depth": "full_trace"});
    field.replay(by, ReplayPayload::parse(payload).unwrap().0).await.unwrap()
}

fn shown(answer: &ReplayResponse) -> Vec<&ReplayEvent> {
    answer.timeline.iter().filter(|event| event.event_type == "ATTUNE").collect()
}

fn decision(content: &str) -> Value {
    json!({"type": "decision", "content": content})
}

#[tokio::test]
async fn a_decision_tells_what_its_author_had_been_shown() {
    let (engine, field) = traced().await;
    let ships = add(&field, from("b", None), json!({"content": "three ships"})).await.unwrap();
    add(&field, from("b", None), json!({"content": "a harbour"})).await.unwrap();
    let seen = attune(&field, from("a", None), Some("buy ships")).await;
    assert!(seen.trace_id.as_ref().unwrap().starts_with("trace-"));
    let made = add(&field, from("a", None), decision("we buy one")).await.unwrap();
    let told = replay(&field, from("b", None), "decision", &made).await;
    let [attuned] = shown(&told)[..] else { panic!("{told:?}") };
    assert_eq!(attuned.agent_id, "a");
    let score = format!("{ships} ({:.2})", seen.record[0].relevance_score);
    let expected = format!("Attuned as planner for \"buy ships\": shown {score}, ");
    assert!(attuned.description.starts_with(&expected), "{}", attuned.description);
    let shown = "a had been shown for \"buy ships\", at epoch 6: b's finding \"three ships\", ";
    assert!(told.summary.contains(shown), "{}", told.summary);
    let again = open(&engine, None);
    assert_eq!(again.state_hash(), field.state_hash());
}

#[tokio::test]
async fn each_unit_names_what_was_shown_since_the_one_before_or_else_before_that() {
    let (_, field) = traced().await;
    add(&field, from("b", None), json!({"content": "three ships"})).await.unwrap();
    for hint in ["one", "two"] {
        attune(&field, from("a", None), Some(hint)).await;
    }
    attune(&field, from("b", None), Some("of another")).await;
    attune(&field, from("a", Some("label")), Some("elsewhere")).await;
    let first = add(&field, from("a", None), decision("first")).await.unwrap();
    let second = add(&field, from("a", None), decision("second")).await.unwrap();
    attune(&field, from("a", None), Some("three")).await;
    let third = add(&field, from("a", None), json!({"content": "third"})).await.unwrap();
    for (kind, unit, hints) in [
        ("decision", &first, vec!["one", "two"]),
        ("memory_unit", &second, vec!["one", "two"]),
        ("memory_unit", &third, vec!["three"]),
    ] {
        let told = replay(&field, from("b", None), kind, unit).await;
        let found: Vec<&ReplayEvent> = shown(&told);
        assert_eq!(found.len(), hints.len(), "{found:?}");
        for (event, hint) in found.iter().zip(hints) {
            assert!(event.description.contains(&format!("\"{hint}\"")), "{}", event.description);
        }
    }
}

#[tokio::test]
async fn hints_are_purged_by_session_or_age_and_said_to_be() {
    let (engine, field) = traced().await;
    let label = |agent: &str| from(agent, Some("label"));
    add(&field, label("b"), json!({"content": "three ships"})).await.unwrap();
    attune(&field, label("a"), Some("a xylophone")).await;
    attune(&field, from("a", None), Some("a harp")).await;
    let made = add(&field, label("a"), decision("first")).await.unwrap();
    let free = add(&field, from("a", None), decision("second")).await.unwrap();
    let purge = |id: &'static str, filter: Value| {
        let (payload, _) =
            CompactPayload::parse(json!({"strategy": "purge", "filter": filter})).unwrap();
        field.compact(crate::support::message(id, "a"), payload)
    };
    let by_type = purge("1", json!({"session_id": "label", "types": ["finding"]})).await.unwrap();
    assert_eq!(by_type.units_affected, 1);
    let told = replay(&field, label("b"), "decision", &made).await;
    assert!(shown(&told)[0].description.contains("a xylophone"), "a hint has no type");
    purge("2", json!({"session_id": "label"})).await.unwrap();
    let told = replay(&field, label("b"), "decision", &made).await;
    let description = &shown(&told)[0].description;
    assert!(description.starts_with("Attuned as planner for (erased): shown"), "{description}");
    let told = replay(&field, from("b", None), "decision", &free).await;
    assert!(shown(&told)[0].description.contains("a harp"));
    let only_hints = purge("3", json!({"max_age_epochs": 3, "status": []})).await.unwrap();
    assert!(only_hints.storage_reclaimed_bytes > Some(0), "{only_hints:?}");
    let told = replay(&field, from("b", None), "decision", &free).await;
    assert!(shown(&told)[0].description.contains("(erased)"));
    let again = open(&engine, None);
    assert_eq!(again.state_hash(), field.state_hash());
}

#[tokio::test]
async fn nothing_is_traced_unless_the_field_or_the_session_asks_for_it() {
    let (_, field) = team(&[("a", "worker", 4)]).await;
    let create = json!({"action": "create", "session_id": "s",
                        "session": {"goal": "g", "policy": {"trace_attunes": true}}});
    let made = session(&field, from("a", None), create).await.unwrap();
    assert!(made.session.unwrap().policy.trace_attunes);
    let head = field.head();
    assert_eq!(attune(&field, from("a", None), None).await.trace_id, None);
    assert_eq!(field.head(), head);
    assert!(attune(&field, from("a", Some("s")), None).await.trace_id.is_some());
    assert_eq!(field.head().position, head.position + 1);
}

#[tokio::test]
async fn who_replays_learns_only_of_shown_units_that_it_may_see() {
    let (_, field) = traced().await;
    let rules = json!([{"role": "r", "below_authority": 10, "deny_types": ["constraint"]}]);
    let create = json!({"action": "create", "session_id": "s",
                        "session": {"goal": "g", "policy": {"visibility_rules": rules}}});
    session(&field, from("a", None), create).await.unwrap();
    let (payload, _) =
        RegisterPayload::parse(json!({"id": "c", "role": "r", "authority_level": 4})).unwrap();
    field.register(from("c", None), payload).await.unwrap();
    session(&field, from("c", None), json!({"action": "join", "session_id": "s"})).await.unwrap();
    let within = |agent: &str| from(agent, Some("s"));
    session(&field, from("b", None), json!({"action": "join", "session_id": "s"})).await.unwrap();
    let secret = json!({"type": "constraint", "content": "a secret"});
    let secret = add(&field, within("b"), secret).await.unwrap();
    let open = add(&field, within("b"), json!({"content": "no secret"})).await.unwrap();
    assert_eq!(attune(&field, within("a"), None).await.record.len(), 2);
    let made = add(&field, within("a"), decision("so be it")).await.unwrap();
    for (agent, sees_secret) in [("b", true), ("c", false)] {
        let told = replay(&field, within(agent), "decision", &made).await;
        let description = &shown(&told)[0].description;
        assert!(description.contains(&open), "{description}");
        assert_eq!(description.contains(&secret), sees_secret, "{description}");
        assert!(!description.contains("more"), "{description}");
    }
}

#[tokio::test]
async fn a_preview_leaves_no_trace_and_takes_an_operators_key() {
    let (_, field) = traced().await;
    let ships = add(&field, from("b", None), json!({"content": "three ships"})).await.unwrap();
    let ask = json!({"scope": {"role": "planner", "max_units": 5, "preview": true}});
    let ask = || AttunePayload::parse(ask.clone()).unwrap().0;
    let head = field.head();
    let key = |authority| Message { authority, ..from("a", None) };
    let seen = field.attune(key(8), ask()).await.unwrap();
    assert_eq!(seen.record[0].memory_unit.id(), ships);
    assert_eq!((seen.trace_id, field.head()), (None, head));
    let refused = field.attune(key(7), ask()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    let made = add(&field, from("a", None), decision("we buy one")).await.unwrap();
    let told = replay(&field, from("b", None), "decision", &made).await;
    assert!(shown(&told).is_empty(), "{told:?}");
}

#[tokio::test]
async fn an_explained_replay_says_by_id_what_each_event_rests_on() {
    let (_, field) = traced().await;
    let ships = add(&field, from("b", None), json!({"content": "three ships"})).await.unwrap();
    let seen = attune(&field, from("a", None), Some("buy ships")).await;
    let link = json!([{"type": "depends_on", "target_id": ships}]);
    let buy = json!({"type": "decision", "content": "we buy one", "relations": link});
    let made = add(&field, from("a", None), buy).await.unwrap();
    let ask = json!({"target_type": "decision", "target_id": made, "explain": true});
    let ask = ReplayPayload::parse(ask).unwrap().0;
    let told = field.replay(from("b", None), ask).await.unwrap();
    let links: Vec<_> = told.timeline.iter().map(|entry| entry.links.clone().unwrap()).collect();
    let [first, attuned, last] = &links[..] else { panic!("{told:?}") };
    let trace = seen.trace_id.unwrap();
    assert_eq!((&first.about, &first.rests_on), (&vec![ships.clone()], &Vec::new()));
    assert_eq!(attuned.about, std::slice::from_ref(&trace));
    assert_eq!(attuned.shown[0].memory_unit_id, ships);
    assert!((attuned.shown[0].relevance_score - seen.record[0].relevance_score).abs() < 1e-9);
    assert_eq!((&last.about, &last.rests_on), (&vec![made.clone()], &vec![ships, trace]));
    let plain = replay(&field, from("b", None), "decision", &made).await;
    assert!(!plain.timeline.is_empty() && plain.timeline.iter().all(|it| it.links.is_none()));
}
