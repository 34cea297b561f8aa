//! The scopes of an OAuth2 access token.

use crate::words::words;

words! {
    /// What a token lets its bearer do. Replay needs `tasks:write`: the protocol names no scope for it.
    TokenScope {
        /// Read Sessions.
        SessionsRead = "sessions:read",
        /// Create or change Sessions.
        SessionsWrite = "sessions:write",
        /// Read Tasks.
        TasksRead = "tasks:read",
        /// Submit, cancel or replay Tasks.
        TasksWrite = "tasks:write",
        /// Read or stream Events.
        EventsRead = "events:read",
        /// Read Artifacts.
        ArtifactsRead = "artifacts:read",
        /// Register Artifacts.
        ArtifactsWrite = "artifacts:write",
        /// Read Receipts.
        ReceiptsRead = "receipts:read",
    }
}
