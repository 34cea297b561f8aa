//! The processes of modules: how one is started, how many there may be, and ending them all.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use quipu_replay::module::{DeathCause, ModuleError, RunError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::process::{ModuleProcess, Running};

/// How many modules run at one time; others wait for a turn.
const AT_ONCE_MAX: usize = 4;

/// How the process of a module is started and bounded.
#[derive(Debug, Clone)]
pub struct ModuleRunner {
    /// The program that serves a module over its standard input and output. It sets its own limits before it
    /// reads anything.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// How long it may say nothing while somebody waits for it.
    pub silence: Duration,
}

#[derive(Debug)]
pub struct ModuleProcesses {
    runner: ModuleRunner,
    table: Mutex<Table>,
    turns: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Table {
    stopped: bool,
    next: u64,
    running: BTreeMap<u64, Option<Arc<Running>>>,
}

impl ModuleProcesses {
    #[must_use]
    pub fn new(runner: ModuleRunner) -> Arc<Self> {
        let turns = Arc::new(Semaphore::new(AT_ONCE_MAX));
        Arc::new(Self { runner, table: Mutex::default(), turns })
    }

    /// Waits for a turn, without a thread that waits. None is given any more where no process is started either.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    pub(super) fn compile(
        self: &Arc<Self>,
        source: &str,
        entry: &str,
    ) -> Result<Result<ModuleProcess, ModuleError>, RunError> {
        let slot = self.take_slot()?;
        let not_started = |error: std::io::Error| RunError::NotNow {
            reason: format!("no process can be started for it: {error}"),
        };
        let mut child = Command::new(&self.runner.program)
            .args(&self.runner.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(not_started)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let running = Arc::new(Running::new(child));
        self.enter(slot.number, &running);
        let (to, from) =
            pipes.ok_or_else(|| not_started(std::io::Error::other("it has no pipes")))?;
        ModuleProcess::compile(running, slot, (from, to), self.runner.silence, (source, entry))
    }

    /// Ends what runs and starts no more.
    pub fn stop(&self) {
        let mut table = self.table();
        table.stopped = true;
        for running in table.running.values().flatten() {
            running.stop();
        }
        self.turns.close();
    }

    fn take_slot(self: &Arc<Self>) -> Result<Slot, RunError> {
        let mut table = self.table();
        if table.stopped {
            return Err(stopping());
        }
        let number = table.next;
        table.next += 1;
        table.running.insert(number, None);
        Ok(Slot { number, processes: Arc::clone(self) })
    }

    fn enter(&self, number: u64, running: &Arc<Running>) {
        let mut table = self.table();
        table.running.insert(number, Some(Arc::clone(running)));
        if table.stopped {
            running.stop();
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of one module among those that run.
#[derive(Debug)]
pub(super) struct Slot {
    number: u64,
    processes: Arc<ModuleProcesses>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.processes.table().running.remove(&self.number);
    }
}

pub(super) fn stopping() -> RunError {
    RunError::NotNow { reason: "the server is stopping".to_owned() }
}

pub(super) fn died(cause: DeathCause) -> RunError {
    RunError::Died(cause.into())
}
