//! What the server notes in the metadata of an Artifact, for itself. Clients may not set it.

use quipu_core::{rules::harn::FIELD_AGENT, state::DocumentEntry};
use quipu_wire::harn::{Artifact, JsonObject};
use serde_json::Value;

/// In the metadata of an Artifact: that its content was taken away, and by whom. Nobody else may set it.
pub(crate) const REDACTED: &str = "content_redacted";
/// In the answer to who took the content of an Artifact away: which others have the same bytes.
pub(crate) const STILL_HELD: &str = "content_still_held";
/// In the metadata of an event log's document: the commit up to which it goes. Never shown.
const EVENT_LOG_UNTIL: &str = "event_log_until";
/// There too: the last line of the log, where it is of the form that binds its run. Never shown.
const EVENT_LOG_BINDS: &str = "event_log_binds";

/// What an event log is made from that is not kept itself.
#[derive(Debug, Clone)]
pub(crate) struct LogMarks {
    /// The commit up to which it goes.
    pub(crate) until: u64,
    /// Its last line; none in logs of the older form.
    pub(crate) binds: Option<Value>,
}

impl LogMarks {
    pub(crate) fn set(self, metadata: &mut JsonObject) {
        metadata.insert(EVENT_LOG_UNTIL.to_owned(), self.until.into());
        metadata.extend(self.binds.map(|binds| (EVENT_LOG_BINDS.to_owned(), binds)));
    }

    /// Those of an Artifact. Only the Field itself makes these.
    pub(crate) fn read(entry: &DocumentEntry, metadata: &JsonObject) -> Option<Self> {
        let until = metadata.get(EVENT_LOG_UNTIL)?.as_u64()?;
        let binds = metadata.get(EVENT_LOG_BINDS).cloned();
        (entry.created_by == FIELD_AGENT).then_some(Self { until, binds })
    }

    /// Whether an Artifact's own words say that it binds a run.
    pub(crate) fn binds(metadata: &JsonObject) -> bool {
        metadata.contains_key(EVENT_LOG_BINDS)
    }

    /// Takes them out of what is shown, or was sent.
    pub(crate) fn remove(metadata: &mut JsonObject) {
        metadata.remove(EVENT_LOG_UNTIL);
        metadata.remove(EVENT_LOG_BINDS);
    }
}

/// Whether the content of an Artifact was taken away.
pub(crate) fn is_redacted(artifact: &Artifact) -> bool {
    artifact.envelope.metadata.contains_key(REDACTED)
}
