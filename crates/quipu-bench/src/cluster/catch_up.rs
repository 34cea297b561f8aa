//! How fast a node catches up with a log that others wrote: what the engine alone gives, and what is left of it when
//! every header is verified and applied, as a node does that starts from nothing or far behind a snapshot, and with all texts
//! read, verified and in the index.

use quipu_field::{
    restore::{catch_up_state, restore},
    view::Published,
};
use quipu_log::{Engine, FieldName, Pace};

use crate::measure::{
    failure::Failure,
    report::Report,
    stopwatch::{Stopwatch, rate},
};

const PAGE: usize = 1024;

pub(crate) fn measure(
    engine: &dyn Engine,
    field: &FieldName,
    what: &str,
    report: &mut Report,
) -> Result<(), Failure> {
    let failed = |error| Failure::caused("cannot read the log", &error);
    let watch = Stopwatch::start();
    let mut read = 0;
    let mut next = 1;
    loop {
        let page = engine.read(field, next, PAGE).map_err(failed)?;
        let Some(last) = page.last() else { break };
        next = last.position + 1;
        read += page.len();
    }
    let alone = rate(read, watch.elapsed());
    report.figure(&format!("reading the log and nothing else, {what}"), alone, "commits/s");
    let watch = Stopwatch::start();
    let mut published = Published::empty();
    catch_up_state(engine, field, &mut published, Pace::Alone).map_err(failed)?;
    let caught_up = rate(read, watch.elapsed());
    report.figure(&format!("catching up until writes are taken, {what}"), caught_up, "commits/s");
    let watch = Stopwatch::start();
    restore(engine, field, None, Pace::Alone, &mut |_| true).map_err(failed)?;
    let caught_up = rate(read, watch.elapsed());
    report.figure(
        &format!("catching up until all texts are read too, {what}"),
        caught_up,
        "commits/s",
    );
    Ok(())
}
