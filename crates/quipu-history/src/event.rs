//! What is recorded: one operation of one client, from its first byte to its answer.

use std::collections::{BTreeMap, BTreeSet};

/// One operation as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Who asked. A client asks one thing at a time.
    pub client: usize,
    /// The agent that it spoke for.
    pub agent: String,
    /// Which node it asked.
    pub node: usize,
    /// When it asked, in microseconds of the run.
    pub invoked_us: u64,
    /// When it had its answer; none if it had none that tells what happened.
    pub returned_us: Option<u64>,
    /// The position that it asked for, if it did.
    pub min_position: Option<u64>,
    /// What it asked.
    pub request: Request,
    /// What it was told.
    pub outcome: Outcome,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Something is to change.
    Write {
        /// The id of the message. Who sends it again sends the same message.
        message: String,
        /// The change.
        write: Write,
    },
    /// Something is to be told.
    Read(Read),
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// The agent joins.
    Register,
    /// A unit is recorded.
    Record {
        /// Its text.
        content: String,
    },
    /// A unit is withdrawn.
    Retract {
        /// Its id.
        unit: String,
    },
    /// A task is made that nobody has.
    CreateTask {
        /// Its id.
        task: String,
    },
    /// The agent takes a task.
    Claim {
        /// Its id.
        task: String,
    },
    /// A document of the other protocol is made, both of whose members say [`INITIAL_VALUE`].
    CreateDocument,
    /// One member of a document is changed; the other stays.
    Put {
        /// The document's id.
        document: String,
        /// The member.
        member: Member,
        /// What it says from now on. No two changes say the same.
        value: String,
    },
}

/// What the members of a new document say.
pub const INITIAL_VALUE: &str = "first";

/// A member of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// Its name.
    Name,
    /// A note in its metadata.
    Note,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// One unit.
    Unit {
        /// Its id.
        unit: String,
    },
    /// A page of the log.
    Log {
        /// The first position.
        from: u64,
        /// How many at most.
        limit: u64,
    },
    /// Who takes part.
    Agents,
    /// All units that are active, by ATTUNE.
    Attune,
    /// All tasks.
    Tasks,
    /// The Field's own account of itself.
    Status,
    /// A document.
    Document {
        /// Its id.
        document: String,
    },
}

/// What a client was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nobody knows what happened: the connection was lost, the time was up, or the answer says so.
    Unknown(String),
    /// There was an answer.
    Answered {
        /// How far the log had come there, if it says so.
        position: Option<u64>,
        /// The answer.
        answer: Answer,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The change was made, now or when the message came first.
    Done(Done),
    /// It was refused, with this code.
    Refused(String),
    /// What was asked for.
    Observed(Observed),
    /// An answer of a form that it must not have.
    Malformed(String),
}

/// What the answer to a change says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The epoch of the commit.
    pub epoch: Option<u64>,
    /// The unit or the document that was made.
    pub made: Option<String>,
}

/// A unit as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedUnit {
    /// Its text.
    pub content: String,
    /// Whether it is active; else it is retracted.
    pub active: bool,
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedDocument {
    /// Its name.
    pub name: String,
    /// Its note.
    pub note: String,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    /// A unit, or that there is none.
    Unit(Option<ObservedUnit>),
    /// Positions and hashes of commits, and of the head.
    Log {
        /// The page.
        commits: Vec<(u64, String)>,
        /// The head that the answer names.
        head: (u64, String),
    },
    /// The agents.
    Agents(BTreeSet<String>),
    /// The texts of the active units, by id.
    Units(BTreeMap<String, String>),
    /// Who has each task.
    Tasks(BTreeMap<String, Option<String>>),
    /// The head, and how many agents and units there are.
    Status {
        /// The head.
        head: (u64, String),
        /// Agents.
        agents: u64,
        /// Units.
        units: u64,
    },
    /// What the members of a document say, or that there is none.
    Document(Option<ObservedDocument>),
    /// The Field does not exist.
    Nothing,
}

impl Event {
    /// The answer, if there was one.
    #[must_use]
    pub const fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answered { answer, .. } => Some(answer),
            Outcome::Unknown(_) => None,
        }
    }

    /// The position that the answer told.
    #[must_use]
    pub const fn reported_position(&self) -> Option<u64> {
        match &self.outcome {
            Outcome::Answered { position, .. } => *position,
            Outcome::Unknown(_) => None,
        }
    }

    /// The message and the change, if it is one.
    #[must_use]
    pub const fn write(&self) -> Option<(&String, &Write)> {
        match &self.request {
            Request::Write { message, write } => Some((message, write)),
            Request::Read(_) => None,
        }
    }

    /// The question, if it is one.
    #[must_use]
    pub const fn read(&self) -> Option<&Read> {
        match &self.request {
            Request::Read(read) => Some(read),
            Request::Write { .. } => None,
        }
    }
}
