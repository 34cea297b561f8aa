//! `/embeddings` of an endpoint as an [`Embedder`]. Believes no vector that it has not checked.

use std::sync::{Arc, OnceLock};

use quipu_recall::embed::{EmbedError, Embedder};
use serde::{Deserialize, Serialize};

use super::{endpoint::Endpoint, error::CallError};
use crate::limits::{DIMENSIONS_MAX, EMBED_BATCH_TEXTS, EMBED_TEXT_CHARS_MAX};

#[derive(Debug)]
pub struct RemoteEmbedder {
    endpoint: Arc<Endpoint>,
    id: String,
    /// Learned from the first answer, where it was not given.
    dimensions: OnceLock<usize>,
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl RemoteEmbedder {
    /// The embedder of an endpoint. Without `dimensions` the first answer says how many there are,
    /// and until then [`Embedder::dimensions`] is 0.
    #[must_use]
    pub fn new(endpoint: Arc<Endpoint>, dimensions: Option<usize>) -> Self {
        let known = dimensions.map_or_else(OnceLock::new, OnceLock::from);
        Self { id: format!("endpoint-{}", endpoint.model()), endpoint, dimensions: known }
    }

    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, CallError> {
        let request =
            Request { model: self.endpoint.model(), input: texts, encoding_format: "float" };
        let answer: Answer = self.endpoint.call("/embeddings", &request)?;
        self.check(answer.data, texts.len()).map_err(|reason| self.endpoint.distrust(reason))
    }

    /// One vector for each text, all of the known dimension, all numbers finite; or what is wrong.
    fn check(&self, items: Vec<Item>, texts: usize) -> Result<Vec<Vec<f32>>, String> {
        if items.len() != texts {
            return Err(format!("{} vectors for {texts} texts", items.len()));
        }
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
        let first = items.first().map_or(0, |item| item.embedding.len());
        let dimensions = self.dimensions.get().copied().unwrap_or(first);
        for (at, item) in items.into_iter().enumerate() {
            let found = item.embedding.len();
            if found != dimensions || !(1..=DIMENSIONS_MAX).contains(&found) {
                return Err(format!("a vector of {found} numbers, where {dimensions} are due"));
            }
            let index = item.index.unwrap_or(at);
            match vectors.get_mut(index) {
                Some(slot @ None) => *slot = Some(unit_length(item.embedding)?),
                Some(_) | None => return Err(format!("index {index} twice or out of range")),
            }
        }
        self.dimensions.get_or_init(|| dimensions);
        Ok(vectors.into_iter().flatten().collect())
    }

    fn failed(&self, error: &CallError) -> EmbedError {
        let (model, reason) = (self.id.clone(), error.to_string());
        match error {
            CallError::LeftAlone | CallError::Unavailable { .. } => {
                EmbedError::Unavailable { model, reason }
            }
            CallError::Refused { .. } => EmbedError::Unusable { model, reason },
            CallError::WrongAnswer { .. } => EmbedError::WrongAnswer { model, reason },
        }
    }
}

fn unit_length(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if !length.is_finite() {
        return Err("a vector with a number that is not finite".to_owned());
    }
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    Ok(vector)
}

impl Embedder for RemoteEmbedder {
    fn model_id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions.get().copied().unwrap_or(0)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Many endpoints refuse an empty text; it has no meaning to ask for.
        let spoken: Vec<&str> =
            texts.iter().map(|text| cut(text.trim())).filter(|text| !text.is_empty()).collect();
        let mut found = Vec::with_capacity(spoken.len());
        for batch in spoken.chunks(EMBED_BATCH_TEXTS) {
            found.extend(self.ask(batch).map_err(|error| self.failed(&error))?);
        }
        let mut found = found.into_iter();
        let silence = || vec![0.0; self.dimensions()];
        let vector = |text: &&str| {
            if text.trim().is_empty() { Some(silence()) } else { found.next() }
        };
        Ok(texts.iter().filter_map(vector).collect())
    }
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(EMBED_TEXT_CHARS_MAX)).unwrap_or(text)
}
