//! All replays of one call of `quipu replay`, one after the other.

use tokio::time::Instant;

use super::{
    args::ReplayArgs,
    carry::{Carried, Verdict, carry},
    report, select,
};
use crate::ui::{failure::Failure, output};

pub(crate) async fn replay(args: ReplayArgs) -> Result<(), Failure> {
    let harn = args.server.harn()?;
    let sources = if args.all {
        select::all(&harn, &args.server, &args.filter).await?
    } else {
        let mut named = Vec::new();
        for id in &args.tasks {
            named.push(harn.task(id).await.map_err(|error| args.server.failed(&error))?);
        }
        named
    };
    if sources.is_empty() {
        return Err(Failure::new("no recorded Task was found").advise(
            "a test that tests nothing is no success: look at --filter, or record a Task",
        ));
    }
    let mut all = Vec::new();
    for source in &sources {
        let begun = Instant::now();
        let (replay, verdict) = carry(&args, &harn, source).await?;
        let carried = Carried {
            source: source.envelope.id.clone(),
            persona: source.persona_id.clone(),
            replay,
            verdict,
            took: begun.elapsed(),
        };
        output::print(&report::line(&carried, args.server.json))?;
        all.push(carried);
    }
    if let Some(file) = &args.junit {
        std::fs::write(file, report::junit(&all)).map_err(|error| {
            Failure::caused(format!("{} cannot be written", file.display()), &error)
        })?;
    }
    if !args.server.json {
        output::print(&report::summary(&all))?;
    }
    let others = all.iter().filter(|it| it.verdict != Verdict::Same).count();
    if others == 0 {
        return Ok(());
    }
    let message = format!("{others} of {} did not come to what was recorded", all.len());
    Err(Failure::new(message).advise("`quipu help replay` says what a drift is"))
}
