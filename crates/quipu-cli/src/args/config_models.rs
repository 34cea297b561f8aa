//! Which models a server asks beyond what is built in: the options, and how flag, variable and file come
//! together. The models themselves are set up by `commands/serve_models.rs`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use serde::Deserialize;

use crate::ui::failure::Failure;

/// The variable that holds the key of the endpoints, where no other is named.
pub(crate) const KEY_VARIABLE: &str = "QUIPU_MODELS_KEY";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The options as flags and variables, and as keys of `[models]` in the config file.
#[derive(Debug, Default, Clone, Args, Deserialize)]
#[command(next_help_heading = "Models")]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelArgs {
    /// Second vectors for ranking: `builtin` for none, a model's directory, or an endpoint such as
    /// http://localhost:11434/v1 [default: builtin]
    #[arg(long, env = "QUIPU_EMBEDDER", hide_env_values = true, value_name = "builtin|DIR|URL")]
    pub(crate) embedder: Option<String>,
    /// Model to ask the embeddings endpoint for
    #[arg(long, env = "QUIPU_EMBEDDER_MODEL", hide_env_values = true, value_name = "NAME")]
    pub(crate) embedder_model: Option<String>,
    /// Numbers in a vector of the endpoint [default: as its first answer has]
    #[arg(long, env = "QUIPU_EMBEDDER_DIMENSIONS", hide_env_values = true, value_name = "N")]
    pub(crate) embedder_dimensions: Option<usize>,
    /// Endpoint whose chat model writes the summaries of COMPACT [default: extracts]
    #[arg(long, env = "QUIPU_SUMMARIZER", hide_env_values = true, value_name = "URL")]
    pub(crate) summarizer: Option<String>,
    /// Model to ask the summarizer for
    #[arg(long, env = "QUIPU_SUMMARIZER_MODEL", hide_env_values = true, value_name = "NAME")]
    pub(crate) summarizer_model: Option<String>,
    /// Endpoint whose chat model confirms or denies the conflicts that detection finds [default: none]
    #[arg(long, env = "QUIPU_JUDGE", hide_env_values = true, value_name = "URL")]
    pub(crate) judge: Option<String>,
    /// Model to ask the judge for
    #[arg(long, env = "QUIPU_JUDGE_MODEL", hide_env_values = true, value_name = "NAME")]
    pub(crate) judge_model: Option<String>,
    /// Variable that holds the endpoints' key [default: QUIPU_MODELS_KEY]
    #[arg(long, env = "QUIPU_MODELS_KEY_ENV", hide_env_values = true, value_name = "NAME")]
    pub(crate) models_key_env: Option<String>,
    /// Certificates that https endpoints are checked against, in PEM [default: the system's]
    #[arg(long, env = "QUIPU_MODELS_CA", hide_env_values = true, value_name = "FILE")]
    pub(crate) models_ca: Option<PathBuf>,
    /// Time for one attempt to ask an endpoint, in milliseconds [default: 10000]
    #[arg(long, env = "QUIPU_MODELS_TIMEOUT_MS", hide_env_values = true, value_name = "N")]
    pub(crate) models_timeout_ms: Option<u64>,
    /// The endpoints' key. In the file only: a flag would be seen in the list of processes.
    #[arg(skip)]
    pub(crate) models_key: Option<Secret>,
}

/// A text that is shown by nothing.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbedderSource {
    /// There are none.
    BuiltIn,
    Directory(PathBuf),
    Endpoint(String),
}

impl ModelArgs {
    /// What was given here, else what the file says.
    pub(crate) fn or(self, file: Self) -> Self {
        Self {
            embedder: self.embedder.or(file.embedder),
            embedder_model: self.embedder_model.or(file.embedder_model),
            embedder_dimensions: self.embedder_dimensions.or(file.embedder_dimensions),
            summarizer: self.summarizer.or(file.summarizer),
            summarizer_model: self.summarizer_model.or(file.summarizer_model),
            judge: self.judge.or(file.judge),
            judge_model: self.judge_model.or(file.judge_model),
            models_key_env: self.models_key_env.or(file.models_key_env),
            models_ca: self.models_ca.or(file.models_ca),
            models_timeout_ms: self.models_timeout_ms.or(file.models_timeout_ms),
            models_key: self.models_key.or(file.models_key),
        }
    }

    pub(crate) fn source(&self) -> EmbedderSource {
        match self.embedder.as_deref() {
            None | Some("" | "builtin") => EmbedderSource::BuiltIn,
            Some(url) if is_url(url) => EmbedderSource::Endpoint(url.to_owned()),
            Some(directory) => EmbedderSource::Directory(directory.into()),
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.models_timeout_ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis)
    }

    /// The key: of the variable that is named, else of the usual one, else of the file.
    pub(crate) fn key(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<String>, Failure> {
        match &self.models_key_env {
            Some(name) => variable(name).map(Some).ok_or_else(|| {
                Failure::new(format!("the variable {name} is not set"))
                    .advise("set it to the endpoints' key, or leave --models-key-env out")
            }),
            None => {
                let file = || self.models_key.clone().map(|Secret(key)| key);
                Ok(variable(KEY_VARIABLE).or_else(file))
            }
        }
    }
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(embedder: &str) -> ModelArgs {
        ModelArgs { embedder: Some(embedder.to_owned()), ..ModelArgs::default() }
    }

    #[test]
    fn an_embedder_is_nothing_a_directory_or_an_endpoint() {
        assert_eq!(ModelArgs::default().source(), EmbedderSource::BuiltIn);
        assert_eq!(args("builtin").source(), EmbedderSource::BuiltIn);
        assert_eq!(args("./model").source(), EmbedderSource::Directory("./model".into()));
        let url = "https://models.example/v1".to_owned();
        assert_eq!(args(&url).source(), EmbedderSource::Endpoint(url));
    }

    #[test]
    fn the_key_comes_from_the_named_variable_the_usual_one_or_the_file() {
        let file =
            ModelArgs { models_key: Some(Secret("of file".to_owned())), ..ModelArgs::default() };
        let named = ModelArgs { models_key_env: Some("MINE".to_owned()), ..file.clone() };
        let set =
            |name: &'static str| move |asked: &str| (asked == name).then(|| format!("of {name}"));
        let key = |args: &ModelArgs, name| args.key(set(name)).unwrap();
        assert_eq!(key(&named, "MINE").as_deref(), Some("of MINE"));
        assert_eq!(key(&file, KEY_VARIABLE).as_deref(), Some("of QUIPU_MODELS_KEY"));
        assert_eq!(key(&file, "none").as_deref(), Some("of file"));
        assert_eq!(key(&ModelArgs::default(), "none"), None);
        assert!(named.key(set("none")).unwrap_err().to_string().contains("MINE"));
    }

    #[test]
    fn the_key_is_not_shown() {
        let file: ModelArgs = toml::from_str("models_key = 'hidden'").unwrap();
        assert!(file.models_key.is_some() && !format!("{file:?}").contains("hidden"));
    }
}
