//! The bytes of Artifacts, kept once under their digest however many Artifacts have them. They are reached
//! through an Artifact alone, which decides who may see them.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    rules::harn::{DocumentDraft, Expect},
};
use quipu_wire::{
    harn::{Artifact, HarnError, HarnErrorCode, Sha256},
    json::base64,
};
use serde::{Deserialize, Serialize};

use crate::{Caller, Harness, document::holding::holding};

/// What a document of content says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentBody {
    pub(crate) base64: String,
}

impl Harness {
    /// The digest of bytes, and the document that keeps them.
    ///
    /// # Errors
    /// 413 where they are more than an Artifact may hold.
    pub(crate) fn keep_content(&self, bytes: &[u8]) -> Result<(Sha256, DocumentDraft), HarnError> {
        let most = self.options.content_bytes_max;
        if bytes.len() > most {
            let message = format!("the content must be at most {most} bytes");
            return Err(HarnError::new(HarnErrorCode::PayloadTooLarge, message));
        }
        let (sha256, kind) = (Sha256::of(bytes), DocumentKind::Content);
        let body = ContentBody { base64: base64::encode(bytes) };
        let owner = DocumentOwner::default();
        Ok((sha256, self.draft(kind, &sha256.bare(), owner, Expect::Any, &body)?))
    }

    /// The digest of bytes, and the documents that keep them for an Artifact.
    ///
    /// # Errors
    /// 413 where they are more than an Artifact may hold.
    pub(crate) fn keep_for(
        &self,
        artifact: &str,
        bytes: &[u8],
    ) -> Result<(Sha256, [DocumentDraft; 2]), HarnError> {
        let (digest, kept) = self.keep_content(bytes)?;
        Ok((digest, [kept, holding(artifact, &digest)]))
    }

    /// The bytes of a digest; nothing where they are not kept or were erased. Reads storage.
    pub(crate) fn content(&self, sha256: &Sha256) -> Result<Option<Vec<u8>>, HarnError> {
        let body = self.stored::<ContentBody>(DocumentKind::Content, &sha256.bare())?;
        let bytes = body.and_then(|body| base64::decode(&body.base64));
        // Bytes that are not those of the digest are damage, and are not handed out.
        Ok(bytes.filter(|bytes| Sha256::of(bytes) == *sha256))
    }

    /// Whether the caller may see every Memory that the bytes of an Artifact repeat.
    pub(crate) fn sees_content(&self, caller: &Caller, artifact: &Artifact) -> bool {
        let entry = artifact.sha256.as_deref().and_then(|bare| {
            let kept = |state: &State| state.documents.get(DocumentKind::Content, bare).cloned();
            self.field.with_state(kept)
        });
        entry.is_none_or(|entry| self.sees_quoted(caller, &entry))
    }

    pub(crate) fn has_content(&self, sha256: &Sha256) -> bool {
        let id = sha256.bare();
        self.field.with_state(|state| state.documents.get(DocumentKind::Content, &id).is_some())
    }
}
