//! The checks that every engine makes before it writes a batch.

use super::error::EngineError;
use crate::{
    commit::{Commit, Head, bodies},
    field_name::FieldName,
};

/// The refusal of `receive` by a field that is not sealed.
#[must_use]
pub fn not_sealed(field: &FieldName, expected: &Head) -> EngineError {
    let reason = format!("field {field} takes appends of its own: it is no copy");
    EngineError::InvalidBatch { position: expected.position.saturating_add(1), reason }
}

/// Checks, without hashing, that `batch` is a chain from `expected`; every engine asserts this before it writes.
///
/// # Errors
/// `InvalidBatch`, naming the first commit that does not follow.
pub fn check_batch(expected: &Head, batch: &[Commit]) -> Result<Head, EngineError> {
    let refuse = |position: u64, reason: &str| {
        Err(EngineError::InvalidBatch { position, reason: reason.to_owned() })
    };
    let mut head = *expected;
    for commit in batch {
        if head.position.checked_add(1) != Some(commit.position) {
            return refuse(commit.position, &format!("it does not follow {}", head.position));
        }
        if commit.prev != head.hash {
            return refuse(commit.position, "its previous hash is not that of the commit before");
        }
        if commit.epoch <= head.epoch {
            return refuse(commit.position, "its epoch is not greater than the one before");
        }
        if !commit.bodies.is_sorted_by(|one, next| one.event < next.event) {
            return refuse(commit.position, "its bodies are not in the order of their events");
        }
        if !bodies::are_json(&commit.bodies) {
            return refuse(commit.position, "a body of it is not JSON");
        }
        head = commit.head();
    }
    if batch.is_empty() {
        return refuse(expected.position.saturating_add(1), "it is empty");
    }
    Ok(head)
}
