//! Looks for conflicts of units in the background, one unit at a time, and slowly while the Field is busy.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;

use super::{
    backlog::{Next, Waiting},
    lookout::Lookout,
};
use crate::{
    base::failure::with_causes,
    write::job::{Job, Queued},
};
use quipu_core::{
    rules::detect::Found,
    rules::{Action, Command},
};

/// How long the worker waits for a unit before it checks whether the Field is still there.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long it rests before a unit while the Field is busy, at least.
const REST_MS: u64 = 50;
/// ... and how many times as long as the last unit took, so that it takes a small share of a core.
const REST_SHARE: u64 = 25;

/// Works until the Field is closed, or nobody holds the Field any more.
pub(crate) fn run(lookout: &Arc<Lookout>, jobs: &mpsc::WeakSender<Job>, now_ms: &dyn Fn() -> u64) {
    let mut took_ms = 0;
    loop {
        match lookout.backlog.next(PATIENCE) {
            Next::Stop => return,
            Next::Nothing if jobs.strong_count() == 0 => return,
            Next::Nothing => {}
            Next::Unit(waiting) => {
                lookout.await_index(&|| jobs.strong_count() > 0);
                if lookout.is_busy() {
                    let rest_ms = REST_MS.max(took_ms * REST_SHARE);
                    lookout.backlog.rest(Duration::from_millis(rest_ms));
                }
                let began_ms = now_ms();
                let found = find_conflicts(lookout, waiting);
                took_ms = now_ms().saturating_sub(began_ms).min(REST_MS);
                if !found.is_empty() && !note(jobs, found, now_ms()) {
                    return;
                }
            }
        }
    }
}

fn find_conflicts(lookout: &Lookout, waiting: Waiting) -> Vec<Found> {
    let Some(unit) = lookout.still_worth(waiting) else { return Vec::new() };
    let looked = lookout.subject(unit).and_then(|subject| {
        let Some(mut subject) = subject else { return Ok(Vec::new()) };
        subject.from = waiting.from;
        Ok(lookout.find_conflicts(&subject, &|_| true, &|| false)?.found)
    });
    match looked {
        Ok(found) => found.into_iter().map(|finding| Found { unit, finding }).collect(),
        Err(error) => {
            tracing::warn!(
                error = with_causes(&error),
                "detection failed for a unit: a DETECT scan will compare it"
            );
            Vec::new()
        }
    }
}

/// Puts what was found into the log and waits for it, so that the backlog is settled when its
/// conflicts are there. Answers whether the Field is still there.
fn note(jobs: &mpsc::WeakSender<Job>, found: Vec<Found>, now_ms: u64) -> bool {
    let Some(jobs) = jobs.upgrade() else { return false };
    let command = Command::of_the_field(now_ms, Action::NoteConflicts(found));
    let (queued, answer) = Queued::new(command);
    let sent = jobs.blocking_send(Job::Command(queued)).is_ok();
    drop(jobs);
    if let Ok(Err(error)) = answer.blocking_recv() {
        tracing::warn!(%error, "conflicts that were found could not be recorded");
    }
    sent
}
