//! Why a module does not compile or did not end well: a word for programs and a sentence for people.

use std::fmt;

use quipu_wire::harn::{Failure, JsonObject};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// A word for it, such as `execution_fuel` or `capability_denied`.
    pub code: String,
    pub message: String,
    pub line: Option<u32>,
}

impl Diagnostic {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), line: None }
    }

    #[must_use]
    pub fn failure(&self) -> Failure {
        Failure {
            code: "module_failed".to_owned(),
            message: self.to_string(),
            details: JsonObject::with("diagnostic", self.code.as_str()),
        }
    }
}

impl From<harn_kernel::Diagnostic> for Diagnostic {
    fn from(found: harn_kernel::Diagnostic) -> Self {
        Self { code: found.code, message: found.message, line: found.line }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{} ({})", self.message, self.code)
    }
}
