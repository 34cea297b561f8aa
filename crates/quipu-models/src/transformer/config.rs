//! What a model directory says about its model: its shape, how texts are cut, how tokens are pooled.

use std::{fs, io, path::Path};

use serde::{Deserialize, de::DeserializeOwned};

use super::error::DirectoryError;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub(super) vocabulary: usize,
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    pub(super) positions: usize,
    pub(super) token_types: usize,
    pub(super) epsilon: f32,
    /// Tokens that a text is cut to, the two around it included.
    pub(super) tokens_max: usize,
    pub(super) pooling: Pooling,
}

/// How the tokens' vectors become the text's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    First,
}

#[derive(Debug, Deserialize)]
struct BertConfig {
    model_type: String,
    hidden_act: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f32,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

#[derive(Debug, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

impl Shape {
    /// Reads the configuration of a model and refuses models that cannot be run.
    pub(super) fn read(directory: &Path) -> Result<Self, DirectoryError> {
        let path = directory.join("config.json");
        let bert: BertConfig = required(&path)?;
        let sentence: Option<SentenceConfig> =
            optional(&directory.join("sentence_bert_config.json"))?;
        let cut = sentence.and_then(|config| config.max_seq_length);
        let shape = Self {
            vocabulary: bert.vocab_size,
            hidden: bert.hidden_size,
            layers: bert.num_hidden_layers,
            heads: bert.num_attention_heads,
            intermediate: bert.intermediate_size,
            positions: bert.max_position_embeddings,
            token_types: bert.type_vocab_size,
            epsilon: bert.layer_norm_eps,
            tokens_max: cut.unwrap_or(usize::MAX).min(bert.max_position_embeddings),
            pooling: pooling(&directory.join("1_Pooling").join("config.json"))?,
        };
        let refuse = |reason: String| Err(DirectoryError::wrong(&path, reason));
        for (key, found, wanted) in [
            ("model_type", &bert.model_type, "bert"),
            ("hidden_act", &bert.hidden_act, "gelu"),
            ("position_embedding_type", &bert.position_embedding_type, "absolute"),
        ] {
            if found != wanted {
                return refuse(format!("{key} is {found}, and only {wanted} can be run"));
            }
        }
        match shape.impossible() {
            Some(what) => refuse(format!("{what} is out of range")),
            None => Ok(shape),
        }
    }

    /// The first number that is impossible or would need too much memory.
    fn impossible(&self) -> Option<&'static str> {
        let checks = [
            ("vocab_size", (1..=1_000_000).contains(&self.vocabulary)),
            ("hidden_size", (1..=4096).contains(&self.hidden)),
            ("num_hidden_layers", (1..=64).contains(&self.layers)),
            ("intermediate_size", (1..=16_384).contains(&self.intermediate)),
            ("max_position_embeddings", (3..=8192).contains(&self.positions)),
            ("max_seq_length", self.tokens_max >= 3),
            ("type_vocab_size", (1..=16).contains(&self.token_types)),
            ("layer_norm_eps", self.epsilon >= 0.0 && self.epsilon < 1.0),
            ("num_attention_heads", self.heads > 0 && self.hidden.is_multiple_of(self.heads)),
        ];
        checks.into_iter().find_map(|(what, holds)| (!holds).then_some(what))
    }
}

fn pooling(path: &Path) -> Result<Pooling, DirectoryError> {
    match optional::<PoolingConfig>(path)? {
        Some(config) if config.pooling_mode_mean_tokens => Ok(Pooling::Mean),
        Some(config) if config.pooling_mode_cls_token => Ok(Pooling::First),
        Some(_) => {
            Err(DirectoryError::wrong(path, "neither the mean nor the first token is pooled"))
        }
        None => Ok(Pooling::Mean),
    }
}

fn required<T: DeserializeOwned>(path: &Path) -> Result<T, DirectoryError> {
    let text = fs::read(path).map_err(|source| DirectoryError::unreadable(path, source))?;
    serde_json::from_slice(&text).map_err(|error| DirectoryError::wrong(path, error.to_string()))
}

fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, DirectoryError> {
    match required(path) {
        Err(DirectoryError::Unreadable { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        other => other.map(Some),
    }
}
