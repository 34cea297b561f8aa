//! Why a command failed, as a person reads it: one sentence and a way out.
//! Never shows the inside of an error value.

use std::{error::Error, fmt};

/// A command's failure. Without a message, the command has said everything itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    message: Option<String>,
    advice: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), advice: None }
    }

    /// A failure that the command has already reported itself.
    pub(crate) fn reported() -> Self {
        Self::default()
    }

    pub(crate) fn caused(what: impl fmt::Display, error: &dyn Error) -> Self {
        Self::new(format!("{what}: {}", quipu_field::with_causes(error)))
    }

    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Shows it on stderr.
    pub(crate) fn report(&self) {
        if self.message.is_some() {
            eprintln!("{self}");
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "quipu: {}", self.message.as_deref().unwrap_or("failed"))?;
        match &self.advice {
            Some(advice) => write!(f, "\n  what to do: {advice}"),
            None => Ok(()),
        }
    }
}
