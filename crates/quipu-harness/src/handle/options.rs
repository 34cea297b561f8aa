//! What a server brings along: who issues receipts and signs them, how secrets are distinguished, how much an
//! Artifact may hold.

use std::sync::Arc;

use quipu_replay::{
    receipt::{IssuerFacts, ReceiptKey, ReceiptSigner, SecretHashing},
    task::HashTrust,
};
use quipu_wire::harn::IssuerKind;

use crate::{Sealer, module_host::host::ModuleHost};

/// The largest content of an Artifact unless a server says otherwise.
pub const CONTENT_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub struct HarnessOptions {
    pub issuer: IssuerFacts,
    pub policy_ref: Option<String>,
    /// The key that signs them; without one they are not signed.
    pub signer: Option<Arc<ReceiptSigner>>,
    /// Seals the secrets of vaults and connectors; without it none are taken.
    pub sealer: Option<Sealer>,
    /// How secrets are distinguished.
    pub secrets: SecretHashing,
    /// Whether the hashes that a replay's request declares must be the true ones.
    pub replay_trust: HashTrust,
    pub content_bytes_max: usize,
    pub modules: ModuleHost,
}

impl Default for HarnessOptions {
    fn default() -> Self {
        let issuer = IssuerFacts {
            id: "quipu".to_owned(),
            kind: IssuerKind::Harness,
            name: None,
            public_key_id: None,
        };
        Self {
            issuer,
            policy_ref: None,
            signer: None,
            sealer: None,
            secrets: SecretHashing::Omit,
            replay_trust: HashTrust::default(),
            content_bytes_max: CONTENT_BYTES_MAX,
            modules: ModuleHost::default(),
        }
    }
}

impl HarnessOptions {
    #[must_use]
    pub fn issuer_facts(&self) -> IssuerFacts {
        let key = self.signer.as_ref().map(|signer| signer.public().key_id().to_owned());
        let mut issuer = self.issuer.clone();
        issuer.public_key_id = issuer.public_key_id.or(key);
        issuer
    }

    /// The keys whose signatures count here.
    #[must_use]
    pub fn own_keys(&self) -> Vec<ReceiptKey> {
        self.signer.iter().map(|signer| signer.public().clone()).collect()
    }
}
