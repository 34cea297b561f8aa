//! The choice where modules run. Whoever makes a Harness chooses; without a choice modules are refused.

use std::sync::Arc;

use quipu_replay::module::{Module, ModuleError, Program, RunError};
use tokio::sync::OwnedSemaphorePermit;

use super::processes::ModuleProcesses;

#[derive(Debug, Clone, Default)]
pub enum ModuleHost {
    /// Nowhere. None can be installed; a Task that needs one waits for a server that runs modules.
    #[default]
    Refused,
    /// Each in a process of its own, with limits on memory and time.
    Processes(Arc<ModuleProcesses>),
    /// In this process, which a module can end: one that asks for too much memory aborts it. For tests, and for whoever
    /// has read every module.
    InThisProcessWhichTheyCanAbort,
}

impl ModuleHost {
    /// Compiles a module, ready to be run once.
    ///
    /// # Errors
    /// Where nobody could compile it; within, where the module is refused.
    pub(crate) fn compile(
        &self,
        source: &str,
        entry: &str,
    ) -> Result<Result<Box<dyn Program>, ModuleError>, RunError> {
        match self {
            Self::Refused => {
                Err(RunError::NotNow { reason: "modules are not run here".to_owned() })
            }
            Self::Processes(processes) => {
                let compiled = processes.compile(source, entry)?;
                Ok(compiled.map(|program| Box::new(program) as Box<dyn Program>))
            }
            Self::InThisProcessWhichTheyCanAbort => {
                let compiled = Module::compile(source, entry);
                Ok(compiled.map(|program| Box::new(program) as Box<dyn Program>))
            }
        }
    }

    /// Waits for a turn to compile and run one. To be held until it has run.
    pub(crate) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Processes(processes) => processes.turn().await,
            Self::Refused | Self::InThisProcessWhichTheyCanAbort => None,
        }
    }

    /// Ends what runs and starts no more. What was ended is run again when the log is opened the next time.
    pub fn stop(&self) {
        if let Self::Processes(processes) = self {
            processes.stop();
        }
    }
}
