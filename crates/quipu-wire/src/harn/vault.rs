//! Vault: a holder of secrets. Nothing here can carry a secret's value out.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, ResourceEnvelope, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of this resource.
    VaultObject {
        /// Always this one.
        Vault = "vault",
    }
}

/// A Vault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Vault {
    /// Always `vault`.
    pub object: VaultObject,
    /// Id, times and metadata.
    #[serde(flatten)]
    pub envelope: ResourceEnvelope,
    /// The Workspace; all of them if null.
    pub workspace_id: Option<String>,
    /// Who keeps the secrets.
    pub provider: String,
    /// What it can do.
    pub capabilities: Vec<String>,
}

/// The body of `POST /v1/vaults`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreateVaultRequest {
    /// The Workspace; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<String>,
    /// Who keeps the secrets.
    pub provider: String,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
}

impl CreateVaultRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            workspace_id: object.take_id("workspace_id")?,
            provider: object.require_text("provider")?,
            capabilities: object.require_texts("capabilities")?,
            metadata: object.take_metadata()?,
        })
    }
}

/// The body of `PUT /v1/vaults/{vault_id}/secrets/{name}`. Ours, beside the protocol.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PutSecretRequest {
    /// The secret.
    pub value: Value,
}

impl std::fmt::Debug for PutSecretRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PutSecretRequest(..)")
    }
}

impl PutSecretRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where `value` is missing.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        Ok(Self { value: reading::body(value)?.require_value("value")? })
    }
}

/// Whether a text can be the name of a secret: what can stand in a path and in `secret:<name>`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(plain)
}
