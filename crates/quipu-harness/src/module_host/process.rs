//! One process with one module in it. Whoever drops it ends it, so none outlives what it was started for.

use std::{
    fmt,
    process::{Child, ChildStdin, ChildStdout},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use quipu_replay::module::{
    Answer, Answers, DeathCause, Lost, ModuleError, ModuleRun, Policy, Program, Remote, Request,
    RunError, SnapshotError,
};
use serde_json::Value;

use super::{
    ending::cause_of,
    processes::{Slot, died, stopping},
    watch::Watch,
};

pub(super) struct Running {
    child: Mutex<Child>,
    ended: Mutex<Option<Ended>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Silent { seconds: u64 },
    Stopping,
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn new(child: Child) -> Self {
        Self { child: Mutex::new(child), ended: Mutex::default() }
    }

    /// Ends it because the server ends.
    pub(super) fn stop(&self) {
        self.end(Some(Ended::Stopping));
    }

    /// Ends it because it said nothing for so long.
    pub(super) fn silent(&self, limit: Duration) {
        self.end(Some(Ended::Silent { seconds: limit.as_secs() }));
    }

    fn end(&self, why: Option<Ended>) {
        if let Some(why) = why {
            held(&self.ended).get_or_insert(why);
        }
        if let Err(error) = held(&self.child).kill() {
            tracing::debug!(%error, "the process of a module could not be killed");
        }
    }

    /// Ends it where it still runs, and says what became of it.
    fn post_mortem(&self, lost: &Lost) -> RunError {
        self.end(None);
        let status = held(&self.child).wait();
        match (*held(&self.ended), lost, status) {
            (Some(Ended::Stopping), _, _) => stopping(),
            (Some(Ended::Silent { seconds }), _, _) => died(DeathCause::Silence { seconds }),
            (None, Lost::Nonsense, _) => died(DeathCause::Nonsense),
            (None, Lost::Gone(_), Ok(status)) => died(cause_of(status)),
            (None, Lost::Gone(_), Err(_)) => died(DeathCause::Killed),
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) struct ModuleProcess {
    remote: Mutex<Remote<ChildStdout, ChildStdin>>,
    ending: Ending,
    watch: Watch,
}

/// Ends and buries the process when it is dropped, and then gives its slot back.
struct Ending {
    running: Arc<Running>,
    _slot: Slot,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.running.end(None);
        if let Err(error) = held(&self.running.child).wait() {
            tracing::debug!(%error, "the process of a module cannot be waited for");
        }
    }
}

impl ModuleProcess {
    pub(super) fn compile(
        running: Arc<Running>,
        slot: Slot,
        (from, to): (ChildStdout, ChildStdin),
        silence: Duration,
        (source, entry): (&str, &str),
    ) -> Result<Result<Self, ModuleError>, RunError> {
        let ending = Ending { running: Arc::clone(&running), _slot: slot };
        let on_silence = move || running.silent(silence);
        let watch = Watch::start(silence, on_silence)
            .map_err(|error| RunError::NotNow { reason: format!("no thread for it: {error}") })?;
        let compiled = watch.during(|| Remote::compile(from, to, source, entry));
        let compiled = compiled.map_err(|lost| ending.running.post_mortem(&lost))?;
        Ok(compiled.map(|remote| Self { remote: Mutex::new(remote), ending, watch }))
    }

    fn watched<T>(
        &self,
        answers: &mut dyn Answers,
        work: impl FnOnce(&mut Remote<ChildStdout, ChildStdin>, &mut dyn Answers) -> Result<T, Lost>,
    ) -> Result<T, RunError> {
        let mut remote = held(&self.remote);
        // How long we take to answer is not the module's fault.
        let mut answering =
            |request: &Request| -> Answer { self.watch.besides(|| answers.answer(request)) };
        let done = self.watch.during(|| work(&mut remote, &mut answering));
        done.map_err(|lost| self.ending.running.post_mortem(&lost))
    }
}

impl Program for ModuleProcess {
    fn run(
        &self,
        policy: &Policy,
        input: &Value,
        answers: &mut dyn Answers,
    ) -> Result<ModuleRun, RunError> {
        self.watched(answers, |remote, answers| remote.run(policy, input, answers))
    }

    fn resume(
        &self,
        policy: &Policy,
        snapshot: &[u8],
        answers: &mut dyn Answers,
    ) -> Result<Result<ModuleRun, SnapshotError>, RunError> {
        self.watched(answers, |remote, answers| remote.resume(policy, snapshot, answers))
    }
}
