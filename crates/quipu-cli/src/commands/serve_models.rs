//! Sets up the models that `quipu serve` is told to ask. Whatever is wrong with them is said here, at the
//! start; whether they answer is seen later, and never stops the server.

use std::{path::Path, sync::Arc};

use quipu_field::FieldModels;
use quipu_models::{
    ChatModel, Endpoint, EndpointOptions, LocalModel, RemoteEmbedder, RemoteJudge, RemoteSummarizer,
};

use quipu_recall::detect::Judge;

use crate::{
    args::config_models::{EmbedderSource, ModelArgs},
    ui::failure::Failure,
};

pub(super) fn models(settings: &ModelArgs) -> Result<FieldModels, Failure> {
    let mut models = FieldModels::default();
    match settings.source() {
        EmbedderSource::BuiltIn => {}
        EmbedderSource::Directory(directory) => models.embedder = Some(local(&directory)?),
        EmbedderSource::Endpoint(url) => {
            let endpoint = endpoint(settings, "embedder", &url, settings.embedder_model.as_ref())?;
            let dimensions = settings.embedder_dimensions;
            models.embedder = Some(Arc::new(RemoteEmbedder::new(endpoint, dimensions)));
        }
    }
    if let Some(url) = &settings.summarizer {
        let endpoint = endpoint(settings, "summarizer", url, settings.summarizer_model.as_ref())?;
        models.summarizer = Some(Arc::new(RemoteSummarizer::new(ChatModel::new(endpoint))));
    }
    Ok(models)
}

/// Who confirms or denies the conflicts that detection finds.
pub(super) fn judge(settings: &ModelArgs) -> Result<Option<Arc<dyn Judge>>, Failure> {
    let Some(url) = &settings.judge else { return Ok(None) };
    let endpoint = endpoint(settings, "judge", url, settings.judge_model.as_ref())?;
    Ok(Some(Arc::new(RemoteJudge::new(ChatModel::new(endpoint)))))
}

fn local(directory: &Path) -> Result<Arc<LocalModel>, Failure> {
    let model = LocalModel::open(directory).map_err(|error| {
        let what = format!("--embedder: {} holds no usable model", directory.display());
        Failure::caused(what, &error).advise(
            "name a directory with config.json, vocab.txt and model.safetensors of a BERT sentence model, \
             an http(s) address, or builtin",
        )
    })?;
    tracing::info!(directory = %directory.display(), "read the embedding model");
    Ok(Arc::new(model))
}

fn endpoint(
    settings: &ModelArgs,
    what: &str,
    url: &str,
    model: Option<&String>,
) -> Result<Arc<Endpoint>, Failure> {
    let options = EndpointOptions {
        url: url.to_owned(),
        model: model.cloned().unwrap_or_default(),
        key: settings.key(variable)?,
        ca: settings.models_ca.clone(),
        timeout: settings.timeout(),
    };
    Endpoint::new(&options).map_err(|error| {
        Failure::caused(format!("--{what} cannot be used"), &error)
            .advise(format!("check --{what}, --{what}-model, --models-key-env and --models-ca"))
    })
}

/// A secret that the operator put into a variable, so that no list of processes shows it.
#[expect(clippy::disallowed_methods, reason = "clap would offer a flag for it")]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: &ModelArgs) -> String {
        models(settings).unwrap_err().to_string()
    }

    #[test]
    fn without_options_there_are_no_models() {
        let models = models(&ModelArgs::default()).unwrap();
        assert!(models.embedder.is_none() && models.summarizer.is_none());
    }

    #[test]
    fn a_directory_without_a_model_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().display().to_string();
        let text = refused(&ModelArgs { embedder: Some(place.clone()), ..ModelArgs::default() });
        assert!(text.contains(&place) && text.contains("config.json"), "{text}");
    }

    #[test]
    fn an_endpoint_needs_a_model_and_an_address() {
        let url = || Some("http://localhost:1/v1".to_owned());
        let text = refused(&ModelArgs { embedder: url(), ..ModelArgs::default() });
        assert!(text.contains("no model is named") && text.contains("--embedder-model"), "{text}");
        let wrong = Some("localhost".to_owned());
        let text = refused(&ModelArgs { summarizer: wrong, ..ModelArgs::default() });
        assert!(text.contains("--summarizer-model"), "{text}");
    }
}
