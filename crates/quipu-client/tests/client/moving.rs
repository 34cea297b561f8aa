//! Several nodes serve one Field: the client goes on to the next when one is away, and takes along what it was told.

use quipu_client::{
    ErrorCode, ProtocolError,
    akashik::{MemoryType, RecordPayload},
};

use crate::support::{Script, whole};

const ACCEPTED: &str =
    r#"{"status": "accepted", "memory_unit_id": "mem-1", "epoch": 2, "conflicts_detected": []}"#;

fn accepted(position: u64) -> Vec<u8> {
    whole("200 OK", &format!("quipu-position: {position}\r\n"), ACCEPTED)
}

fn note() -> RecordPayload {
    RecordPayload::draft(MemoryType::Observation, "noted", "to test")
}

fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(other, _)| other.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

#[tokio::test]
async fn a_call_goes_to_the_next_node_when_one_is_away_and_stays_there() {
    let unavailable = ProtocolError::new(ErrorCode::FieldUnavailable, "no log");
    let unavailable = serde_json::to_string(&unavailable).unwrap();
    let refused = whole("503 Service Unavailable", "retry-after: 0\r\n", &unavailable);
    let mut one = Script::play(vec![accepted(7), refused]).await;
    // The second is gone while it answers.
    let mut two = Script::play(vec![Vec::new()]).await;
    let mut three = Script::play(vec![accepted(9), accepted(10)]).await;
    let field = one.connect().or_at(two.url()).or_at(three.url()).build().unwrap();
    let ada = field.agent("ada", "researcher").unwrap();
    for _ in 0..3 {
        assert_eq!(ada.record(&note()).await.unwrap().memory_unit_id, "mem-1");
    }
    let first = one.heard().await;
    assert_eq!(header(&first, "quipu-min-position"), "", "nothing was told yet");
    let refused = one.heard().await;
    let ids: Vec<String> = [refused, two.heard().await, three.heard().await]
        .iter()
        .map(|head| {
            assert_eq!(header(head, "quipu-min-position"), "7", "{head}");
            header(head, "akashik-message-id").to_owned()
        })
        .collect();
    assert!(ids.windows(2).all(|two| two[0] == two[1] && !two[0].is_empty()), "{ids:?}");
    assert_eq!(header(&three.heard().await, "quipu-min-position"), "9");
    assert_eq!((one.unasked(), two.unasked()), (0, 0));
}

#[tokio::test]
async fn another_field_has_positions_of_its_own_and_one_node_is_told_none() {
    let mut one = Script::play(vec![accepted(7), accepted(8), accepted(1)]).await;
    let field = one.connect().build().unwrap();
    for _ in 0..2 {
        field.agent("ada", "researcher").unwrap().record(&note()).await.unwrap();
        assert_eq!(header(&one.heard().await, "quipu-min-position"), "");
    }
    let mut several = Script::play(vec![accepted(7), accepted(1)]).await;
    let field = several.connect().or_at(one.url()).build().unwrap();
    field.agent("ada", "researcher").unwrap().record(&note()).await.unwrap();
    let other = field.named("another").unwrap();
    other.agent("ada", "researcher").unwrap().record(&note()).await.unwrap();
    several.heard().await;
    assert_eq!(header(&several.heard().await, "quipu-min-position"), "");
}
