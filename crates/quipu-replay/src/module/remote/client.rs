//! The side of the server: has a module compiled and run, answers what it asks, and believes nothing of the other
//! side that it can check: a question must be granted, and a snapshot is sealed here.

use std::io::{self, Read, Write};

use serde_json::Value;

use super::{
    frame::{FROM_MODULE_MAX, TO_MODULE_MAX, read, write},
    messages::{Order, Reply, Text},
};
use crate::module::{
    answers::{Answer, Answers},
    compile::ModuleError,
    policy::Policy,
    run::ModuleRun,
    snapshot::{NOBODYS_KEY, SnapshotError, resealed},
};

/// Why the other side does not go on.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// It is gone, or something is wrong with the pipes.
    #[error("the process of the module is gone")]
    Gone(#[source] io::Error),
    /// It says what cannot be said.
    #[error("the process of the module sent a message that is not valid")]
    Nonsense,
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::InvalidData { Self::Nonsense } else { Self::Gone(error) }
    }
}

/// A module that another process has compiled.
#[derive(Debug)]
pub struct Remote<R, W> {
    from: R,
    to: W,
}

impl<R: Read, W: Write> Remote<R, W> {
    /// Has a module compiled.
    ///
    /// # Errors
    /// Where the other side is lost; within, where the module is refused.
    pub fn compile(
        from: R,
        to: W,
        source: &str,
        entry: &str,
    ) -> Result<Result<Self, ModuleError>, Lost> {
        let mut remote = Self { from, to };
        let (source, entry) = (source.to_owned(), entry.to_owned());
        match remote.order(&Order::Compile { source, entry })? {
            Reply::Compiled => Ok(Ok(remote)),
            Reply::Refused(refused) => Ok(Err(refused.into())),
            Reply::Asks(_)
            | Reply::Completed { .. }
            | Reply::Suspended { .. }
            | Reply::Failed(_)
            | Reply::NoSnapshot(_) => Err(Lost::Nonsense),
        }
    }

    /// Has it run from the start. Once.
    ///
    /// # Errors
    /// Where the other side is lost.
    pub fn run(
        &mut self,
        policy: &Policy,
        input: &Value,
        answers: &mut dyn Answers,
    ) -> Result<ModuleRun, Lost> {
        let order = Order::Run { grants: grants(policy), input: Text::of(input) };
        self.converse(policy, &order, answers)?.map_err(|_| Lost::Nonsense)
    }

    /// Has it go on from a snapshot. Once.
    ///
    /// # Errors
    /// Where the other side is lost; within, where the snapshot was altered or belongs to something else.
    pub fn resume(
        &mut self,
        policy: &Policy,
        snapshot: &[u8],
        answers: &mut dyn Answers,
    ) -> Result<Result<ModuleRun, SnapshotError>, Lost> {
        let snapshot = match resealed(snapshot, policy.key(), &NOBODYS_KEY) {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(error)),
        };
        self.converse(policy, &Order::Resume { grants: grants(policy), snapshot }, answers)
    }

    fn converse(
        &mut self,
        policy: &Policy,
        order: &Order,
        answers: &mut dyn Answers,
    ) -> Result<Result<ModuleRun, SnapshotError>, Lost> {
        let mut reply = self.order(order)?;
        loop {
            let ran = match reply {
                Reply::Asks(asked) => {
                    let request = asked.read(policy.names()).ok_or(Lost::Nonsense)?;
                    let given = match answers.answer(&request) {
                        Answer::Value(value) => Some(Text::of(&value)),
                        Answer::Unavailable => None,
                    };
                    reply = self.order(&Order::Answer(given))?;
                    continue;
                }
                Reply::Completed { value, sha256 } => {
                    ModuleRun::Completed { value: value.read().ok_or(Lost::Nonsense)?, sha256 }
                }
                Reply::Suspended { asked, snapshot } => {
                    let request = asked.read(policy.names()).ok_or(Lost::Nonsense)?;
                    let sealed = resealed(snapshot.as_bytes(), &NOBODYS_KEY, policy.key());
                    let snapshot = sealed.map_err(|_| Lost::Nonsense)?.into_bytes();
                    ModuleRun::Suspended { request, snapshot }
                }
                Reply::Failed(diagnostic) => ModuleRun::Failed { diagnostic },
                Reply::NoSnapshot(error) => return Ok(Err(error)),
                Reply::Compiled | Reply::Refused(_) => return Err(Lost::Nonsense),
            };
            return Ok(Ok(ran));
        }
    }

    fn order(&mut self, order: &Order) -> Result<Reply, Lost> {
        write(&mut self.to, order, TO_MODULE_MAX)?;
        let gone = || Lost::Gone(io::ErrorKind::UnexpectedEof.into());
        read(&mut self.from, FROM_MODULE_MAX)?.ok_or_else(gone)
    }
}

fn grants(policy: &Policy) -> Vec<String> {
    policy.names().map(str::to_owned).collect()
}
