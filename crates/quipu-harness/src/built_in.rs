//! Ids of what is there from the start, without a document.

/// The Workspace of Sessions that were opened without one.
pub const WORKSPACE_DEFAULT: &str = "workspace_default";
/// The Session of Tasks that were made without one.
pub const SESSION_DEFAULT: &str = "session_default";
