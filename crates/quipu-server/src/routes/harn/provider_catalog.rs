//! The catalog of providers and models over HTTP: what this server asks, and for what. It asks no model on behalf of a caller,
//! so that no chat model of anybody's is in it.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_field::{ModelInUse, ModelRole};
use quipu_wire::harn::{CATALOG_SCHEMA, CATALOG_VERSION, JsonObject, ProviderCatalog};
use serde_json::{Value, json};

use super::{discovery::SERVER_VERSION, entrance::HarnCall};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// What is in the binary.
const BUILT_IN: &str = "quipu";
/// What the operator named. Where it is, is nobody's to know who only asks.
const CONFIGURED: &str = "configured";

pub(super) async fn provider_catalog(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<ProviderCatalog> {
    let call = HarnCall::receive(&app, request).await?;
    let models = call.harness.field().models_in_use();
    let defaults = models.iter().map(|model| (word(model.role).to_owned(), model.id.clone()));
    Ok(HarnAnswer::ok(ProviderCatalog {
        schema_version: CATALOG_VERSION,
        schema: CATALOG_SCHEMA.to_owned(),
        generated_by: format!("quipu {SERVER_VERSION}"),
        providers: providers(&models),
        qc_defaults: defaults.collect(),
        models: models.iter().map(model).collect(),
        aliases: Vec::new(),
        variants: Vec::new(),
        families: Vec::new(),
    }))
}

fn providers(models: &[ModelInUse]) -> Vec<JsonObject> {
    let built_in = json!({
        "id": BUILT_IN, "display_name": "Quipu", "local": true,
        "description": "In the binary of this server.",
    });
    let configured = json!({
        "id": CONFIGURED, "display_name": "Configured by the operator",
        "description": "A model in a directory, or behind an address, that the operator named.",
    });
    let others = models.iter().any(|model| !model.built_in);
    [Some(built_in), Some(configured).filter(|_| others)]
        .into_iter()
        .flatten()
        .map(object)
        .collect()
}

fn model(model: &ModelInUse) -> JsonObject {
    let mut shown = object(json!({
        "id": model.id,
        "name": model.id,
        "provider": if model.built_in { BUILT_IN } else { CONFIGURED },
        "role": word(model.role),
        "used_for": purpose(model.role),
    }));
    let known = [
        ("dimensions", model.dimensions.map(Value::from)),
        ("failing", model.failing.map(Value::from)),
    ];
    shown.extend(known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    shown
}

const fn word(role: ModelRole) -> &'static str {
    match role {
        ModelRole::Embedding => "embedding",
        ModelRole::SecondEmbedding => "second_embedding",
        ModelRole::Summary => "summary",
        ModelRole::Judgement => "judgement",
    }
}

const fn purpose(role: ModelRole) -> &'static str {
    match role {
        ModelRole::Embedding => "vectors of every unit and of what is asked, at once",
        ModelRole::SecondEmbedding => "second vectors of units, in the background",
        ModelRole::Summary => "the summaries of COMPACT",
        ModelRole::Judgement => "whether two units that detection found do disagree",
    }
}

fn object(value: Value) -> JsonObject {
    if let Value::Object(map) = value { JsonObject(map) } else { JsonObject::default() }
}
