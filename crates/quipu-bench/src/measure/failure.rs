//! Why a benchmark could not be run, in one sentence for people.

use std::{error::Error, fmt};

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// What was tried, with the error and the causes beneath it.
    pub(crate) fn caused(what: impl fmt::Display, error: &dyn Error) -> Self {
        Self(format!("{what}: {}", quipu_field::with_causes(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
