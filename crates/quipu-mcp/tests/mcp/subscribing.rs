//! Subscriptions of both generations: what the client is notified of, and that they end with the client.

use std::time::Duration;

use quipu_mcp::Verb;
use quipu_wire::akashik::Operation;
use rmcp::{
    model::{
        ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    },
    service::Subscription,
};
use serde_json::{Value, json};

use crate::support::{Generation, TinyField, connect};

fn superseded(unit: &str) -> Value {
    json!({"subscription_id": "sub-1", "event": "memory.superseded", "epoch": 4, "relevance_score": 1.0,
           "summary": "s", "memory_unit_id": unit, "conflict_id": null, "requires_action": false, "cursor": "4.0.1"})
}

/// Waits until the Field's subscription is ended.
async fn wait_until_ended(field: &TinyField) {
    let is_end = |verb: &Verb| match verb {
        Verb::Operate(Operation::Subscribe, payload) => payload["action"] == "unsubscribe",
        Verb::Operate(..) | Verb::Read(_) => false,
    };
    let waiting = async {
        while !field.state().calls.iter().any(|call| is_end(&call.verb)) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is ended");
}

#[tokio::test]
#[expect(deprecated, reason = "it is what clients of 2025-11-25 send")]
async fn a_client_with_a_session_is_told_of_the_resources_it_subscribed_to_and_no_others() {
    let field = TinyField::default();
    let mut connected = connect(&field, Generation::WithSessions).await;
    for uri in ["quipu://unit/mem-1", "quipu://unit/mem-2"] {
        connected.client.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
    }
    field.push(superseded("mem-3"));
    field.push(superseded("mem-2"));
    assert_eq!(connected.updates.recv().await.unwrap(), "quipu://unit/mem-2");
    for uri in ["quipu://unit/mem-1", "quipu://unit/mem-2"] {
        connected.client.unsubscribe(UnsubscribeRequestParams::new(uri)).await.unwrap();
    }
    wait_until_ended(&field).await;
}

#[tokio::test]
#[expect(deprecated, reason = "it is what clients of 2025-11-25 send")]
async fn a_client_that_goes_away_leaves_no_subscription_behind() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::WithSessions).await;
    let subscribe = SubscribeRequestParams::new("quipu://unit/mem-1");
    connected.client.subscribe(subscribe).await.unwrap();
    connected.client.cancel().await.unwrap();
    wait_until_ended(&field).await;
}

#[tokio::test]
#[expect(deprecated, reason = "it is what clients of 2025-11-25 send")]
async fn a_resource_of_no_kind_cannot_be_subscribed_to() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::WithSessions).await;
    let subscribe = SubscribeRequestParams::new("quipu://weather/today");
    assert!(connected.client.subscribe(subscribe).await.is_err());
    assert_eq!(field.operations(), []);
}

/// Waits for the next notification of a changed resource and returns its URI.
async fn next_notified(listening: &mut Subscription) -> String {
    let told = listening.next().await.unwrap().unwrap();
    let ServerNotification::ResourceUpdatedNotification(told) = told else { panic!("{told:?}") };
    told.params.uri
}

#[tokio::test]
async fn a_client_without_a_session_is_told_on_a_stream_of_its_own_from_its_first_look_on() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::Stateless).await;
    let filter = SubscriptionFilter::builder()
        .resource_subscription("quipu://unit/mem-1")
        .resource_subscription("quipu://unit/mem-2")
        .resource_subscription("quipu://weather/today")
        .build();
    let mut listening = connected.client.listen(filter).await.unwrap();
    // Once the feed is open, the client is notified of every resource.
    assert_eq!(next_notified(&mut listening).await, "quipu://unit/mem-1");
    assert_eq!(next_notified(&mut listening).await, "quipu://unit/mem-2");
    field.push(superseded("mem-9"));
    field.push(superseded("mem-2"));
    assert_eq!(next_notified(&mut listening).await, "quipu://unit/mem-2");
    drop(listening);
    connected.client.cancel().await.unwrap();
    wait_until_ended(&field).await;
}

#[tokio::test]
async fn a_client_that_listens_to_the_list_is_asked_to_look_at_it_first() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::Stateless).await;
    let filter = SubscriptionFilter::builder().resources_list_changed().build();
    let mut listening = connected.client.listen(filter).await.unwrap();
    let told = listening.next().await.unwrap().unwrap();
    assert!(matches!(told, ServerNotification::ResourceListChangedNotification(_)), "{told:?}");
}
