//! Nodes that leave snapshots for each other on a real server.

use std::{path::Path, sync::Arc, time::Duration};

use quipu_core::Message;
use quipu_field::{Depot, Field, FieldOptions, SystemOrigin};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::akashik::RegisterPayload;

use crate::server::S3Server;

const PATIENCE: Duration = Duration::from_secs(60);

fn node(engine: &Arc<dyn Engine>, folder: &Path, depot: &Depot) -> Arc<Field> {
    let options = FieldOptions {
        snapshots: Some(folder.to_owned()),
        snapshot_commits: 8,
        depot: Some(depot.clone()),
        ..FieldOptions::new(Arc::new(SystemOrigin))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

fn depot(server: &S3Server) -> Depot {
    Depot::new(server.store("nodes"), Arc::new(SystemOrigin), Duration::ZERO).unwrap()
}

async fn join(field: &Field, from: u32, count: u32) {
    for at in from..from + count {
        let agent = format!("agent-{at}");
        let asked = format!(r#"{{"id": "{agent}", "role": "r"}}"#);
        let (asked, _) = RegisterPayload::parse(serde_json::from_str(&asked).unwrap()).unwrap();
        let message = Message {
            id: agent.clone(),
            agent,
            session: None,
            epoch: 0,
            authority: 10,
            own_key: true,
            key: None,
        };
        field.register(message, asked).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_node_begins_with_what_another_left_also_after_the_server_was_gone() {
    let mut server = S3Server::start();
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::shared());
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let first = depot(&server);
    let field = node(&engine, folders[0].path(), &first);
    // The server goes away in the middle of the work, and nobody waits for it.
    join(&field, 0, 6).await;
    server.stop();
    join(&field, 100, 20).await;
    field.close().await;
    server.start_again();
    first.settle(PATIENCE);
    assert_eq!(first.counts().stored, 1);
    let second = depot(&server);
    let begun = node(&engine, folders[1].path(), &second);
    assert_eq!(second.counts().fetched, 1);
    assert_eq!(begun.head(), field.head());
    assert_eq!(begun.state_hash(), field.state_hash());
}
