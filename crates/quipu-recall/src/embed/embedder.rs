//! Owns what an embedder promises and how it may fail. Owns no model.

use std::fmt::Debug;

/// Turns texts into vectors whose cosine says how close they are in meaning.
pub trait Embedder: Debug + Send + Sync + 'static {
    /// Names the model and its version. Vectors of different ids are never compared.
    fn model_id(&self) -> &str;

    fn dimensions(&self) -> usize;

    /// One vector per text, in their order, of length 1, or all zeros for a text that says nothing
    /// to the model. Every number is finite.
    ///
    /// May take long and may fail; called without any lock. The same text gives the same vector.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model cannot be used at all; asking again does not help.
    #[error("the embedding model {model} cannot be used: {reason}")]
    Unusable { model: String, reason: String },
    /// The model did not answer this time; asking again may help.
    #[error("the embedding model {model} did not answer: {reason}")]
    Unavailable { model: String, reason: String },
    /// The answer is not one vector per text, of the right length and finite.
    #[error("the embedding model {model} gave a wrong answer: {reason}")]
    WrongAnswer { model: String, reason: String },
}

impl EmbedError {
    /// Whether asking again may help.
    pub const fn is_temporary(&self) -> bool {
        !matches!(self, Self::Unusable { .. })
    }
}
