//! How this protocol is served, and why it cannot be.

use super::identity::{ReceiptIssuer, SecretError};
use crate::oauth::{KeySetError, OAuthOptions};

/// How the Harn protocol is served.
#[derive(Debug, Clone, Default)]
pub struct HarnOptions {
    /// Where callers reach the server; the address that it listens on if absent.
    pub public_url: Option<String>,
    /// Who issues receipts.
    pub issuer: ReceiptIssuer,
    /// Whose access tokens are taken; nobody's if absent.
    pub oauth: Option<OAuthOptions>,
}

/// Why this protocol cannot be served as it is asked for.
#[derive(Debug, thiserror::Error)]
pub enum HarnSetupError {
    /// A secret of the data directory cannot be read or made.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The keys of the identity provider cannot be used.
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}
