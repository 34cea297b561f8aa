//! Ranges of Events: stable, in order, and never of what the caller may not know of.

use quipu_harness::{EventPosition, EventScope, Harness};
use quipu_wire::harn::{Event, HarnErrorCode};
use serde_json::json;

use crate::support::{
    asked, caller, claim, complete, harness, persona, private_session, submit, submit_in,
};

async fn range(
    harness: &Harness,
    scope: EventScope,
    after: Option<&str>,
    limit: usize,
) -> Vec<Event> {
    harness.events(&caller("alice"), scope, after, limit).await.unwrap().data
}

fn ids(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.envelope.id.as_str()).collect()
}

#[tokio::test]
async fn a_range_read_in_pieces_is_the_range_and_reading_it_again_changes_nothing() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    for _ in 0..3 {
        let id = submit(&harness, json!({"persona_id": persona, "input": "x"})).await;
        claim(&harness, &id).await;
        complete(&harness, &id).await;
    }
    let whole = range(&harness, EventScope::default(), None, 200).await;
    assert!(whole.len() > 15, "{}", whole.len());
    for step in [1, 2, 7] {
        let (mut pieces, mut after) = (Vec::new(), None::<String>);
        loop {
            let scope = EventScope::default();
            let list =
                harness.events(&caller("alice"), scope, after.as_deref(), step).await.unwrap();
            pieces.extend(list.data);
            after = list.next_cursor;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(pieces, whole);
    }
    let places = whole.iter().map(|event| EventPosition::parse(&event.envelope.id).unwrap());
    assert!(places.clone().zip(places.skip(1)).all(|(one, next)| one < next));
    for event in &whole {
        assert_eq!(harness.event(&caller("bob"), &event.envelope.id).await.unwrap(), *event);
    }
}

#[tokio::test]
async fn a_tasks_range_is_its_own_and_a_sessions_has_all_of_its_tasks() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let body = json!({"persona_id": persona, "input": "x"});
    let (one, other) = (submit(&harness, body.clone()).await, submit(&harness, body).await);
    let of_one = range(&harness, EventScope::task(&one), None, 200).await;
    assert!(of_one.iter().all(|event| event.task_id.as_ref() == Some(&one)) && of_one.len() == 1);
    assert_eq!(of_one[0].previous_event_id, None);
    let session = range(&harness, EventScope::session("session_default"), None, 200).await;
    let of_other = range(&harness, EventScope::task(&other), None, 200).await;
    assert_eq!(ids(&session), [ids(&of_one), ids(&of_other)].concat());
    let elsewhere =
        EventScope { workspace: Some("workspace_other".to_owned()), ..EventScope::default() };
    assert!(range(&harness, elsewhere, None, 200).await.is_empty());
}

#[tokio::test]
async fn a_cursor_that_is_not_of_the_range_is_gone() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let body = json!({"persona_id": persona, "input": "x"});
    let (one, other) = (submit(&harness, body.clone()).await, submit(&harness, body).await);
    let of_other = range(&harness, EventScope::task(&other), None, 200).await;
    let foreign = of_other[0].envelope.id.clone();
    for after in
        [&foreign, "event_0000000000000000", "event_ffffffffffffffff", "event_x", "", "\u{0}"]
    {
        let refused =
            harness.events(&caller("alice"), EventScope::task(&one), Some(after), 10).await;
        assert_eq!(refused.unwrap_err().code, HarnErrorCode::CursorExpired, "{after:?}");
    }
    for id in ["event_0000000000000000", "event_ffffffffffffffff", "event_x", "task_1"] {
        let refused = harness.event(&caller("alice"), id).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::ResourceNotFound, "{id}");
    }
}

#[tokio::test]
async fn what_happens_in_a_hidden_session_is_told_to_nobody_else() {
    let harness = harness();
    private_session(&harness, "carol", "secret-plans").await;
    let id = submit_in(&harness, "carol", "secret-plans", json!({"input": "x"})).await;
    let seen = range(&harness, EventScope::default(), None, 200).await;
    assert!(seen.iter().all(|event| event.session_id.as_deref() != Some("secret-plans")));
    let carol = caller("carol");
    let own = harness.events(&carol, EventScope::task(&id), None, 200).await.unwrap().data;
    assert!(!own.is_empty());
    let first = own[0].envelope.id.as_str();
    let refused = harness.event(&caller("alice"), first).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::ResourceNotFound);
    let scope = EventScope::default();
    let refused = harness.events(&caller("alice"), scope, Some(first), 10).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::CursorExpired);
    assert!(harness.check_task(&caller("alice"), &id).is_err());
    assert!(harness.check_session(&caller("alice"), "secret-plans").is_err());
    assert!(harness.check_session(&asked("carol").caller, "secret-plans").is_ok());
}
