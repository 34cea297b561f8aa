//! How streams are kept and how the Harn protocol is served, and why it cannot be.

use std::time::Duration;

use quipu_harness::ModuleHost;

use crate::{
    limits::{HEARTBEAT, STREAMS_MAX},
    secrets::{
        oauth::{KeySetError, OAuthOptions},
        receipt_issuer::ReceiptIssuer,
        shared_secrets::SecretsError,
        vault_key::VaultKey,
    },
};

#[derive(Debug, Clone, Default)]
pub struct HarnOptions {
    /// Where callers reach the server; the address that it listens on if absent.
    pub public_url: Option<String>,
    pub issuer: ReceiptIssuer,
    /// Whose access tokens are taken; nobody's if absent.
    pub oauth: Option<OAuthOptions>,
    /// The key that seals the secrets of vaults; one of the data directory's own if absent.
    pub vault_key: Option<VaultKey>,
    /// Whether the hashes that replays and imports declare are believed, for published fixtures.
    pub trust_declared_hashes: bool,
    /// The largest content of an Artifact, in bytes; that of `quipu-harness` if absent.
    pub content_bytes_max: Option<usize>,
    /// Where modules run; nowhere unless somebody chooses.
    pub modules: ModuleHost,
}

#[derive(Debug, Clone, Copy)]
pub struct PushOptions {
    /// How often a stream says that it is there, and looks whether its key still holds.
    pub heartbeat: Duration,
    pub streams_max: usize,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self { heartbeat: HEARTBEAT, streams_max: STREAMS_MAX }
    }
}

/// Why this protocol cannot be served as it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum HarnSetupError {
    #[error(transparent)]
    Secret(#[from] SecretsError),
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}
