//! Writes that rest on what was read before them: where another write came between, they are read and made again.

use quipu_core::rules::harn::CHANGED;
use quipu_wire::{ProtocolError, harn::HarnError};

use crate::handle::failure::harn_error;

/// How often a write is tried; after that, whoever asked for it has to ask again.
const ATTEMPTS_MAX: usize = 32;

/// Why a write was not made.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// Another write came between: what this one rests on is no longer so.
    Outdated(HarnError),
    /// Any other reason.
    Refused(HarnError),
}

impl WriteError {
    /// The Field's answer to a write. The only place that knows how the Field says that another write came between.
    pub(crate) fn of(error: &ProtocolError) -> Self {
        let refusal = harn_error(error);
        if error.message == CHANGED { Self::Outdated(refusal) } else { Self::Refused(refusal) }
    }
}

impl From<HarnError> for WriteError {
    fn from(error: HarnError) -> Self {
        Self::Refused(error)
    }
}

impl From<WriteError> for HarnError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Outdated(error) | WriteError::Refused(error) => error,
        }
    }
}

/// Reads, changes and writes, and does so again while another write comes between, but not for ever.
///
/// # Errors
/// 503 where another write came between each time; otherwise why the write was refused.
pub(crate) async fn retry_until_unchanged<T, F>(attempt: impl Fn() -> F) -> Result<T, HarnError>
where
    F: Future<Output = Result<T, WriteError>>,
{
    for _ in 1..ATTEMPTS_MAX {
        match attempt().await {
            Err(WriteError::Outdated(_)) => {}
            done => return Ok(done?),
        }
    }
    Ok(attempt().await?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use quipu_core::rules::{Refusal, harn::Error};
    use quipu_wire::harn::HarnErrorCode;

    use super::*;

    /// Another write came between, as the Field says it.
    fn outdated() -> WriteError {
        WriteError::of(&ProtocolError::from(Refusal::from(Error::Changed)))
    }

    #[tokio::test]
    async fn a_write_is_made_again_until_none_comes_between() {
        let attempts = Cell::new(0);
        let attempt = || async {
            attempts.set(attempts.get() + 1);
            if attempts.get() < 3 { Err(outdated()) } else { Ok(attempts.get()) }
        };
        assert_eq!(retry_until_unchanged(attempt).await.unwrap(), 3);
    }

    #[tokio::test]
    async fn a_write_that_another_always_precedes_is_given_up_as_unavailable() {
        let attempts = Cell::new(0);
        let attempt = || async {
            attempts.set(attempts.get() + 1);
            Err::<(), _>(outdated())
        };
        let error = retry_until_unchanged(attempt).await.unwrap_err();
        assert_eq!(error.code, HarnErrorCode::ServiceUnavailable);
        assert_eq!(attempts.get(), ATTEMPTS_MAX);
    }

    #[tokio::test]
    async fn a_write_that_is_refused_is_not_made_again() {
        let attempts = Cell::new(0);
        let attempt = || async {
            attempts.set(attempts.get() + 1);
            Err::<(), _>(WriteError::from(HarnError::new(HarnErrorCode::Conflict, "over")))
        };
        let error = retry_until_unchanged(attempt).await.unwrap_err();
        assert_eq!((error.code, attempts.get()), (HarnErrorCode::Conflict, 1));
    }
}
