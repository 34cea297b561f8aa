//! The taxonomy of events, whole, and the names that others may use beside it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::words::words;

words! {
    /// What can happen, as the protocol names it.
    EventKind {
        /// A user said something.
        UserMessage = "user.message",
        /// A user answered a request for input.
        UserInputSubmitted = "user.input_submitted",
        /// A user confirmed or refused a tool call.
        UserToolConfirmation = "user.tool_confirmation",
        /// A user asked to cancel.
        UserCancelRequested = "user.cancel_requested",
        /// An agent said something.
        AgentMessage = "agent.message",
        /// A summary of an agent's reasoning that may be shown.
        AgentReasoningSummary = "agent.reasoning_summary",
        /// An agent called a tool.
        AgentToolUse = "agent.tool_use",
        /// A tool answered.
        AgentToolResult = "agent.tool_result",
        /// An agent called a tool of an MCP server.
        AgentMcpToolUse = "agent.mcp_tool_use",
        /// An agent handed work over.
        AgentHandoff = "agent.handoff",
        /// An agent read memory.
        AgentMemoryRead = "agent.memory_read",
        /// An agent wrote memory.
        AgentMemoryWrite = "agent.memory_write",
        /// A Task was accepted.
        TaskSubmitted = "task.submitted",
        /// Work on a Task began.
        TaskStarted = "task.started",
        /// A Task waits for the user.
        TaskInputRequired = "task.input_required",
        /// A Task waits for an authorization.
        TaskAuthRequired = "task.auth_required",
        /// A Task was completed.
        TaskCompleted = "task.completed",
        /// A Task failed.
        TaskFailed = "task.failed",
        /// A Task was canceled.
        TaskCanceled = "task.canceled",
        /// Any other change of a Task's status.
        TaskStatusChanged = "task.status_changed",
        /// A Session was opened.
        SessionCreated = "session.created",
        /// A Session was closed.
        SessionClosed = "session.closed",
        /// A Message was appended to a Session.
        SessionMessageAppended = "session.message_appended",
        /// Old text of a Session was let go.
        SessionCompacted = "session.compacted",
        /// A Session was forked.
        SessionThreadForked = "session.thread_forked",
        /// A fork came back.
        SessionThreadMerged = "session.thread_merged",
        /// A Session was replayed.
        SessionReplayed = "session.replayed",
        /// The end of a Session's transcript was cut off.
        SessionTruncated = "session.truncated",
        /// A Branch was made.
        BranchCreated = "branch.created",
        /// A Branch changed.
        BranchUpdated = "branch.updated",
        /// A Branch was merged.
        BranchMerged = "branch.merged",
        /// A Branch was given up.
        BranchAbandoned = "branch.abandoned",
        /// An Artifact was made.
        ArtifactCreated = "artifact.created",
        /// An Artifact changed.
        ArtifactUpdated = "artifact.updated",
        /// An Artifact was linked to another resource.
        ArtifactLinked = "artifact.linked",
        /// An Artifact's content was removed, and a descriptor left.
        ArtifactRedacted = "artifact.redacted",
        /// A span began.
        SpanStarted = "span.started",
        /// A span went on.
        SpanUpdated = "span.updated",
        /// A span ended well.
        SpanCompleted = "span.completed",
        /// A span failed.
        SpanFailed = "span.failed",
        /// A tool was asked for.
        ToolRequested = "tool.requested",
        /// A tool call waits for somebody to agree.
        ToolApprovalRequired = "tool.approval_required",
        /// Somebody agreed to a tool call.
        ToolApproved = "tool.approved",
        /// Somebody refused a tool call.
        ToolDenied = "tool.denied",
        /// A tool call ended well.
        ToolCompleted = "tool.completed",
        /// A tool call failed.
        ToolFailed = "tool.failed",
        /// A connector was sent something.
        ConnectorDeliveryReceived = "connector.delivery_received",
        /// A connector was sent the same thing again.
        ConnectorDeliveryDeduped = "connector.delivery_deduped",
        /// A delivery was brought into our form.
        ConnectorNormalized = "connector.normalized",
        /// A delivery became a Task.
        ConnectorTaskSubmitted = "connector.task_submitted",
        /// A delivery came to nothing.
        ConnectorFailed = "connector.failed",
        /// A Receipt was issued.
        ReceiptIssued = "receipt.issued",
        /// A Receipt was checked and holds.
        ReceiptVerified = "receipt.verified",
        /// A Receipt was checked and does not hold.
        ReceiptVerificationFailed = "receipt.verification_failed",
        /// A replay began.
        ReplayStarted = "replay.started",
        /// A recorded event was replayed.
        ReplayEventReplayed = "replay.event_replayed",
        /// A replay ended well.
        ReplayCompleted = "replay.completed",
        /// A replay failed.
        ReplayFailed = "replay.failed",
    }
}

impl EventKind {
    /// Whether a worker may append it to its Task. The rest is written by the server alone, because
    /// it says what the server knows: lives of resources, receipts, replays.
    #[must_use]
    pub fn is_appendable(self) -> bool {
        let family = self.as_str().split('.').next().unwrap_or_default();
        matches!(family, "agent" | "span" | "tool")
    }
}

pub const EVENT_NAME_BYTES_MAX: usize = 128;

/// The name of an event: of the taxonomy, or somebody's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EventName {
    /// Of the taxonomy.
    Known(EventKind),
    /// `vendor.…`, or a reversed domain name such as `com.example.build.finished`.
    Vendor(String),
}

impl EventName {
    /// Reads a name; nothing if it is neither known nor in a vendor's form.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if let Some(kind) = EventKind::parse(name) {
            return Some(Self::Known(kind));
        }
        is_vendor_name(name).then(|| Self::Vendor(name.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.as_str(),
            Self::Vendor(name) => name,
        }
    }
}

/// `vendor.x`, or at least three labels whose first is a top-level domain and none of our families.
fn is_vendor_name(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let well_formed = name.len() <= EVENT_NAME_BYTES_MAX
        && labels.iter().all(|label| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
        });
    let Some(first) = labels.first().filter(|_| well_formed) else { return false };
    let ours = |family: &str| EventKind::ALL.iter().any(|kind| kind.as_str().starts_with(family));
    match (*first, labels.len()) {
        ("vendor", 2..) => true,
        (domain, 3..) => domain.len() >= 2 && !ours(&format!("{domain}.")),
        _ => false,
    }
}

impl From<EventKind> for EventName {
    fn from(kind: EventKind) -> Self {
        Self::Known(kind)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for EventName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name)
            .ok_or_else(|| de::Error::custom(format!("{name:?} is not the name of an event")))
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for EventName {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        String::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for EventName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_or_in_a_vendors_form() {
        for kind in EventKind::ALL {
            assert_eq!(EventName::parse(kind.as_str()), Some(EventName::Known(*kind)));
        }
        for vendor in ["vendor.checkpoint.created", "vendor.x", "com.example.build"] {
            assert_eq!(EventName::parse(vendor).unwrap().as_str(), vendor);
        }
        for bad in
            ["", "task", "task.resumed", "task.a.b", "vendor.", "com.Example.x", "a..b", "x.y"]
        {
            assert_eq!(EventName::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_worker_appends_what_agents_do_and_nothing_else() {
        assert!(EventKind::AgentToolUse.is_appendable());
        assert!(EventKind::SpanFailed.is_appendable());
        for kind in [EventKind::TaskCompleted, EventKind::ReceiptIssued, EventKind::UserMessage] {
            assert!(!kind.is_appendable(), "{kind}");
        }
    }

    #[test]
    fn the_taxonomy_is_whole() {
        assert_eq!(EventKind::ALL.len(), 58);
    }
}
