//! The seam for a second opinion, such as a language model's. It is asked in the background, about
//! verdicts that a detector has reached already; it never finds anything itself.

use std::fmt::Debug;

use super::detector::{Claim, Disagreement};

#[derive(Debug, Clone, PartialEq)]
pub enum Opinion {
    /// They do disagree; the judge's own words, if it has any.
    Confirmed(Option<String>),
    Denied,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no opinion: {reason}")]
pub struct JudgeError {
    pub reason: String,
}

/// Confirms or denies verdicts. May be slow and may fail; a failure leaves the verdict as it is.
pub trait Judge: Debug + Send + Sync + 'static {
    /// Who judges, for whoever asks what this server uses.
    fn name(&self) -> &str;

    fn judge(
        &self,
        older: &Claim<'_>,
        newer: &Claim<'_>,
        verdict: &Disagreement,
    ) -> Result<Opinion, JudgeError>;
}
