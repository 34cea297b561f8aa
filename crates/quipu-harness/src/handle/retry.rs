//! Writes that rest on what was read before them: where another write came between, they are read and made again.

use quipu_core::{Refusal, rules::harn::Error as Rule};
use quipu_field::FieldError;
use quipu_wire::{akashik::TaskStatus, harn::HarnError};

use crate::handle::failure::harn_error;

/// How often a write is tried; after that, whoever asked for it has to ask again.
const ATTEMPTS_MAX: usize = 32;

/// Why a write was not made. What decides on the reason matches the type, before it is put into words.
#[derive(Debug)]
pub(crate) enum WriteError {
    Field(FieldError),
    /// It was refused before the Field was asked, or what it rests on could not be read.
    Before(HarnError),
}

impl WriteError {
    /// The rule of this protocol that refused it, if one did.
    pub(crate) const fn rule(&self) -> Option<&Rule> {
        match self {
            Self::Field(FieldError::Refused(Refusal::Harn(rule))) => Some(rule),
            Self::Field(_) | Self::Before(_) => None,
        }
    }

    /// Whether another write came between: what this one rests on is no longer so.
    pub(crate) const fn is_outdated(&self) -> bool {
        matches!(self.rule(), Some(Rule::Changed))
    }

    /// Whether something has the id already that was to be made.
    pub(crate) fn is_taken(&self, wanted: &str) -> bool {
        matches!(self.rule(), Some(Rule::IdTaken { id, .. }) if id == wanted)
    }

    /// Whether a Task has recorded something under a key already.
    pub(crate) fn is_recorded(&self, of: &str, wanted: &str) -> bool {
        matches!(self.rule(), Some(Rule::KeyTaken { task, key }) if task == of && key == wanted)
    }

    /// Whether it was refused because the caller does not work on a Task, or nobody does any more.
    pub(crate) fn is_not_worker(&self, id: &str) -> bool {
        match self.rule() {
            Some(Rule::NotHeld { task, .. } | Rule::IllegalMove { task, .. }) => task == id,
            _ => false,
        }
    }

    /// Where a Task stands, if the write was refused because the Task stands there.
    pub(crate) fn stands_at(&self, id: &str) -> Option<TaskStatus> {
        match self.rule() {
            Some(Rule::IllegalMove { task, status, .. }) if task == id => Some(*status),
            _ => None,
        }
    }
}

impl From<FieldError> for WriteError {
    fn from(error: FieldError) -> Self {
        Self::Field(error)
    }
}

impl From<HarnError> for WriteError {
    fn from(error: HarnError) -> Self {
        Self::Before(error)
    }
}

impl From<WriteError> for HarnError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Field(error) => harn_error(&error),
            WriteError::Before(error) => error,
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
            Err(error) if error.is_outdated() => {}
            done => return Ok(done?),
        }
    }
    Ok(attempt().await?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use quipu_core::DocumentKind;
    use quipu_wire::harn::HarnErrorCode;

    use super::*;

    /// Another write came between, as the Field says it.
    fn outdated() -> WriteError {
        refused(Rule::Changed)
    }

    fn refused(rule: Rule) -> WriteError {
        FieldError::from(Refusal::from(rule)).into()
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

    #[test]
    fn a_refusal_is_told_apart_by_its_reason_and_not_by_its_code() {
        let id = "task-1".to_owned();
        let (status, wanted) = (TaskStatus::Cancelled, "completed");
        let moved = refused(Rule::IllegalMove { task: id.clone(), status, wanted });
        let taken = refused(Rule::IdTaken { kind: DocumentKind::Task, id: id.clone() });
        assert_eq!(moved.stands_at(&id), Some(TaskStatus::Cancelled));
        assert_eq!((moved.stands_at("task-2"), taken.stands_at(&id)), (None, None));
        assert!(taken.is_taken(&id) && !moved.is_taken(&id));
        let recorded = refused(Rule::KeyTaken { task: id.clone(), key: "host:a:1".to_owned() });
        assert!(recorded.is_recorded(&id, "host:a:1") && !recorded.is_recorded(&id, "host:a:2"));
        assert!(!recorded.is_recorded("task-2", "host:a:1") && !taken.is_recorded(&id, &id));
        assert_eq!(HarnError::from(moved).code, HarnErrorCode::Conflict);
        assert_eq!(HarnError::from(taken).code, HarnErrorCode::Conflict);
    }
}
