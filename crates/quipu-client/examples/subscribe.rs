//! An agent is told of what others record, as it happens. The stream goes on where it was if the
//! connection is lost.
//!
//! Run it without a server, or name one: `cargo run --example subscribe -- http://127.0.0.1:7070`.

use std::{error::Error, io::Write as _};

use quipu_client::{
    ClientError, Field,
    akashik::{MemoryType, RecordPayload, SubscriptionEvent},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let field = match std::env::args().nth(1) {
        Some(url) => Field::connect(url).build()?,
        None => Field::in_memory().await?,
    };
    for push in tell(&field).await? {
        writeln!(std::io::stdout(), "{push}")?;
    }
    field.close().await;
    Ok(())
}

/// The first three pushes.
pub(crate) async fn tell(field: &Field) -> Result<Vec<String>, ClientError> {
    let watcher = field.agent("watcher-01", "watcher")?;
    watcher.join().await?;
    let subscription = watcher.subscribe([SubscriptionEvent::MemoryRecorded]).await?;

    let writer = field.agent("writer-01", "writer")?;
    writer.join().await?;
    for chapter in ["one", "two", "three"] {
        let content = format!("Chapter {chapter} is written.");
        writer.record(&RecordPayload::draft(MemoryType::Observation, content, "Keep up")).await?;
    }

    let mut pushes = watcher.pushes(&subscription);
    let mut told = Vec::new();
    while told.len() < 3 {
        let Some(push) = pushes.next().await else { break };
        told.push(push?.summary);
    }
    watcher.unsubscribe(&subscription.id).await?;
    Ok(told)
}
