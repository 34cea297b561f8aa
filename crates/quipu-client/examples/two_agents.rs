//! Two agents share what they know: one records, the other asks and is told why it matters.
//!
//! Run it without a server, or name one: `cargo run --example two_agents -- http://127.0.0.1:7070`.

use std::{error::Error, io::Write as _};

use quipu_client::{
    ClientError, Field,
    akashik::{MemoryType, RecordPayload, UnitView},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let field = match std::env::args().nth(1) {
        Some(url) => Field::connect(url).build()?,
        None => Field::in_memory().await?,
    };
    let told = tell(&field).await?;
    field.close().await;
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}

/// What the second agent learns from the first.
pub(crate) async fn tell(field: &Field) -> Result<String, ClientError> {
    let researcher = field.agent("researcher-01", "researcher")?.interested_in(["harbours"]);
    researcher.join().await?;
    let fees = RecordPayload::committed(
        MemoryType::Finding,
        "The harbour raised its fees by 12 percent in March.",
        "Plan a route that stays within the budget",
        0.9,
        "The harbour's own notice says so",
    );
    researcher.record(&fees).await?;

    let planner = field.agent("planner-01", "planner")?;
    planner.join().await?;
    let context = planner.recall("what does the harbour cost").await?;
    let mut told = String::new();
    for scoped in &context.record {
        if let UnitView::Unit(unit) = &scoped.memory_unit {
            told.push_str(&format!("{} ({})\n", unit.content, scoped.relevance_reason));
        }
    }
    Ok(told)
}
