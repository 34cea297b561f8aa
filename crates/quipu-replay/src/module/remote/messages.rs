//! What the two sides say. Values go as texts in the texts of frames, so that a value may be as deep here as it may
//! be in a recording.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use quipu_wire::{
    harn::{DependencyKind, Sha256},
    json::canon,
};

use crate::module::{
    answers::{Answer, Request},
    compile::ModuleError,
    diagnostic::Diagnostic,
    run::ModuleRun,
    snapshot::SnapshotError,
};

/// What a server says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Compile this. Comes first.
    Compile {
        source: String,
        entry: String,
    },
    /// Run what was compiled.
    Run {
        grants: Vec<String>,
        input: Text,
    },
    /// Go on from a snapshot, under the key of nobody.
    Resume {
        grants: Vec<String>,
        snapshot: String,
    },
    Answer(Option<Text>),
}

/// What a module's process says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Compiled,
    Refused(Refused),
    Asks(Question),
    Completed { value: Text, sha256: Sha256 },
    Suspended { asked: Question, snapshot: String },
    Failed(Diagnostic),
    NoSnapshot(SnapshotError),
}

/// A value as a text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Text {
    Canonical(String),
    /// One that has no canonical form: whoever reads it will say so.
    Other(String),
}

impl Text {
    pub(super) fn of(value: &Value) -> Self {
        canon::to_string(value).map_or_else(|_| Self::Other(value.to_string()), Self::Canonical)
    }

    pub(super) fn read(&self) -> Option<Value> {
        match self {
            Self::Canonical(text) => canon::parse(text.as_bytes()).ok(),
            Self::Other(text) => serde_json::from_str(text).ok(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Question {
    key: String,
    kind: DependencyKind,
    sha256: Sha256,
    capability: String,
    arguments: Text,
    holds_secret: bool,
}

impl Question {
    pub(super) fn of(request: &Request) -> Self {
        Self {
            key: request.key.clone(),
            kind: request.kind,
            sha256: request.sha256,
            capability: request.capability.clone(),
            arguments: Text::of(&request.arguments),
            holds_secret: request.holds_secret,
        }
    }

    /// The question, if it is one that may be asked under this allow list.
    pub(super) fn read<'g>(self, grants: impl IntoIterator<Item = &'g str>) -> Option<Request> {
        let Self { key, kind, sha256, capability, arguments, holds_secret } = self;
        let secret = kind == DependencyKind::SecretValue;
        let fits =
            secret == key.starts_with("secret:") && (!secret || capability.starts_with("secrets."));
        let granted = grants.into_iter().any(|granted| granted == capability);
        let arguments = arguments.read().filter(|_| fits && granted)?;
        Some(Request { key, kind, sha256, capability, arguments, holds_secret })
    }
}

pub(super) fn answer_of(given: Option<&Text>) -> Option<Answer> {
    given.map_or(Some(Answer::Unavailable), |text| text.read().map(Answer::Value))
}

impl Reply {
    pub(super) fn of_run(run: ModuleRun) -> Self {
        match run {
            ModuleRun::Completed { value, sha256 } => {
                Self::Completed { value: Text::of(&value), sha256 }
            }
            ModuleRun::Suspended { request, snapshot } => {
                let snapshot = String::from_utf8_lossy(&snapshot).into_owned();
                Self::Suspended { asked: Question::of(&request), snapshot }
            }
            ModuleRun::Failed { diagnostic } => Self::Failed(diagnostic),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refused {
    SourceTooLong(usize),
    TooInvolved(usize),
    NotCompiled(Vec<Diagnostic>),
    CompilerFailed,
}

impl From<ModuleError> for Refused {
    fn from(error: ModuleError) -> Self {
        match error {
            ModuleError::SourceTooLong { bytes } => Self::SourceTooLong(bytes),
            ModuleError::TooInvolved { line } => Self::TooInvolved(line),
            ModuleError::NotCompiled { diagnostics } => Self::NotCompiled(diagnostics),
            // Compiling looks at neither grants nor input.
            ModuleError::CompilerFailed | ModuleError::NotGrantable(_) | ModuleError::Input(_) => {
                Self::CompilerFailed
            }
        }
    }
}

impl From<Refused> for ModuleError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::SourceTooLong(bytes) => Self::SourceTooLong { bytes },
            Refused::TooInvolved(line) => Self::TooInvolved { line },
            Refused::NotCompiled(diagnostics) => Self::NotCompiled { diagnostics },
            Refused::CompilerFailed => Self::CompilerFailed,
        }
    }
}
