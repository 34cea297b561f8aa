//! A program keeps its memory in a directory of its own, without a server: what it records is there
//! after the next start.
//!
//! `cargo run --example embedded -- DIR`

use std::{error::Error, io::Write as _, path::Path};

use quipu_client::{
    ClientError, Field,
    akashik::{AttunePayload, Format, MemoryType, RecordPayload, Scope},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("name a directory")?;
    let starts = tell(Path::new(&dir)).await?;
    writeln!(std::io::stdout(), "this is start {starts}")?;
    Ok(())
}

/// How often it was started, this time included.
pub(crate) async fn tell(dir: &Path) -> Result<usize, ClientError> {
    let field = Field::open(dir).await?;
    let agent = field.agent("assistant", "assistant")?;
    agent.join().await?;
    let start = RecordPayload::committed(
        MemoryType::Observation,
        "The program was started.",
        "Know how often it runs",
        1.0,
        "It is running",
    );
    agent.record(&start).await?;
    let scope = Scope { include_own: true, ..Scope::new("assistant", 1000) };
    let ask =
        AttunePayload { scope, context_hint: None, format: Format::IdsOnly, since_epoch: None };
    let starts = agent.attune(&ask).await?.record.len();
    field.close().await;
    Ok(starts)
}
