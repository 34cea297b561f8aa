//! The history that is recorded: for each operation of a client, its request, its times and its answer.

use std::collections::{BTreeMap, BTreeSet};

/// One operation as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The client. It sends one request at a time.
    pub client: usize,
    /// The agent in whose name the client sent the request.
    pub agent: String,
    /// The node to which it sent the request.
    pub node: usize,
    /// When it sent the request, in microseconds of the run.
    pub invoked_us: u64,
    /// When the answer had arrived; `None` if the outcome is unknown.
    pub returned_us: Option<u64>,
    /// The position that the node had to have reached at least (`Quipu-Min-Position`), if the client asked for one.
    pub min_position: Option<u64>,
    pub request: Request,
    /// What came back.
    pub outcome: Outcome,
}

/// A request: a change or a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// A change.
    Write {
        /// The id of the message. A repeated request has the same id.
        message: String,
        /// What is changed.
        write: Write,
    },
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
    /// A unit is retracted.
    Retract {
        /// Its id.
        unit: String,
    },
    /// A task is created, without an assignee.
    CreateTask { task: String },
    /// The agent claims a task.
    Claim { task: String },
    /// A document of the Agents protocol (a workspace) is created. Both of its members have the value
    /// [`INITIAL_VALUE`].
    CreateDocument,
    /// One member of a document is replaced; the other one stays.
    Put {
        /// The document's id.
        document: String,
        member: Member,
        /// Its new value. Every change writes a different value.
        value: String,
    },
}

/// The value of the members of a new document.
pub const INITIAL_VALUE: &str = "first";

/// A member of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    Name,
    /// A note in its metadata.
    Note,
}

/// What is read.
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
    /// All agents.
    Agents,
    /// All units that are active, by ATTUNE.
    Attune,
    /// All tasks.
    Tasks,
    /// The status of the Field: its head and its counts.
    Status,
    Document {
        /// Its id.
        document: String,
    },
}

/// What a client knows of a request after it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Whether the request was carried out is unknown: the connection was lost, the time was up, or the answer says
    /// so.
    Unknown(String),
    /// There was an answer.
    Answered {
        /// The position that the log had reached on that node, if the answer says so.
        position: Option<u64>,
        answer: Answer,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The change was made, now or when the message came first.
    Done(Done),
    /// It was refused, with this code.
    Refused(String),
    /// What was read.
    Observed(Observed),
    /// An answer without the form that it must have.
    Malformed(String),
}

/// What the answer to a successful change contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The epoch of the commit.
    pub epoch: Option<u64>,
    /// The id of the unit or the document that was created.
    pub made: Option<String>,
}

/// A unit as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedUnit {
    /// Its text.
    pub content: String,
    /// Whether it is active. If not, it is retracted.
    pub active: bool,
}

/// A document as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedDocument {
    pub name: String,
    pub note: String,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    /// The unit; `None` if there is no such unit.
    Unit(Option<ObservedUnit>),
    /// Positions and hashes of commits, and of the head.
    Log {
        /// The page.
        commits: Vec<(u64, String)>,
        /// The head of the log that the answer states.
        head: (u64, String),
    },
    Agents(BTreeSet<String>),
    /// The texts of the active units, by id.
    Units(BTreeMap<String, String>),
    /// The assignee of each task.
    Tasks(BTreeMap<String, Option<String>>),
    /// The head of the log and the numbers of agents and units.
    Status {
        head: (u64, String),
        agents: u64,
        units: u64,
    },
    /// The members of a document; `None` if there is no such document.
    Document(Option<ObservedDocument>),
    /// The Field does not exist.
    Nothing,
}

impl Event {
    /// The answer, if one came.
    #[must_use]
    pub const fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answered { answer, .. } => Some(answer),
            Outcome::Unknown(_) => None,
        }
    }

    /// The position that the answer reports.
    #[must_use]
    pub const fn reported_position(&self) -> Option<u64> {
        match &self.outcome {
            Outcome::Answered { position, .. } => *position,
            Outcome::Unknown(_) => None,
        }
    }

    /// The message id and the change, if the request is a write.
    #[must_use]
    pub const fn write(&self) -> Option<(&String, &Write)> {
        match &self.request {
            Request::Write { message, write } => Some((message, write)),
            Request::Read(_) => None,
        }
    }

    /// What was read, if the request is a read.
    #[must_use]
    pub const fn read(&self) -> Option<&Read> {
        match &self.request {
            Request::Read(read) => Some(read),
            Request::Write { .. } => None,
        }
    }
}
