//! The seam: what a detector is given and what it answers.

use std::fmt::Debug;

use super::candidates::{Candidate, Probe, Sieve};
use crate::Index;

/// By what two documents were found to disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Close in meaning, opposite in claim.
    Semantic,
    /// An assumption of one clashes with what the other says.
    Logical,
    /// A late arrival opposes an older, surer document.
    Temporal,
}

/// What a detector may know of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim<'text> {
    pub content: &'text str,
    pub assumptions: &'text [String],
    /// How sure its author is, 0.0 to 1.0.
    pub confidence: Option<f64>,
    /// Who says it. "I" means somebody else in the mouth of another author.
    pub author: u32,
}

/// A verdict that two documents disagree.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    pub method: Method,
    /// How sure the detector is, from 0 to 1.
    pub sureness: f64,
    pub reason: String,
}

/// Finds documents that disagree. The same input gives the same verdicts.
pub trait Detector: Debug + Send + Sync + 'static {
    /// What to ask the index for a text; none where nothing in it can be held against another.
    fn probe(&self, content: &str) -> Option<Probe>;

    /// Documents that may disagree with the probed one, at most `limit`, best first, of those that
    /// the sieve lets through. Called while readers share the index with a writer, so it must be quick.
    fn candidates(
        &self,
        index: &Index,
        probe: &Probe,
        limit: usize,
        sieve: &Sieve<'_>,
    ) -> Vec<Candidate>;

    /// Whether two documents disagree. `older` was recorded first; `closeness` is the candidate's.
    fn judge(&self, older: &Claim<'_>, newer: &Claim<'_>, closeness: f32) -> Option<Disagreement>;
}

/// Finds nothing by itself: only what authors say themselves is a conflict.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExplicitOnly;

impl Detector for ExplicitOnly {
    fn probe(&self, _content: &str) -> Option<Probe> {
        None
    }

    fn candidates(
        &self,
        _index: &Index,
        _probe: &Probe,
        _limit: usize,
        _sieve: &Sieve<'_>,
    ) -> Vec<Candidate> {
        Vec::new()
    }

    fn judge(&self, _: &Claim<'_>, _: &Claim<'_>, _: f32) -> Option<Disagreement> {
        None
    }
}
