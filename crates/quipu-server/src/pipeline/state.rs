//! What all requests share: the Fields, the keys, and the room for large bodies.

use std::{net::IpAddr, sync::Arc};

use quipu_field::Fields;
use quipu_harness::{CONTENT_BYTES_MAX, HarnessOptions, Sealer};
use quipu_replay::{receipt::ReceiptSigner, task::HashTrust};
use quipu_wire::limits::AUTHORITY_MAX;
use tokio::sync::watch;

use crate::{
    clock::{Stopwatch, unix_ms},
    ids::IdSource,
    limits::{
        KEY_BODIES_BYTES_MAX, LARGE_BODIES_BYTES_MAX, STRANGERS_ADDRESS_BYTES_MAX,
        STRANGERS_BYTES_MAX,
    },
    net::{hosts::OwnNames, rooms::Rooms},
    observe::metrics::MetricsHandle,
    pipeline::{
        harnesses::Harnesses,
        leads::Leads,
        options::{HarnOptions, HarnSetupError, PushOptions},
        stream_permits::StreamPermits,
        throttle::Throttle,
    },
    secrets::{
        checkpoint_signer::Signer,
        keys::KeyStore,
        oauth::TokenVerifier,
        receipt_issuer::{ReceiptIssuer, receipt_signer},
        shared_secrets::{Secrets, SecretsError},
    },
};

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) fields: Arc<Fields>,
    pub(crate) keys: Arc<KeyStore>,
    pub(crate) signer: Signer,
    pub(crate) receipts: Arc<ReceiptSigner>,
    pub(crate) issuer: ReceiptIssuer,
    /// The Harn protocol's view of each open Field.
    pub(crate) harnesses: Harnesses,
    pub(crate) tokens: Option<TokenVerifier>,
    pub(crate) public_url: String,
    pub(crate) dev: bool,
    /// What every caller may do where there are no keys.
    pub(crate) keyless_authority: u8,
    /// The names that a server without keys answers to; none where everybody else is kept out by keys, or where there is no
    /// listener.
    pub(crate) own_names: Option<OwnNames>,
    /// Bounds what one key may ask for; without it there is no bound.
    pub(crate) throttle: Option<Throttle>,
    /// Bounds how far one key may push the clocks of Fields ahead.
    pub(crate) leads: Leads,
    /// Room for large bodies, by key.
    pub(crate) rooms: Rooms<String>,
    /// The same for those who have proven nothing yet, by address.
    pub(crate) strangers: Rooms<IpAddr>,
    /// Places for streams of pushes.
    pub(crate) streams: Arc<StreamPermits>,
    pub(crate) push: PushOptions,
    /// Says to streams that the server stops; each holds a receiver until it has ended.
    pub(crate) stopping: watch::Sender<bool>,
    /// Whether callers reach us over TLS.
    pub(crate) secure: bool,
    pub(crate) ids: IdSource,
    pub(crate) metrics: MetricsHandle,
    pub(crate) uptime: Stopwatch,
    pub(crate) started_at_ms: u64,
}

impl App {
    pub(crate) fn new(
        fields: Arc<Fields>,
        keys: Arc<KeyStore>,
        dev: bool,
        metrics: MetricsHandle,
        push: PushOptions,
        harn: &HarnOptions,
    ) -> Result<Self, HarnSetupError> {
        let (directory, given) = (keys.directory(), harn.vault_key.as_ref());
        let secrets = match keys.notes() {
            Some(notes) => Secrets::of_notes(notes, directory, given)?,
            None => Secrets::of_directory(directory, given).map_err(SecretsError::from)?,
        };
        let signer = Signer::new(directory);
        if let Some(notes) = keys.notes() {
            signer.publish(notes).map_err(SecretsError::Storage)?;
        }
        let receipts = Arc::new(receipt_signer(&secrets.receipt));
        let sealer = Sealer::new(&secrets.vault);
        let harnesses = Harnesses::new(HarnessOptions {
            issuer: harn.issuer.facts(&receipts),
            policy_ref: harn.issuer.policy_ref.clone(),
            signer: Some(Arc::clone(&receipts)),
            secrets: sealer.hashing().clone(),
            sealer: Some(sealer),
            replay_trust: match harn.trust_declared_hashes {
                true => HashTrust::Declared,
                false => HashTrust::Verify,
            },
            content_bytes_max: harn.content_bytes_max.unwrap_or(CONTENT_BYTES_MAX),
            modules: harn.modules.clone(),
        });
        Ok(Self {
            fields,
            signer,
            receipts,
            harnesses,
            issuer: harn.issuer.clone(),
            tokens: harn.oauth.clone().map(TokenVerifier::open).transpose()?,
            public_url: harn.public_url.clone().unwrap_or_default(),
            keys,
            dev,
            keyless_authority: AUTHORITY_MAX,
            own_names: None,
            throttle: None,
            leads: Leads::new(),
            rooms: Rooms::new(LARGE_BODIES_BYTES_MAX, KEY_BODIES_BYTES_MAX),
            strangers: Rooms::new(STRANGERS_BYTES_MAX, STRANGERS_ADDRESS_BYTES_MAX),
            streams: StreamPermits::new(push.streams_max),
            push,
            stopping: watch::Sender::new(false),
            secure: false,
            ids: IdSource::new(),
            metrics,
            uptime: Stopwatch::start(),
            started_at_ms: unix_ms(),
        })
    }

    /// Begins in each Field, once it is open, what its Harness does by itself: what ended in it before is settled, whichever
    /// protocol opened it. No request waits for that.
    pub(crate) async fn begin_in_fields(self: Arc<Self>) {
        let mut openings = self.fields.openings();
        loop {
            for field in self.fields.opened() {
                self.harnesses.of(&field);
            }
            if openings.changed().await.is_err() {
                return;
            }
        }
    }
}
