//! By what a Task is found by whoever asks for the next one, and how often it is tried, from what was submitted.

use quipu_core::event::coordination::{RetryPolicy, WorkTerms};
use quipu_wire::harn::{HarnError, JsonObject, QueueTerms};

/// What `metadata` says, and what the Task is a part of.
///
/// # Errors
/// 400 where `queue` or `retry` is malformed.
pub(crate) fn terms_of(
    metadata: &JsonObject,
    parent: Option<&str>,
) -> Result<Option<WorkTerms>, HarnError> {
    let QueueTerms { queue, retry } = QueueTerms::of_metadata(metadata)?;
    let retry = retry.map(|terms| RetryPolicy {
        max_attempts: terms.max_attempts,
        backoff_ms: terms.backoff_ms,
        factor_thousandths: terms.factor_thousandths,
        max_backoff_ms: terms.max_backoff_ms,
    });
    let parent = parent.map(str::to_owned);
    Ok(WorkTerms { queue, parent, retry }.unless_empty())
}
