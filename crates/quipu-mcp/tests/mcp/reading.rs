//! Resources: what they read like, and which there are.

use rmcp::{
    ServiceError,
    model::{ErrorCode, ReadResourceRequestParams, ResourceContents},
};

use crate::support::{BOTH, Connected, Generation, TinyField, connect};

async fn read(connected: &Connected, uri: &str) -> Result<String, ServiceError> {
    let read = connected.client.read_resource(ReadResourceRequestParams::new(uri)).await?;
    match read.contents.into_iter().next() {
        Some(ResourceContents::TextResourceContents { text, .. }) => Ok(text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_unit_a_conflict_and_a_replay_are_readable_text() {
    for generation in BOTH {
        let connected = connect(&TinyField::default(), generation).await;
        let unit = read(&connected, "quipu://unit/mem-7").await.unwrap();
        for part in
            ["mem-7", "The harbour raised its fees.", "Why: \"Plan the route\"", "supports mem-0"]
        {
            assert!(unit.contains(part), "{part}: {unit}");
        }
        let conflict = read(&connected, "quipu://conflict/conflict-1").await.unwrap();
        for part in ["they say the opposite", "mem-1 [finding", "mem-2 [finding"] {
            assert!(conflict.contains(part), "{part}: {conflict}");
        }
        let replay = read(&connected, "quipu://replay/decision/mem-7").await.unwrap();
        assert!(replay.contains("\"It was decided.\""), "{replay}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_as_each_generation_says_it() {
    let codes = [ErrorCode::RESOURCE_NOT_FOUND, ErrorCode::INVALID_PARAMS];
    for (generation, code) in BOTH.into_iter().zip(codes) {
        let connected = connect(&TinyField::default(), generation).await;
        for uri in [
            "quipu://unit/gone",
            "quipu://conflict/none",
            "quipu://weather/today",
            "file:///etc/passwd",
        ] {
            let error = read(&connected, uri).await.unwrap_err();
            let ServiceError::McpError(error) = error else { panic!("{error:?}") };
            assert_eq!(error.code, code, "{uri}");
            assert!(error.message.contains(uri), "{}", error.message);
        }
    }
}

#[tokio::test]
async fn looking_at_the_list_registers_nobody() {
    let field = TinyField::default();
    let connected = connect(&field, Generation::WithSessions).await;
    let uris = async || {
        let listed = connected.client.list_all_resources().await.unwrap();
        listed.into_iter().map(|resource| resource.uri).collect::<Vec<_>>()
    };
    assert_eq!(uris().await, ["quipu://conflict/conflict-1"]);
    assert!(field.state().registered.is_empty());
    field.state().registered.insert("test-host".to_owned());
    assert_eq!(uris().await, ["quipu://conflict/conflict-1", "quipu://unit/mem-1"]);
}
