//! Traced ATTUNEs: what an agent was shown is in the log, and REPLAY of what it recorded afterwards says so.

use std::sync::Arc;

use crate::{
    coordination::{add, from, session, team},
    support::open,
};
use quipu_field::{Field, FieldOptions, Message, ScriptedOrigin};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::akashik::{
    AttunePayload, AttuneResponse, RegisterPayload, ReplayEvent, ReplayPayload, ReplayResponse,
};
use serde_json::{Value, json};

async fn traced() -> (Arc<dyn Engine>, Arc<Field>) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let options = FieldOptions {
        trace_attunes: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    let field = Field::open(Arc::clone(&engine), FieldName::default_field(), options).unwrap();
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
    assert!(told.summary.contains("a had been shown mem-"), "{}", told.summary);
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
