//! A Field inside the process: who holds it, what is left of it, and what comes after its end.

use quipu_client::{
    ClientError, ErrorCode, Field,
    akashik::{MemoryType, RecordPayload, SubscriptionEvent},
};

fn note(content: &str) -> RecordPayload {
    RecordPayload::draft(MemoryType::Observation, content, "to test")
}

#[tokio::test]
async fn a_second_opener_is_told_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let first = Field::open(dir.path()).await.unwrap();
    let error = Field::open(dir.path()).await.unwrap_err();
    assert!(matches!(error, ClientError::InUse { .. }), "{error:?}");
    let words = error.to_string();
    for part in [dir.path().to_str().unwrap(), "quipu serve", "Field::connect"] {
        assert!(words.contains(part), "{words}");
    }
    first.close().await;
    drop(first);
    Field::open(dir.path()).await.unwrap().close().await;
}

#[tokio::test]
async fn a_path_that_is_no_directory_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Field::open(file.path()).await.unwrap_err();
    assert!(error.to_string().contains(file.path().to_str().unwrap()), "{error}");
}

#[tokio::test]
async fn fields_of_one_directory_are_worlds_apart() {
    let field = Field::in_memory().await.unwrap();
    let other = field.named("team-7").unwrap();
    let ada = field.agent("ada", "researcher").unwrap();
    ada.register().await.unwrap();
    ada.record(&note("only here")).await.unwrap();
    other.agent("ada", "researcher").unwrap().register().await.unwrap();
    assert_eq!(field.status().await.unwrap().units.total, 1);
    assert_eq!(other.status().await.unwrap().units.total, 0);
    field.close().await;
}

#[tokio::test]
async fn closing_ends_streams_and_refuses_writes_at_once() {
    let field = Field::in_memory().await.unwrap();
    let ada = field.agent("ada", "researcher").unwrap();
    let bo = field.agent("bo", "writer").unwrap();
    ada.register().await.unwrap();
    bo.register().await.unwrap();
    let subscription = ada.subscribe([SubscriptionEvent::MemoryRecorded]).await.unwrap();
    let mut pushes = ada.pushes(&subscription);
    bo.record(&note("the last one")).await.unwrap();
    assert!(pushes.next().await.unwrap().unwrap().summary.contains("the last one"));
    let (end, ()) = tokio::join!(pushes.next(), field.close());
    assert!(end.is_none(), "{end:?}");
    let late = bo.record(&note("too late")).await.unwrap_err();
    assert!(late.is(ErrorCode::FieldUnavailable), "{late}");
}
