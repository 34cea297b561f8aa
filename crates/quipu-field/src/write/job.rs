//! What the writer is asked to do, and what it answers.

use quipu_core::{Event, rules::Command};
use quipu_log::{Header, SealedEvent};
use tokio::sync::oneshot;

use crate::{
    base::error::FieldError,
    read::unit_words::{CommitWords, UnitWords},
};

/// What a command led to: its commit, or nothing where there was nothing to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// Where the commit is; nowhere where there was nothing to do.
    pub position: Option<u64>,
    pub epoch: u64,
    pub events: Vec<SealedEvent<Event>>,
}

impl Outcome {
    pub(crate) fn of(header: Header<Event>) -> Self {
        let Header { position, epoch, events, .. } = header;
        Self { position: Some(position), epoch, events }
    }

    pub(crate) const fn nothing(epoch: u64) -> Self {
        Self { position: None, epoch, events: Vec::new() }
    }
}

pub(crate) type Reply = oneshot::Sender<Result<Outcome, FieldError>>;

pub(crate) type Awaited = oneshot::Receiver<Result<Outcome, FieldError>>;

#[derive(Debug)]
pub(crate) enum Job {
    Command(Box<Queued>),
    /// Take note of what was published without the writer.
    KeepUp,
    /// Finish what is queued, note the clock at this time where one is given, and stop.
    Close(Option<u64>),
}

#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) command: Command,
    /// What the index needs of the units that the command records.
    pub(crate) words: CommitWords,
    pub(crate) reply: Reply,
}

impl Queued {
    /// Makes a command ready for the queue. The answer comes after its commit is durable.
    pub(crate) fn new(mut command: Command) -> (Box<Self>, Awaited) {
        let texts = command.action.take_searchables();
        let words = texts.into_iter().map(UnitWords::new).collect();
        let (reply, answer) = oneshot::channel();
        (Box::new(Self { command, words, reply }), answer)
    }
}
