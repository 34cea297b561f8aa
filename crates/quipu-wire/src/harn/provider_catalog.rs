//! The catalog of providers and models: what this server was configured to ask, in the form that clients of this protocol
//! read. It has no address and no key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::JsonObject;

/// The version of the catalog's form.
pub const CATALOG_VERSION: u32 = 6;
/// The name of that form.
pub const CATALOG_SCHEMA: &str = "https://harnlang.com/schemas/provider-catalog.v6.json";

/// The answer to `GET /v1/provider-catalog`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderCatalog {
    /// Always 6.
    pub schema_version: u32,
    /// The name of this form.
    pub schema: String,
    /// The server that says it, with its version.
    pub generated_by: String,
    /// Who answers: `quipu` for what is built in, and each configured model's own way.
    pub providers: Vec<JsonObject>,
    /// The models, with what the server asks each for.
    pub models: Vec<JsonObject>,
    /// Other names of models. There are none.
    pub aliases: Vec<JsonObject>,
    /// Ways to run one model. There are none.
    pub variants: Vec<JsonObject>,
    /// Groups of models. There are none.
    pub families: Vec<JsonObject>,
    /// The model for each thing that the server asks one for.
    pub qc_defaults: BTreeMap<String, String>,
}
