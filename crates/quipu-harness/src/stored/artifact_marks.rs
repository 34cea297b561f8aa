//! What the server notes in the metadata of an Artifact, for itself. Clients may not set it.

use quipu_wire::harn::Artifact;

/// In the metadata of an Artifact: that its content was taken away, and by whom. Nobody else may set it.
pub(crate) const REDACTED: &str = "content_redacted";
/// In the answer to who took the content of an Artifact away: which others have the same bytes.
pub(crate) const STILL_HELD: &str = "content_still_held";
/// In the metadata of an event log's document: the commit up to which it goes. Never shown.
pub(crate) const EVENT_LOG_UNTIL: &str = "event_log_until";

/// Whether the content of an Artifact was taken away.
pub(crate) fn is_redacted(artifact: &Artifact) -> bool {
    artifact.envelope.metadata.contains_key(REDACTED)
}
