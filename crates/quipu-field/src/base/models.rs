//! The models that a Field may use. All of them are optional, and a Field goes on without any that fails.

use std::sync::Arc;

use quipu_recall::{Embedder, Index, Summarizer};

/// What a Field asks beyond what is built in.
#[derive(Debug, Clone, Default)]
pub struct FieldModels {
    /// Gives every unit a second vector in the background.
    pub embedder: Option<Arc<dyn Embedder>>,
    pub summarizer: Option<Arc<dyn Summarizer>>,
}

impl FieldModels {
    /// Drops vectors from an index, such as a snapshot's, that no configured model made.
    pub(crate) fn fit(&self, index: &mut Index) {
        let made = index.second().map(|second| &*second.space().model);
        if self.embedder.as_ref().map(|embedder| embedder.model_id()) != made {
            index.close_second();
        }
    }
}
