//! One run: load and faults, and then the verdict.

use std::{thread, time::Duration};

use crate::{
    clock::Clock,
    event::Event,
    judge::{
        log::Entry,
        verdict::{Verdict, judge},
        violation::Violation,
    },
    load::{
        board::Board,
        settle::{Settled, settle},
        workload::Workload,
    },
};

/// In one of this many runs, faults may already begin while the clients register.
const ENTERING_DISTURBED: u64 = 5;

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Trial {
    pub load: Workload,
    /// How long the nodes may take after the run until all have the same log.
    pub settling: Duration,
    /// The command that repeats the run, for the report.
    pub again: String,
}

/// The result of a run.
#[derive(Debug)]
pub struct TrialReport {
    /// What the clients observed.
    pub events: Vec<Event>,
    /// The logs that the nodes returned.
    pub logs: Vec<Vec<Entry>>,
    /// The verdict of the judges, or the violation that they found.
    pub verdict: Result<Verdict, Violation>,
    failure: String,
}

impl Trial {
    /// Runs the load while `disturb` causes faults, and judges the history. `disturb` has to repair everything before
    /// it returns.
    #[must_use]
    pub fn run(&self, disturb: impl FnOnce(&Clock)) -> TrialReport {
        let (clock, board) = (Clock::start(), Board::default());
        let enter = || self.load.enter(&board, &clock);
        // Usually the Field exists before the first fault.
        let entered = (!self.load.seed.is_multiple_of(ENTERING_DISTURBED)).then(enter);
        let began = Clock::start();
        let events = thread::scope(|scope| {
            let working = scope.spawn(|| {
                let clients = entered.unwrap_or_else(enter);
                self.load.work(clients, &Clock::start())
            });
            disturb(&began);
            working.join().unwrap_or_default()
        });
        let last = events.iter().filter_map(Event::reported_position).max().unwrap_or_default();
        let Settled { logs, unhealed } =
            settle(&self.load.nodes, &self.load.field, last, self.settling);
        // A violation in the logs says more than that one of them is missing, so it comes first.
        let judged = if logs.is_empty() { Ok(Verdict::default()) } else { judge(&events, &logs) };
        let verdict = judged.and_then(|verdict| unhealed.map_or(Ok(verdict), Err));
        let failure = verdict.as_ref().err().map_or_else(String::new, |violation| {
            let longest = logs.iter().max_by_key(|log| log.len()).map_or(&[][..], Vec::as_slice);
            let text = violation.describe(&events, longest);
            format!("seed {}: {text}run it again: {}\n", self.load.seed, self.again)
        });
        TrialReport { events, logs, verdict, failure }
    }
}

impl TrialReport {
    /// The violation as text, with the seed and the command that repeats the run; empty if there is none.
    #[must_use]
    pub fn failure(&self) -> &str {
        &self.failure
    }
}
