//! The examples do what they say, over HTTP and inside the process.

use quipu_client::{Field, harn_types::TaskState};

use crate::support::TestServer;

#[expect(dead_code, reason = "its main is for `cargo run --example`")]
#[path = "../../examples/embedded.rs"]
mod embedded;
#[expect(dead_code, reason = "its main is for `cargo run --example`")]
#[path = "../../examples/replay.rs"]
mod replay;
#[expect(dead_code, reason = "its main is for `cargo run --example`")]
#[path = "../../examples/subscribe.rs"]
mod subscribe;
#[expect(dead_code, reason = "its main is for `cargo run --example`")]
#[path = "../../examples/two_agents.rs"]
mod two_agents;

async fn two_agents_and_a_watcher(field: &Field) {
    let told = two_agents::tell(field).await.unwrap();
    assert!(told.contains("raised its fees"), "{told}");
    let pushes = subscribe::tell(field).await.unwrap();
    assert_eq!(pushes.len(), 3, "{pushes:?}");
    assert!(pushes[2].contains("Chapter three"), "{pushes:?}");
}

async fn a_run_again(field: &Field) {
    let told = replay::tell(field).await.unwrap();
    assert!(told.receipt_holds, "{told:?}");
    assert_eq!(told.exact, TaskState::Completed, "{told:?}");
    assert_eq!(told.changed, ["llm:main:1"], "{told:?}");
    assert!(told.events.iter().any(|event| event == "task.completed"), "{told:?}");
}

#[tokio::test]
async fn agents_share_over_http() {
    let server = TestServer::start().await;
    two_agents_and_a_watcher(&server.field()).await;
    server.stop().await;
}

#[tokio::test]
async fn agents_share_inside_the_process() {
    let field = Field::in_memory().await.unwrap();
    two_agents_and_a_watcher(&field).await;
    field.close().await;
}

#[tokio::test]
async fn a_run_is_replayed_over_http() {
    let server = TestServer::start().await;
    a_run_again(&server.field()).await;
    server.stop().await;
}

#[tokio::test]
async fn a_run_is_replayed_inside_the_process() {
    let field = Field::in_memory().await.unwrap();
    a_run_again(&field).await;
    field.close().await;
}

#[tokio::test]
async fn a_directory_remembers_from_start_to_start() {
    let dir = tempfile::tempdir().unwrap();
    for start in 1..=3 {
        assert_eq!(embedded::tell(dir.path()).await.unwrap(), start);
    }
}
