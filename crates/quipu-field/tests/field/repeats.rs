//! A message that is sent again gets the answer of the first time, whatever became of its subject
//! since, and also where its sender has left.

use std::sync::Arc;

use crate::{
    coordination::{act, coordinate, from, handoff, make, session, team},
    state_from_log::{handoff_payload, name, rebuilt, runtime, session_payload, task_payload},
    support::{message, open, record, register},
};
use proptest::prelude::*;
use quipu_core::Message;
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{DeregisterPayload, SubscribePayload},
};
use serde_json::{Value, json};

/// A write that is sent, and may be sent again.
#[derive(Debug, Clone)]
enum Sent {
    Session(Message, Value),
    Task(Message, Value),
    Handoff(Message, Value),
}

impl Sent {
    fn message(&self) -> &Message {
        match self {
            Self::Session(from, _) | Self::Task(from, _) | Self::Handoff(from, _) => from,
        }
    }

    /// Sends it. Answers the answer as text, and the handoff that it is about.
    async fn send(&self, field: &Arc<Field>) -> (String, Option<String>) {
        match self.clone() {
            Self::Session(from, payload) => {
                (format!("{:?}", session(field, from, payload).await), None)
            }
            Self::Task(from, payload) => {
                (format!("{:?}", coordinate(field, from, payload).await), None)
            }
            Self::Handoff(from, payload) => {
                let answer = handoff(field, from, payload).await;
                let id = answer.iter().filter_map(|answer| answer.handoff.as_ref()).next();
                let id = id.map(|handoff| handoff.id.clone());
                (format!("{answer:?}"), id)
            }
        }
    }
}

/// What is done, by whom, to which thing.
fn steps() -> impl Strategy<Value = Vec<(u8, u8, u8, u8)>> {
    proptest::collection::vec((0u8..3, 0u8..3, 0u8..3, 0u8..12), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_write_about_sessions_tasks_and_handoffs_is_answered_as_the_first_time(
        steps in steps(),
    ) {
        runtime().block_on(async {
            let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
            let field = open(&engine, None);
            for agent in 0..3 {
                register(&field, &name(agent)).await.unwrap();
            }
            let mut offers: Vec<String> = Vec::new();
            let mut answered = Vec::new();
            for (at, (kind, by, id, what)) in steps.into_iter().enumerate() {
                let from = message(&format!("m{at}"), &name(by));
                let sent = match kind {
                    0 => Sent::Session(from, session_payload(id, what % 7)),
                    1 => Sent::Task(from, task_payload(by, id, what)),
                    _ => Sent::Handoff(from, handoff_payload(id, what % 4, offers.last())),
                };
                let (answer, offer) = sent.send(&field).await;
                offers.extend(offer);
                answered.push((sent, answer));
            }
            let done = rebuilt(&engine).state.messages;
            for (sent, answer) in answered {
                let from = sent.message();
                if done.find(&from.agent, &from.id).is_some() {
                    prop_assert_eq!(sent.send(&field).await.0, answer);
                }
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_repetition_does_not_tell_of_what_happened_since() {
    let (_, field) = team(&[("a", "worker", 4), ("b", "worker", 4)]).await;
    let create = json!({"action": "create", "session_id": "s", "session": {"goal": "g"}});
    let made = session(&field, message("s1", "a"), create.clone()).await.unwrap();
    let join = json!({"action": "join", "session_id": "s"});
    session(&field, message("s2", "b"), join).await.unwrap();
    session(&field, message("s3", "a"), json!({"action": "end", "session_id": "s"})).await.unwrap();
    let again = session(&field, message("s1", "a"), create).await.unwrap();
    assert_eq!(again, made);
    assert_eq!(again.session.unwrap().members, ["a"]);

    make(&field, from("a", None), "t", json!({"assignee": "a"})).await;
    let start = json!({"action": "start", "task_id": "t"});
    let started = coordinate(&field, message("t1", "a"), start.clone()).await.unwrap();
    act(&field, from("a", None), "t", "complete").await.unwrap();
    assert_eq!(coordinate(&field, message("t1", "a"), start).await.unwrap(), started);
}

async fn subscribe(field: &Arc<Field>, id: &str, payload: Value) -> String {
    let (payload, _) = SubscribePayload::parse(payload).unwrap();
    format!("{:?}", field.subscribe(message(id, "a"), payload).await.unwrap())
}

#[tokio::test]
async fn a_subscription_is_told_again_also_after_it_ended() {
    let (engine, field) = team(&[("a", "worker", 4)]).await;
    let ask = json!({"action": "subscribe",
                     "subscription": {"events": ["memory.recorded"], "debounce_ms": 5}});
    let made = subscribe(&field, "1", ask.clone()).await;
    let id = rebuilt(&engine).state.subscriptions.of_agent("a").next().unwrap().0.to_string();
    let end = json!({"action": "unsubscribe", "subscription": {"id": id}});
    let ended = subscribe(&field, "2", end.clone()).await;
    assert_eq!(made, ended, "what ended is what was made");
    assert_eq!(subscribe(&field, "1", ask).await, made);
    assert_eq!(subscribe(&field, "2", end.clone()).await, ended);
    assert!(subscribe(&field, "3", end).await.contains("NotFound"));
}

#[tokio::test]
async fn who_has_left_still_gets_the_answers_of_the_first_time_and_nothing_else() {
    let (_, field) = team(&[("a", "worker", 4)]).await;
    let first = record(&field, message("m", "a"), "a ship", json!([])).await.unwrap();
    let leave = DeregisterPayload { agent_id: "a".to_owned() };
    field.deregister(message("bye", "a"), leave).await.unwrap();
    field.admit(&message("m", "a"), 4).unwrap();
    assert_eq!(record(&field, message("m", "a"), "a ship", json!([])).await.unwrap(), first);
    let other = record(&field, message("m", "a"), "another", json!([])).await.unwrap_err();
    assert_eq!(other.code(), ErrorCode::MessageIdReused);
    let unknown = field.admit(&message("new", "a"), 4).unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::AgentNotRegistered);
}
