//! Which models a Field asks, and what for.

use quipu_recall::{Embedder as _, embed::builtin};

use crate::field::Field;

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelRole {
    /// The vectors that rank at once.
    Embedding,
    /// Second vectors, in the background.
    SecondEmbedding,
    /// The summaries of COMPACT.
    Summary,
    /// Whether two units disagree.
    Judgement,
}

/// A model that a Field asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInUse {
    pub role: ModelRole,
    /// As it names itself.
    pub id: String,
    /// Of vectors, how many numbers each has.
    pub dimensions: Option<usize>,
    /// Whether it is in the binary.
    pub built_in: bool,
    /// Whether it failed when it was last asked; nothing where nobody keeps account.
    pub failing: Option<bool>,
}

impl Field {
    /// The models that this Field asks, in the order of their roles.
    #[must_use]
    pub fn models_in_use(&self) -> Vec<ModelInUse> {
        let own = builtin();
        let mut models = vec![ModelInUse {
            role: ModelRole::Embedding,
            id: own.model_id().to_owned(),
            dimensions: Some(own.dimensions()),
            built_in: true,
            failing: Some(false),
        }];
        let asked = |role, id: &str| ModelInUse {
            role,
            id: id.to_owned(),
            dimensions: None,
            built_in: false,
            failing: None,
        };
        if let Some(embedder) = &self.models.embedder {
            let dimensions = Some(embedder.dimensions()).filter(|dimensions| *dimensions > 0);
            let failing = Some(self.is_enrichment_failing());
            let model = asked(ModelRole::SecondEmbedding, embedder.model_id());
            models.push(ModelInUse { dimensions, failing, ..model });
        }
        if let Some(summarizer) = &self.models.summarizer {
            models.push(asked(ModelRole::Summary, summarizer.name()));
        }
        if let Some(judge) = self.lookout.second_opinion() {
            models.push(asked(ModelRole::Judgement, judge.name()));
        }
        models
    }
}
