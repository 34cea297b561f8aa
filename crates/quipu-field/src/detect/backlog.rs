//! Units that wait to be compared with others in the background. Bounded: what does not fit, and what waits when
//! the server stops, is left to a DETECT scan.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::base::limits::DETECT_WAITING_MAX;
use quipu_core::UnitId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) unit: UnitId,
    /// The first ordinal that it has not been compared with yet.
    pub(crate) from: u32,
}

/// The units that wait, first come first served.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    state: Mutex<State>,
    /// A unit came, for the worker that waits for one.
    arrived: Condvar,
    /// The worker is to stop, for the worker that rests. A unit that comes must not wake it.
    stopping: Condvar,
    /// The worker is done with a unit, for those who wait until all is done.
    worked: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    left_out: u64,
    at_work: bool,
    /// Whether the worker sleeps until a unit comes.
    idle: bool,
    stopped: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Unit(Waiting),
    /// There was nothing for a while.
    Nothing,
    Stop,
}

impl Backlog {
    /// Adds units, unless they wait already or there is no room.
    pub(super) fn push(&self, units: Vec<Waiting>) {
        let mut state = self.lock();
        let before = state.waiting.len();
        for waiting in units {
            if state.waiting.back() == Some(&waiting) {
                continue;
            }
            if state.waiting.len() < DETECT_WAITING_MAX {
                state.waiting.push_back(waiting);
                continue;
            }
            state.left_out += 1;
            if state.left_out.is_power_of_two() {
                tracing::warn!(
                    left_out = state.left_out,
                    "too many units wait for detection: a DETECT scan will compare the rest"
                );
            }
        }
        // To wake somebody costs a call to the operating system, also where nobody sleeps.
        if state.idle && state.waiting.len() > before {
            self.arrived.notify_one();
        }
    }

    /// The next unit. Waits for one, but not longer than `patience`.
    pub(super) fn next(&self, patience: Duration) -> Next {
        let mut state = self.lock();
        state.at_work = false;
        self.worked.notify_all();
        if state.waiting.is_empty() && !state.stopped {
            state.idle = true;
            state = self
                .arrived
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.idle = false;
        }
        if state.stopped {
            return Next::Stop;
        }
        match state.waiting.pop_front() {
            Some(waiting) => {
                state.at_work = true;
                Next::Unit(waiting)
            }
            None => Next::Nothing,
        }
    }

    /// Lets time pass, unless the worker is to stop. Whether it is to go on.
    pub(super) fn rest(&self, length: Duration) -> bool {
        let rested = self.stopping.wait_timeout_while(self.lock(), length, |state| !state.stopped);
        let (state, _) = rested.unwrap_or_else(PoisonError::into_inner);
        !state.stopped
    }

    /// How many wait, the one at work included.
    pub(super) fn len(&self) -> usize {
        let state = self.lock();
        state.waiting.len() + usize::from(state.at_work)
    }

    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        for waiting in [&self.arrived, &self.stopping, &self.worked] {
            waiting.notify_all();
        }
    }

    /// Waits until nothing waits and nothing is at work, or the worker has stopped.
    pub(super) fn settle(&self) {
        let mut state = self.lock();
        while !(state.stopped || (state.waiting.is_empty() && !state.at_work)) {
            state = self.worked.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
