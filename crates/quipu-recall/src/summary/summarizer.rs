//! The seam for a model that writes summaries. Whoever uses one has the extractive text of
//! [`crate::summary::summarize`] to fall back on.

use std::fmt::Debug;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no summary: {reason}")]
pub struct SummarizerError {
    pub reason: String,
}

/// Writes several dated notes down as one text. May take long and may fail; called without any lock.
pub trait Summarizer: Debug + Send + Sync + 'static {
    /// Who writes, for whoever reads it later.
    fn name(&self) -> &str;

    /// A summary of `notes`, of about `tokens` tokens: never empty, without control characters but
    /// ends of lines.
    fn summarize(&self, notes: &str, tokens: usize) -> Result<String, SummarizerError>;
}
