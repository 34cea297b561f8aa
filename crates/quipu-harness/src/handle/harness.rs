//! The handle: a Field as this protocol sees it. Cheap to clone; one per request is fine.

use std::sync::Arc;

use quipu_field::Field;
use quipu_wire::harn::{HarnError, ResourceKind};

use tokio::sync::Mutex;

use crate::{
    HarnessOptions,
    handle::{
        failure::harn_error, given_inputs::GivenInputs, held_secrets::HeldSecrets,
        replayed_cache::ReplayedCache,
    },
};
use quipu_core::{DocumentKind, state::DocumentEntry};
use serde::de::DeserializeOwned;

/// A Field as this protocol sees it. All clones of one share what they need to agree on; a Field has one.
#[derive(Debug, Clone)]
pub struct Harness {
    pub(crate) field: Arc<Field>,
    pub(crate) options: Arc<HarnessOptions>,
    /// Receipts are issued one after the other, because each follows the one before.
    pub(crate) issuing: Arc<Mutex<()>>,
    /// What is read, changed and put back is changed by one request after the other.
    pub(crate) changing: Arc<Mutex<()>>,
    /// Secrets that replays substitute.
    pub(crate) held: HeldSecrets,
    /// What members of Sessions lend to the modules of their Tasks.
    pub(crate) inputs: GivenInputs,
    pub(crate) replayed: ReplayedCache,
}

impl Harness {
    /// The view of a Field, with nothing signed.
    #[must_use]
    pub fn new(field: Arc<Field>) -> Self {
        Self::with_options(field, Arc::default())
    }

    #[must_use]
    pub fn with_options(field: Arc<Field>, options: Arc<HarnessOptions>) -> Self {
        Self {
            field,
            options,
            issuing: Arc::default(),
            changing: Arc::default(),
            held: HeldSecrets::default(),
            inputs: GivenInputs::default(),
            replayed: ReplayedCache::default(),
        }
    }

    #[must_use]
    pub const fn field(&self) -> &Arc<Field> {
        &self.field
    }

    #[must_use]
    pub fn options(&self) -> &HarnessOptions {
        &self.options
    }

    /// A fresh id of a kind. Ids sort by the time of their making.
    pub(crate) fn draw(&self, kind: ResourceKind) -> String {
        kind.id(&quipu_core::ids::letters(self.field.origin().id_bits()))
    }

    /// Runs what reads storage away from the threads that serve sockets.
    pub(crate) async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, HarnError> + Send + 'static,
    ) -> Result<T, HarnError> {
        let harness = self.clone();
        let work = move |_: &Arc<Field>| Ok(read(&harness));
        self.field.blocking(work).await.map_err(|error| harn_error(&error))?
    }

    /// What a document says; nothing where there is none, or it was erased. Reads storage.
    pub(crate) fn stored<T: DeserializeOwned>(
        &self,
        kind: DocumentKind,
        id: &str,
    ) -> Result<Option<T>, HarnError> {
        let entry = self.field.with_state(|state| state.documents.get(kind, id).cloned());
        Ok(entry.map(|entry| self.body_of(&entry)).transpose()?.flatten())
    }

    /// What a document says, or nothing where it was erased or is about to be: between a purge and its erasure the log
    /// has words that nobody may take over any more. Reads storage.
    pub(crate) fn body_of<T: DeserializeOwned>(
        &self,
        entry: &DocumentEntry,
    ) -> Result<Option<T>, HarnError> {
        if self.field.with_state(|state| state.has_purged_words(entry)) {
            return Ok(None);
        }
        self.field.body_at(entry.at).map_err(|error| harn_error(&error))
    }
}
