//! Streams that are cut: they go on where they were, with nothing twice and nothing left out.

use quipu_client::ClientError;

use crate::support::{Script, json};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn push(cursor: &str, summary: &str) -> String {
    let data = format!(
        r#"{{"subscription_id":"sub-1","event":"memory.recorded","epoch":4,"relevance_score":0.5,"summary":"{summary}","memory_unit_id":"mem-1","conflict_id":null,"requires_action":false,"cursor":"{cursor}"}}"#
    );
    chunk(&format!("id: {cursor}\nevent: memory.recorded\ndata: {data}\n\n"))
}

fn end(reason: &str) -> String {
    chunk(&format!(
        "event: end\nid: 9.0.0\ndata: {{\"reason\":\"{reason}\",\"cursor\":\"9.0.0\"}}\n\n"
    ))
}

/// A stream that is cut in the middle of a chunk.
fn cut(parts: &[String]) -> Vec<u8> {
    format!("{HEAD}{}40\r\nid: 7", parts.concat()).into_bytes()
}

fn ended(parts: &[String]) -> Vec<u8> {
    format!("{HEAD}{}0\r\n\r\n", parts.concat()).into_bytes()
}

#[tokio::test]
async fn a_cut_stream_goes_on_after_the_last_push() {
    let opening = chunk("retry: 1000\nid: 3.0.0\n\n");
    let mut script = Script::play(vec![
        cut(&[opening.clone(), push("4.0.1", "one"), push("5.0.1", "two")]),
        Vec::new(),
        ended(&[opening, push("6.0.1", "three"), end("shutdown")]),
        ended(&[end("unsubscribed")]),
    ])
    .await;
    let ada = script.connect().build().unwrap().agent("ada", "researcher").unwrap();
    let mut pushes = ada.pushes_after("sub-1", "3.0.0");
    let mut told = Vec::new();
    while let Some(push) = pushes.next().await {
        told.push(push.unwrap().summary);
    }
    assert_eq!(told, ["one", "two", "three"]);
    assert!(pushes.next().await.is_none());
    for cursor in ["3.0.0", "5.0.1", "5.0.1", "9.0.0"] {
        let head = script.heard().await;
        assert!(head.contains(&format!("last-event-id: {cursor}\r\n")), "{cursor} {head}");
        assert!(head.starts_with("GET /v1/subscriptions/sub-1/events "), "{head}");
    }
}

#[tokio::test]
async fn a_stream_that_is_refused_ends_with_the_refusal() {
    let refused = quipu_client::ProtocolError::new(
        quipu_client::ErrorCode::Unauthenticated,
        "the key was revoked",
    );
    let refused = serde_json::to_string(&refused).unwrap();
    let script = Script::play(vec![
        ended(&[push("4.0.1", "one"), end("unauthenticated")]),
        json("401 Unauthorized", &refused),
    ])
    .await;
    let ada = script.connect().build().unwrap().agent("ada", "researcher").unwrap();
    let mut pushes = ada.pushes_after("sub-1", "3.0.0");
    assert_eq!(pushes.next().await.unwrap().unwrap().summary, "one");
    let error = pushes.next().await.unwrap().unwrap_err();
    assert!(error.is(quipu_client::ErrorCode::Unauthenticated), "{error}");
    assert!(pushes.next().await.is_none());
}

#[tokio::test]
async fn a_stream_that_is_none_is_an_error() {
    let script = Script::play(vec![ended(&[chunk("data: hello\n\n")])]).await;
    let ada = script.connect().build().unwrap().agent("ada", "researcher").unwrap();
    let error = ada.pushes_after("sub-1", "3.0.0").next().await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Unexpected { .. }), "{error:?}");
}

#[tokio::test]
async fn the_events_of_a_task_end_when_nothing_comes_after_the_last() {
    let script = Script::play(vec![ended(&[]), ended(&[])]).await;
    let harn = script.connect().build().unwrap().harn();
    assert!(harn.task_events("task_1").next().await.is_none());
}
