//! Servers that misbehave: the client says clearly what it met, waits no longer than it was told, and
//! sends a write again only as the same message.

use std::time::Duration;

use quipu_client::{
    ClientError, ErrorCode, Retry,
    akashik::{MemoryType, RecordPayload},
};

use crate::support::{Script, json, whole};

const ACCEPTED: &str =
    r#"{"status": "accepted", "memory_unit_id": "mem-1", "epoch": 2, "conflicts_detected": []}"#;

fn note() -> RecordPayload {
    RecordPayload::draft(MemoryType::Observation, "noted", "to test")
}

async fn record(script: &Script) -> Result<String, ClientError> {
    let field = script.connect().build()?;
    field.agent("ada", "researcher")?.record(&note()).await.map(|answer| answer.memory_unit_id)
}

fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(other, _)| other.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_shown_and_not_asked_for_again() {
    for (status, body) in
        [("200 OK", "<html>welcome</html>"), ("502 Bad Gateway", "<h1>nginx</h1>")]
    {
        let mut script = Script::play(vec![whole(status, "", body)]).await;
        let error = record(&script).await.unwrap_err();
        assert!(matches!(error, ClientError::Unexpected { .. }), "{error:?}");
        assert!(error.to_string().contains(body), "{error}");
        assert_eq!(script.unasked(), 1);
    }
}

#[tokio::test]
async fn json_that_is_no_answer_is_not_understood() {
    let script = Script::play(vec![json("200 OK", r#"{"hello": 1}"#)]).await;
    let error = record(&script).await.unwrap_err();
    assert!(error.to_string().contains("status"), "{error}");
}

#[tokio::test]
async fn an_answer_beyond_all_measure_is_not_read() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n{".to_vec();
    let script = Script::play(vec![head]).await;
    let error = record(&script).await.unwrap_err();
    assert!(error.to_string().contains("larger than"), "{error}");
}

#[tokio::test]
async fn who_never_answers_is_not_waited_for() {
    let script = Script::play(Vec::new()).await;
    let field = script.connect().timeout(Duration::from_millis(50)).retry(Retry::NEVER);
    let ada = field.build().unwrap().agent("ada", "researcher").unwrap();
    let error = ada.record(&note()).await.unwrap_err();
    assert!(matches!(error, ClientError::Exchange { .. }), "{error:?}");
}

#[tokio::test]
async fn who_is_not_there_is_named() {
    let script = Script::play(Vec::new()).await;
    let nowhere = quipu_client::Field::connect("http://127.0.0.1:1").retry(Retry::NEVER);
    let error = nowhere.build().unwrap().status().await.unwrap_err();
    assert!(error.to_string().contains("http://127.0.0.1:1"), "{error}");
    drop(script);
}

#[tokio::test]
async fn a_write_is_sent_again_as_the_same_message_until_it_is_answered() {
    let overloaded = quipu_client::ProtocolError::new(ErrorCode::Overloaded, "too much");
    let overloaded = serde_json::to_string(&overloaded).unwrap();
    let mut script = Script::play(vec![
        Vec::new(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"status\": \"acc".to_vec(),
        whole("503 Service Unavailable", "retry-after: 0\r\n", &overloaded),
        whole("429 Too Many Requests", "retry-after: 0\r\n", &overloaded),
        json("200 OK", ACCEPTED),
    ])
    .await;
    assert_eq!(record(&script).await.unwrap(), "mem-1");
    let first = script.heard().await;
    let id = header(&first, "akashik-message-id").to_owned();
    assert!(!id.is_empty(), "{first}");
    for _ in 0..4 {
        let again = script.heard().await;
        assert_eq!(header(&again, "akashik-message-id"), id);
        assert!(again.starts_with("POST /v1/record "), "{again}");
    }
    assert_eq!(script.unasked(), 0);
}

#[tokio::test]
async fn attempts_are_bounded() {
    let mut script = Script::play(vec![Vec::new(); 100]).await;
    let error = record(&script).await.unwrap_err();
    assert!(matches!(error, ClientError::Exchange { .. }), "{error:?}");
    assert_eq!(script.unasked(), usize::try_from(Retry::default().attempts).unwrap());
}

#[tokio::test]
async fn a_refusal_has_its_parts_and_is_final() {
    let refused = quipu_client::ProtocolError::new(ErrorCode::AgentNotRegistered, "who is ada?")
        .during(quipu_client::akashik::Operation::Record);
    let refused = serde_json::to_string(&refused).unwrap();
    let mut script = Script::play(vec![json("403 Forbidden", &refused)]).await;
    let error = record(&script).await.unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!((refusal.status, refusal.code()), (403, "AGENT_NOT_REGISTERED"));
    assert_eq!(refusal.operation(), Some(quipu_client::akashik::Operation::Record));
    assert!(refusal.recoverable() && refusal.suggested_action().is_some());
    assert_eq!(error.to_string(), "AGENT_NOT_REGISTERED: who is ada?");
    assert_eq!(script.unasked(), 1);
}
