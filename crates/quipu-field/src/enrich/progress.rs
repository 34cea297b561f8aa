//! How far the second vectors have come, for whoever operates the server.

/// How far the vectors of the configured model have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrichmentProgress {
    pub model: String,
    /// Units that have its vector.
    pub done: u64,
    /// Units that should have it.
    pub of: u64,
    /// Why the last attempt gave nothing; none where it worked.
    pub failure: Option<String>,
}
