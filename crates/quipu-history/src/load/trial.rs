//! One run: load and faults, and then the judgement.

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

/// In one of so many runs faults may come before everybody takes part.
const ENTERING_DISTURBED: u64 = 5;

/// A run that is to be judged.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What is done.
    pub load: Workload,
    /// How long nodes may need until all have the same log. After that they never will.
    pub settling: Duration,
    /// The command that does it all again.
    pub again: String,
}

/// What came of a run.
#[derive(Debug)]
pub struct TrialReport {
    /// What clients saw.
    pub events: Vec<Event>,
    /// The log as every node gave it.
    pub logs: Vec<Vec<Entry>>,
    /// What the judges say.
    pub verdict: Result<Verdict, Violation>,
    failure: String,
}

impl Trial {
    /// Lets the load run beside `disturb`, which ends with everything whole again, and judges.
    #[must_use]
    pub fn run(&self, disturb: impl FnOnce(&Clock)) -> TrialReport {
        let (clock, board) = (Clock::start(), Board::default());
        let enter = || self.load.enter(&board, &clock);
        // Faults may come while the Field is made, but mostly it is there before.
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
        // What is wrong in the logs that there are says more than that one of them is not there.
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
    /// The violation in words, with the seed and how to run it again; nothing if there is none.
    #[must_use]
    pub fn failure(&self) -> &str {
        &self.failure
    }
}
