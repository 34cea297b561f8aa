//! How a case reports that a requirement does not hold.

use std::fmt::Debug;

use thiserror::Error;

/// Why a case did not pass.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The server did not do what the requirement says.
    #[error("{0}")]
    Wrong(String),
    /// The case could not be tried.
    #[error("{0}")]
    Untried(String),
}

/// The result of a case or a step of it.
pub(crate) type Checked<T = ()> = Result<T, Failed>;

/// A failure with this text.
pub(crate) fn wrong<T>(what: impl Into<String>) -> Checked<T> {
    Err(Failed::Wrong(what.into()))
}

/// Fails with this text unless the condition holds.
pub(crate) fn ensure(holds: bool, what: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { wrong(what) }
}

/// Fails unless both values are equal.
#[expect(clippy::needless_pass_by_value, reason = "cases compare literals and fresh values")]
pub(crate) fn same<A: Debug + PartialEq<B>, B: Debug>(what: &str, got: A, want: B) -> Checked {
    if got == want { Ok(()) } else { wrong(format!("{what} is {got:?}, expected {want:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_both_sides() {
        let failed = same("status", "draft", "active").unwrap_err();
        assert_eq!(failed.to_string(), "status is \"draft\", expected \"active\"");
        assert_eq!(same("epoch", 2, 2), Ok(()));
    }
}
