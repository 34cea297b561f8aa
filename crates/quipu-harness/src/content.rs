//! The bytes of Artifacts, kept once under their digest.

use quipu_field::{
    documents::{DocumentKind, DocumentOwner},
    ops::harn::{DocumentDraft, Expect},
};
use quipu_wire::{
    base64,
    harn::{HarnError, Sha256},
};
use serde::{Deserialize, Serialize};

use crate::Harness;

/// What a document of content says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentBody {
    /// The bytes.
    pub(crate) base64: String,
}

impl Harness {
    /// The digest of bytes, and the document that keeps them.
    pub(crate) fn keep_content(&self, bytes: &[u8]) -> Result<(Sha256, DocumentDraft), HarnError> {
        let digest = Sha256::of(bytes);
        let body = ContentBody { base64: base64::encode(bytes) };
        let (kind, owner) = (DocumentKind::Content, DocumentOwner::default());
        Ok((digest, self.draft(kind, &digest.bare(), owner, Expect::Any, &body)?))
    }
}
