//! Feeds: what has happened and then what happens, each Event once.

use quipu_harness::{EventFeed, EventScope, Fed};
use quipu_wire::harn::{Event, HarnErrorCode};
use serde_json::json;

use crate::support::{caller, claim, complete, harness, persona, submit};

async fn event(feed: &mut EventFeed) -> Event {
    let fed = feed.next().await.unwrap();
    let Fed::Event(event) = fed else { panic!("{fed:?}") };
    *event
}

#[tokio::test]
async fn a_feed_tells_the_past_as_replayed_and_the_present_as_it_is_and_ends_with_its_task() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let id = submit(&harness, json!({"persona_id": persona, "input": "x"})).await;
    let mut feed = harness.feed(&caller("alice"), EventScope::task(&id), None).await.unwrap();
    let first = event(&mut feed).await;
    assert_eq!((first.event.as_str(), first.replayed), ("task.submitted", true));
    claim(&harness, &id).await;
    let second = event(&mut feed).await;
    assert_eq!((second.event.as_str(), second.replayed), ("task.started", false));
    assert_eq!(second.previous_event_id, Some(first.envelope.id.clone()));
    complete(&harness, &id).await;
    let mut names = Vec::new();
    loop {
        match feed.next().await.unwrap() {
            Fed::Event(event) => names.push(event.event.to_string()),
            Fed::Over => break,
            Fed::Closed => panic!("the Field is open"),
        }
    }
    assert_eq!(names.last().map(String::as_str), Some("receipt.issued"));
    let after = Some(first.envelope.id.as_str());
    let mut resumed = harness.feed(&caller("alice"), EventScope::task(&id), after).await.unwrap();
    let again = event(&mut resumed).await;
    assert_eq!((again.envelope.id, again.replayed), (second.envelope.id, true));
}

#[tokio::test]
async fn nothing_is_lost_and_nothing_told_twice_while_others_write() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let writer = {
        let (harness, persona) = (harness.clone(), persona.clone());
        tokio::spawn(async move {
            for _ in 0..40 {
                submit(&harness, json!({"persona_id": persona, "input": "x"})).await;
            }
        })
    };
    let scope = EventScope::session("session_default");
    let mut feed = harness.feed(&caller("alice"), scope.clone(), None).await.unwrap();
    let mut told = Vec::new();
    while told.len() < 40 {
        // A wait that is given up loses nothing.
        let fed = tokio::select! {
            biased;
            fed = feed.next() => fed,
            () = tokio::task::yield_now() => feed.next().await,
        };
        if let Fed::Event(event) = fed.unwrap() {
            told.push(event.envelope.id);
        }
    }
    writer.await.unwrap();
    let all = harness.events(&caller("alice"), scope, None, 200).await.unwrap().data;
    let all: Vec<_> = all.into_iter().map(|event| event.envelope.id).collect();
    assert_eq!(told, all);
}

#[tokio::test]
async fn a_cursor_that_cannot_be_used_opens_no_feed_and_a_closed_field_ends_one() {
    let harness = harness();
    let scope = EventScope::default();
    let unknown = Some("event_00000000000000ff");
    let refused = harness.feed(&caller("alice"), scope.clone(), unknown).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::CursorExpired);
    let mut feed = harness.feed(&caller("alice"), scope, None).await.unwrap();
    let closing = harness.clone();
    let (fed, ()) = tokio::join!(feed.next(), async move { closing.field().close().await });
    assert!(matches!(fed.unwrap(), Fed::Closed));
}
