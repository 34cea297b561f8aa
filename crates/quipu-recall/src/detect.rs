//! The seam for finding documents that disagree. A [`Detector`] first names candidates by the index
//! alone, and then judges pairs by their texts; who keeps the verdicts is not decided here.

use std::fmt::Debug;

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
    /// The document.
    pub document: u32,
    /// What it says.
    pub content: &'text str,
    /// What it takes for granted.
    pub assumptions: &'text [String],
    /// How sure its author is, 0.0 to 1.0.
    pub confidence: Option<f64>,
    /// When it was recorded: later is larger.
    pub epoch: u64,
}

/// A verdict that two documents disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// By what.
    pub method: Method,
    /// What disagrees with what, in words.
    pub reason: String,
}

/// Finds documents that disagree. The same input gives the same verdicts.
pub trait Detector: Debug + Send + Sync + 'static {
    /// Documents that may disagree with one, at most `limit`, best first. Called while readers share
    /// the index with a writer, so it must be quick.
    fn candidates(&self, index: &Index, document: u32, limit: usize) -> Vec<u32>;

    /// Whether two documents disagree. `older` was recorded first.
    fn judge(&self, older: &Claim<'_>, newer: &Claim<'_>) -> Option<Disagreement>;
}

/// Finds nothing by itself: only what authors say themselves is a conflict.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExplicitOnly;

impl Detector for ExplicitOnly {
    fn candidates(&self, _index: &Index, _document: u32, _limit: usize) -> Vec<u32> {
        Vec::new()
    }

    fn judge(&self, _older: &Claim<'_>, _newer: &Claim<'_>) -> Option<Disagreement> {
        None
    }
}
