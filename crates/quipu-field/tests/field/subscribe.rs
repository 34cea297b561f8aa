//! SUBSCRIBE by its rules, and what is pushed: everything once, in order, the same for whoever resumes.

use std::{sync::Arc, time::Duration};

use crate::{
    coordination::{act, from, handoff, make, session},
    support::{message, open, record, register},
};
use quipu_core::Origin;
use quipu_field::{
    Field, FieldOptions,
    push::{Delivery, End, PushStream},
};
use quipu_log::{Engine, FieldName, MemoryEngine, Salt};
use quipu_wire::{
    ErrorCode,
    akashik::{
        DeregisterPayload, PushNotification, RegisterPayload, SubscribePayload, SubscribeResponse,
        SubscribeStatus, SubscriptionEvent,
    },
};
use serde_json::{Value, json};

fn memory() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

async fn ask(
    field: &Arc<Field>,
    agent: &str,
    id: &str,
    payload: Value,
) -> Result<SubscribeResponse, ErrorCode> {
    let (payload, _) = SubscribePayload::parse(payload).unwrap();
    field.subscribe(message(id, agent), payload).await.map_err(|error| error.code())
}

async fn subscribe(field: &Arc<Field>, agent: &str, subscription: Value) -> (String, String) {
    let payload = json!({"action": "subscribe", "subscription": subscription});
    let id = format!("subscribe-{agent}-{subscription}");
    let made = ask(field, agent, &id, payload).await.unwrap().subscription.unwrap();
    (made.id, made.cursor)
}

const ALL: [&str; 5] = [
    "memory.recorded",
    "memory.superseded",
    "memory.contested",
    "conflict.detected",
    "agent.joined",
];

async fn next(stream: &mut PushStream) -> PushNotification {
    let waiting = tokio::time::timeout(Duration::from_secs(20), stream.next());
    match waiting.await.expect("a push in time").unwrap() {
        Delivery::Push(push) => *push,
        Delivery::End(end) => panic!("ended: {end:?}"),
    }
}

/// Everything that is pushed after a cursor until the agent `last` joins.
async fn until(field: &Arc<Field>, id: &str, after: &str, last: &str) -> Vec<PushNotification> {
    until_by(field, 10, id, after, last).await
}

/// The same through a key of an authority.
async fn until_by(
    field: &Arc<Field>,
    authority: u8,
    id: &str,
    after: &str,
    last: &str,
) -> Vec<PushNotification> {
    let mut stream = field.pushes(None, authority, id, Some(after)).await.unwrap();
    let mut all = Vec::new();
    loop {
        let push = next(&mut stream).await;
        if push.summary.starts_with(last) {
            return all;
        }
        all.push(push);
    }
}

#[tokio::test]
async fn subscriptions_are_made_listed_and_ended_by_their_agent_alone() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let (id, _) = subscribe(&field, "a", json!({"events": ALL, "min_relevance": 0.5})).await;
    let list = json!({"action": "list"});
    let own = ask(&field, "a", "l", list.clone()).await.unwrap().subscriptions.unwrap();
    assert_eq!((own.len(), own[0].id.as_str(), own[0].min_relevance), (1, id.as_str(), Some(0.5)));
    assert_eq!(ask(&field, "b", "l", list.clone()).await.unwrap().subscriptions, Some(Vec::new()));
    let end = json!({"action": "unsubscribe", "subscription": {"id": id}});
    let head = field.head();
    assert_eq!(ask(&field, "b", "e", end.clone()).await.unwrap().status, SubscribeStatus::NotFound);
    assert_eq!(field.head(), head, "nothing happened");
    let ended = ask(&field, "a", "e", end.clone()).await.unwrap();
    assert_eq!((ended.status, ended.subscription.unwrap().id), (SubscribeStatus::Ok, id));
    assert_eq!(
        ask(&field, "a", "e", end.clone()).await.unwrap().status,
        SubscribeStatus::Ok,
        "again"
    );
    assert_eq!(ask(&field, "a", "e2", end).await.unwrap().status, SubscribeStatus::NotFound);
    assert_eq!(ask(&field, "a", "l", list).await.unwrap().subscriptions, Some(Vec::new()));
}

#[tokio::test]
async fn an_incoming_handoff_says_who_offers_what_and_why() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let (id, cursor) = subscribe(&field, "b", json!({"events": ["handoff.incoming"]})).await;
    make(&field, from("a", None), "t1", json!({"assignee": "a"})).await;
    let offer =
        json!({"action": "offer", "task_id": "t1", "to_agent": "b", "reason": "my shift ends"});
    let offered = handoff(&field, from("a", None), offer).await.unwrap().handoff.unwrap();
    let mut stream = field.pushes(None, 10, &id, Some(&cursor)).await.unwrap();
    let push = next(&mut stream).await;
    assert_eq!(push.summary, format!("a offers t1 ({}): my shift ends", offered.id));
}

#[tokio::test]
async fn what_moves_a_task_by_itself_is_told_where_the_task_is() {
    let field = open(&memory(), None);
    for agent in ["a", "member", "out"] {
        register(&field, agent).await.unwrap();
    }
    let on = async |payload: Value| session(&field, from("a", None), payload).await.unwrap();
    on(json!({"action": "create", "session_id": "s", "session": {"goal": "g"}})).await;
    on(json!({"action": "join", "session_id": "s", "agent_id": "member"})).await;
    let wanted = json!({"events": ["task.state_changed", "agent.joined"]});
    let (inside, from_inside) = subscribe(&field, "member", wanted.clone()).await;
    let (outside, from_outside) = subscribe(&field, "out", wanted).await;
    make(&field, from("a", Some("s")), "t1", json!({"assignee": "a"})).await;
    // Said outside of the session, and done to all tasks that are open in it.
    act(&field, from("a", None), "t1", "start").await.unwrap();
    on(json!({"action": "end", "session_id": "s"})).await;
    register(&field, "late").await.unwrap();
    let weak = |id: &str, after: &str| {
        let (id, after, field) = (id.to_owned(), after.to_owned(), Arc::clone(&field));
        async move { until_by(&field, 4, &id, &after, "late").await.len() }
    };
    assert_eq!(weak(&inside, &from_inside).await, 3);
    assert_eq!(weak(&outside, &from_outside).await, 0);
}

#[tokio::test]
async fn subscribing_needs_a_registered_agent_with_authority_two() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    let payload = json!({"action": "subscribe", "subscription": {"events": ["agent.joined"]}});
    let (payload, _) = SubscribePayload::parse(payload).unwrap();
    let mut from = message("m", "a");
    from.authority = 1;
    let refused = field.subscribe(from.clone(), payload.clone()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    from.authority = 2;
    assert!(field.subscribe(from, payload.clone()).await.is_ok());
    let ghost = field.subscribe(message("m", "ghost"), payload).await.unwrap_err();
    assert_eq!(ghost.code(), ErrorCode::AgentNotRegistered);
}

#[tokio::test]
async fn a_conflict_is_pushed_with_everything_that_follows_from_it() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let old = record(&field, message("1", "a"), "ships float", json!([])).await.unwrap();
    let (id, cursor) = subscribe(&field, "a", json!({"events": ALL})).await;
    let against =
        json!([{"type": "contradicts", "target_id": old.memory_unit_id, "description": "no"}]);
    let new = record(&field, message("2", "b"), "ships sink", against).await.unwrap();
    register(&field, "z").await.unwrap();
    let pushed = until(&field, &id, &cursor, "z").await;
    let events: Vec<_> = pushed.iter().map(|push| (push.event, push.requires_action)).collect();
    assert_eq!(
        events,
        [
            (SubscriptionEvent::MemoryRecorded, false),
            (SubscriptionEvent::ConflictDetected, true),
            (SubscriptionEvent::MemoryContested, true),
            (SubscriptionEvent::MemoryContested, false),
        ]
    );
    assert!(pushed.iter().all(|push| push.epoch == new.epoch && push.subscription_id == id));
    assert_eq!(pushed[0].memory_unit_id.as_ref(), Some(&new.memory_unit_id));
    assert_eq!(pushed[0].summary, "Finding from role of b recorded: ships sink");
    assert_eq!(pushed[1].conflict_id.as_ref(), Some(&new.conflicts_detected[0]));
    let said = "b's finding \"ships sink\" against a's finding \"ships float\": no";
    assert_eq!((pushed[1].summary.as_str(), pushed[1].relevance_score), (said, 1.0));
    assert_eq!(pushed[2].memory_unit_id.as_ref(), Some(&old.memory_unit_id));
    for (at, push) in pushed.iter().enumerate() {
        assert_eq!(until(&field, &id, &push.cursor, "z").await, pushed[at + 1..], "after {at}");
    }
}

#[tokio::test]
async fn what_an_agent_does_itself_and_what_was_before_is_not_pushed() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    record(&field, message("0", "b"), "before", json!([])).await.unwrap();
    let (id, _) = subscribe(&field, "a", json!({"events": ALL})).await;
    record(&field, message("1", "a"), "my own", json!([])).await.unwrap();
    record(&field, message("2", "b"), "another's", json!([])).await.unwrap();
    register(&field, "z").await.unwrap();
    let pushed = until(&field, &id, "0.0.0", "z").await;
    let summaries: Vec<_> = pushed.iter().map(|push| push.summary.as_str()).collect();
    assert_eq!(summaries, ["Finding from role of b recorded: another's"]);
}

#[tokio::test]
async fn a_stream_without_a_cursor_begins_behind_everything_that_was_answered() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    let (id, _) = subscribe(&field, "a", json!({"events": ["agent.joined"]})).await;
    for number in 0..200 {
        register(&field, &format!("early-{number}")).await.unwrap();
        let mut stream = field.pushes(None, 10, &id, None).await.unwrap();
        register(&field, &format!("late-{number}")).await.unwrap();
        let summary = next(&mut stream).await.summary;
        assert!(summary.starts_with(&format!("late-{number}")), "{summary}");
    }
}

#[tokio::test]
async fn what_is_less_relevant_than_asked_is_not_pushed() {
    let field = open(&memory(), None);
    let payload = json!({"id": "a", "role": "captain", "interests": ["harbour fees"]});
    let (payload, _) = RegisterPayload::parse(payload).unwrap();
    field.register(message("r", "a"), payload).await.unwrap();
    register(&field, "b").await.unwrap();
    let everything = subscribe(&field, "a", json!({"events": ALL})).await;
    let some = subscribe(&field, "a", json!({"events": ALL, "min_relevance": 0.5})).await;
    record(&field, message("1", "b"), "The weather is fine", json!([])).await.unwrap();
    record(&field, message("2", "b"), "The harbour raised its fees", json!([])).await.unwrap();
    register(&field, "z").await.unwrap();
    let all = until(&field, &everything.0, &everything.1, "z").await;
    let scores: Vec<f64> = all.iter().map(|push| push.relevance_score).collect();
    assert!(scores[0] < 0.5 && scores[1] >= 0.5, "{scores:?}");
    let kept = until(&field, &some.0, &some.1, "z").await;
    let score = |push: &PushNotification| (push.summary.clone(), push.relevance_score.to_bits());
    assert_eq!(kept.iter().map(score).collect::<Vec<_>>(), [score(&all[1])]);
    // The score of an event does not move when the Field grows.
    for number in 0..20 {
        let id = format!("later-{number}");
        record(&field, message(&id, "b"), "harbour fees again", json!([])).await.unwrap();
    }
    assert_eq!(until(&field, &some.0, &some.1, "z").await, kept);
}

/// A clock that moves ten milliseconds a look.
#[derive(Debug, Default)]
struct TickingOrigin(std::sync::atomic::AtomicU64);

impl Origin for TickingOrigin {
    fn now_ms(&self) -> u64 {
        let look = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // A quiet minute now and then.
        1_772_361_000_000 + look * 10 + look / 17 * 60_000
    }

    fn id_bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }

    fn salt(&self) -> Salt {
        Salt::from_bytes([7; 16])
    }
}

#[tokio::test]
async fn the_first_of_many_about_the_same_thing_wins_also_for_whoever_resumes() {
    let engine = memory();
    let options = FieldOptions::new(Arc::new(TickingOrigin::default()));
    let field = Field::open(engine, FieldName::default_field(), options).unwrap();
    register(&field, "a").await.unwrap();
    let (every, cursor) = subscribe(&field, "a", json!({"events": ["agent.joined"]})).await;
    let debounced = json!({"events": ["agent.joined"], "debounce_ms": 100});
    let (some, _) = subscribe(&field, "a", debounced).await;
    for number in 0..60 {
        let (payload, _) = RegisterPayload::parse(json!({"id": "b", "role": "r"})).unwrap();
        field.register(message(&format!("j{number}"), "b"), payload).await.unwrap();
        let gone = DeregisterPayload { agent_id: "b".to_owned() };
        field.deregister(message(&format!("g{number}"), "b"), gone).await.unwrap();
    }
    register(&field, "z").await.unwrap();
    let all = until(&field, &every, &cursor, "z").await;
    let kept = until(&field, &some, &cursor, "z").await;
    assert_eq!(all.len(), 60);
    assert!(kept.len() > 5 && kept.len() < 40, "{}", kept.len());
    for (at, push) in kept.iter().enumerate() {
        assert_eq!(until(&field, &some, &push.cursor, "z").await, kept[at + 1..], "after {at}");
    }
    for push in &all {
        let rest = until(&field, &some, &push.cursor, "z").await;
        assert_eq!(rest, kept[kept.len() - rest.len()..], "from anywhere");
    }
}

#[tokio::test]
async fn a_subscription_survives_a_restart_and_a_stream_resumes_across_it() {
    let engine = memory();
    let folder = tempfile::tempdir().unwrap();
    let field = open(&engine, Some(folder.path().to_owned()));
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let (id, cursor) = subscribe(&field, "a", json!({"events": ALL})).await;
    record(&field, message("1", "b"), "first", json!([])).await.unwrap();
    let mut stream = field.pushes(None, 10, &id, Some(&cursor)).await.unwrap();
    let first = next(&mut stream).await;
    let hash = field.state_hash();
    field.close().await;
    assert_eq!(stream.next().await.unwrap(), Delivery::End(End::Closed));

    let field = open(&engine, Some(folder.path().to_owned()));
    assert_ne!(hash, field.state_hash(), "closing is noted");
    record(&field, message("2", "b"), "second", json!([])).await.unwrap();
    let mut stream = field.pushes(None, 10, &id, Some(&first.cursor)).await.unwrap();
    assert!(next(&mut stream).await.summary.ends_with("second"));
}

#[tokio::test]
async fn a_stream_ends_when_its_subscription_does_and_when_its_agent_leaves() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let (one, cursor) = subscribe(&field, "a", json!({"events": ALL})).await;
    let (other, _) = subscribe(&field, "a", json!({"events": ["agent.joined"]})).await;
    let mut first = field.pushes(Some("a"), 10, &one, Some(&cursor)).await.unwrap();
    let mut second = field.pushes(Some("a"), 10, &other, None).await.unwrap();
    let end = json!({"action": "unsubscribe", "subscription": {"id": one}});
    ask(&field, "a", "end", end).await.unwrap();
    assert_eq!(first.next().await.unwrap(), Delivery::End(End::Unsubscribed));
    let gone = DeregisterPayload { agent_id: "a".to_owned() };
    field.deregister(message("gone", "a"), gone).await.unwrap();
    assert_eq!(second.next().await.unwrap(), Delivery::End(End::Unsubscribed));
    for id in [one, other] {
        let refused = field.pushes(None, 10, &id, None).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::UnitNotFound);
    }
}

#[tokio::test]
async fn a_stream_is_refused_to_strangers_and_for_cursors_from_elsewhere() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    let (id, _) = subscribe(&field, "a", json!({"events": ALL})).await;
    let refused = async |speaker, authority, id: &str, after| {
        field.pushes(speaker, authority, id, after).await.unwrap_err().code()
    };
    assert_eq!(refused(Some("b"), 10, &id, None).await, ErrorCode::UnitNotFound);
    assert_eq!(refused(None, 10, "sub-x", None).await, ErrorCode::UnitNotFound);
    assert_eq!(refused(Some("a"), 1, &id, None).await, ErrorCode::InsufficientAuthority);
    assert_eq!(refused(None, 10, &id, Some("soon")).await, ErrorCode::InvalidPayload);
    assert_eq!(refused(None, 10, &id, Some("9999.0.0")).await, ErrorCode::InvalidPayload);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn streams_that_come_and_go_while_units_are_recorded_lose_and_repeat_nothing() {
    const UNITS: usize = 400;
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let (id, cursor) = subscribe(&field, "a", json!({"events": ALL})).await;
    let writing = tokio::spawn({
        let field = Arc::clone(&field);
        async move {
            for number in 0..UNITS {
                let (id, text) = (format!("m{number}"), format!("unit {number}"));
                record(&field, message(&id, "b"), &text, json!([])).await.unwrap();
            }
        }
    });
    let (mut after, mut told, mut visit) = (cursor, Vec::new(), 0);
    while told.len() < UNITS {
        // Now and then nobody listens, and now and then one listens without waiting.
        let mut stream = field.pushes(None, 10, &id, Some(&after)).await.unwrap();
        let wanted = (visit % 4).min(UNITS - told.len());
        visit += 1;
        for _ in 0..wanted {
            let push = next(&mut stream).await;
            after = push.cursor;
            told.push(push.summary);
        }
    }
    writing.await.unwrap();
    let expected = |number| format!("Finding from role of b recorded: unit {number}");
    assert_eq!(told, (0..UNITS).map(expected).collect::<Vec<_>>());
}

#[tokio::test]
async fn whoever_comes_after_a_pause_is_told_of_all_that_follows_and_nothing_before() {
    let field = open(&memory(), None);
    register(&field, "a").await.unwrap();
    register(&field, "b").await.unwrap();
    let (id, _) = subscribe(&field, "a", json!({"events": ALL})).await;
    for round in 0..50 {
        let said = async |what: &str| {
            let (id, text) = (format!("{what}-{round}"), format!("{what} {round}"));
            record(&field, message(&id, "b"), &text, json!([])).await.unwrap();
        };
        said("missed").await;
        said("missed too").await;
        let mut stream = field.pushes(None, 10, &id, None).await.unwrap();
        said("heard").await;
        let told = next(&mut stream).await.summary;
        assert_eq!(told, format!("Finding from role of b recorded: heard {round}"));
    }
}
