//! What is called after a Task or after its receipt: the ids that the end of a Task takes.

use quipu_core::{DocumentKind, State};
use quipu_wire::harn::ResourceKind;

/// How the event log of a receipt is called, before the rest of the receipt's id.
const EVENT_LOG: &str = "event_log_";

/// How the rest of a replay's id begins.
const REPLAY: &str = "replay_";

/// What a Task's id says behind its prefix; Akashik's tasks have none.
pub(crate) fn rest_of(task: &str) -> &str {
    ResourceKind::Task.rest_of(task).unwrap_or(task)
}

pub(crate) fn outcome_id(task: &str) -> String {
    ResourceKind::Outcome.id(rest_of(task))
}

/// The id of the first receipt of a Task.
pub(crate) fn receipt_id(task: &str) -> String {
    ResourceKind::Receipt.id(rest_of(task))
}

/// How a receipt names its event log; one whose id is not a receipt's, and the one of a Task without a receipt, is
/// named after the Task. That of a replay has the whole id of its receipt, so that whoever compares the receipts of two
/// replays finds in them no other ids than those of the Task and of the receipt.
pub(crate) fn event_log_name(receipt: Option<&str>, task: &str) -> String {
    let own = receipt.filter(|_| rest_of(task).starts_with(REPLAY));
    let rest = own.or_else(|| receipt.and_then(|id| ResourceKind::Receipt.rest_of(id)));
    format!("{EVENT_LOG}{}", rest.unwrap_or_else(|| rest_of(task)))
}

/// How an event log of this name is kept.
pub(crate) fn event_log_artifact(name: &str) -> String {
    ResourceKind::Artifact.id(name)
}

/// What the id of an event log's Artifact says behind what all of them begin with.
pub(crate) fn rest_of_event_log(artifact: &str) -> Option<&str> {
    let rest = ResourceKind::Artifact.rest_of(artifact)?.strip_prefix(EVENT_LOG)?;
    Some(ResourceKind::Receipt.rest_of(rest).unwrap_or(rest))
}

/// The first id of a receipt, or else the next with a number, under which neither a receipt is here nor its event log:
/// what was brought from elsewhere may have either, and nothing keeps a Task from ending.
pub(crate) fn free_receipt_id(state: &State, task: &str, first: String) -> String {
    let is_free = |id: &String| {
        let log = event_log_artifact(&event_log_name(Some(id), task));
        state.documents.taken(DocumentKind::Receipt, id).is_none()
            && state.documents.taken(DocumentKind::Artifact, &log).is_none()
    };
    first_free(first, is_free)
}

/// The id of the Artifact of what a replay returned, or else the next that is free.
pub(crate) fn free_output_id(state: &State, task: &str) -> String {
    let is_free = |id: &String| state.documents.taken(DocumentKind::Artifact, id).is_none();
    first_free(ResourceKind::Artifact.id(rest_of(task)), is_free)
}

fn first_free(first: String, is_free: impl Fn(&String) -> bool) -> String {
    let later = (2u32..).map(|number| format!("{first}_{number}"));
    std::iter::once(first.clone()).chain(later).find(is_free).unwrap_or(first)
}
