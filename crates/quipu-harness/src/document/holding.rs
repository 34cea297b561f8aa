//! Which Artifact has which bytes. Bytes are kept once under their digest; an Artifact has them because they were put
//! for it, or because whoever registered it could read them already. Naming a digest alone gives nothing.

use quipu_core::{
    DocumentKind, DocumentOwner, State,
    rules::harn::{DocumentDraft, Expect},
    state::DocumentEntry,
};
use quipu_wire::harn::{Artifact, HarnError, Sha256};

use crate::{
    Caller, Harness,
    handle::failure::harn_error,
    stored::artifact_marks::is_redacted,
    visibility::{access::reaches, parts::may_see},
};

/// How many Artifacts with the same bytes are looked at for one that a caller may read.
const HOLDERS_READ_MAX: usize = 64;

/// Where the content of an Artifact is that is kept here.
pub(crate) fn own_uri(id: &str) -> String {
    format!("/v1/artifacts/{id}/content")
}

/// The digest that an Artifact names; nothing where its content was taken away.
pub(crate) fn digest_of(artifact: &Artifact) -> Option<Sha256> {
    let digest = artifact.sha256.as_deref().and_then(|bare| Sha256::parse_bare(bare).ok());
    digest.filter(|_| !is_redacted(artifact))
}

/// The draft by which an Artifact has bytes.
pub(crate) fn holding(artifact: &str, digest: &Sha256) -> DocumentDraft {
    draft(artifact, digest, Expect::Any)
}

/// The draft by which it has them no longer.
pub(crate) fn releasing(artifact: &str, digest: &Sha256) -> DocumentDraft {
    draft(artifact, digest, Expect::Removal)
}

/// Whether it was written down that an Artifact has bytes.
pub(crate) fn is_noted(state: &State, artifact: &str, digest: &Sha256) -> bool {
    state.documents.get(DocumentKind::Holding, &id_of(artifact, digest)).is_some()
}

fn draft(artifact: &str, digest: &Sha256, expect: Expect) -> DocumentDraft {
    let (kind, id, quotes) = (DocumentKind::Holding, id_of(artifact, digest), Vec::new());
    DocumentDraft { kind, id, owner: DocumentOwner::default(), expect, body: None, quotes }
}

fn id_of(artifact: &str, digest: &Sha256) -> String {
    prefix(digest) + artifact
}

fn prefix(digest: &Sha256) -> String {
    digest.bare() + "/"
}

/// Whether an Artifact has the bytes of the digest that it names.
fn has(state: &State, artifact: &Artifact, digest: &Sha256) -> bool {
    let id = &artifact.envelope.id;
    if is_noted(state, id, digest) {
        return true;
    }
    let own = state.documents.get(DocumentKind::Artifact, id);
    let bytes = state.documents.get(DocumentKind::Content, &digest.bare());
    let (Some(own), Some(bytes)) = (own, bytes) else { return false };
    // Of what nobody wrote down, whoever brought the bytes has them.
    let by_server = artifact.uri.as_deref() == Some(&*own_uri(id));
    let brought = own.created_by == bytes.created_by || bytes.created_ms >= own.created_ms;
    is_older(state, bytes, digest) && (by_server || brought)
}

/// Whether bytes were kept before it was written down which Artifact has them.
fn is_older(state: &State, bytes: &DocumentEntry, digest: &Sha256) -> bool {
    let prefix = prefix(digest);
    let mut holdings = state.documents.beginning(DocumentKind::Holding, &prefix);
    holdings.all(|holding| holding.created_ms > bytes.created_ms)
}

impl Harness {
    /// The digest of the bytes that an Artifact has; nothing where it has none, or only names them.
    pub(crate) fn held(&self, artifact: &Artifact) -> Option<Sha256> {
        let digest = digest_of(artifact)?;
        self.field.with_state(|state| has(state, artifact, &digest)).then_some(digest)
    }

    /// The bytes that an Artifact has, with their digest. Reads storage.
    pub(crate) fn bytes_of(
        &self,
        artifact: &Artifact,
    ) -> Result<Option<(Sha256, Vec<u8>)>, HarnError> {
        let Some(digest) = self.held(artifact) else { return Ok(None) };
        Ok(self.content(&digest)?.map(|bytes| (digest, bytes)))
    }

    pub(crate) fn may_read(&self, caller: &Caller, artifact: &Artifact) -> bool {
        may_see(caller, artifact.visibility) && self.sees_content(caller, artifact)
    }

    /// Whether the caller may read the bytes of a digest, by any Artifact that has them. Reads storage.
    pub(crate) fn can_read(&self, caller: &Caller, digest: &Sha256) -> Result<bool, HarnError> {
        let prefix = prefix(digest);
        let places: Vec<_> = self.field.with_state(|state| {
            let known = noted_holders(state, &prefix)
                .filter(|entry| reaches(state, caller, entry.owner.session.as_deref()));
            known.map(|entry| entry.at).take(HOLDERS_READ_MAX).collect()
        });
        for at in places {
            let artifact =
                self.field.body_at::<Artifact>(at).map_err(|error| harn_error(&error))?;
            if artifact.is_some_and(|it| self.held(&it).is_some() && self.may_read(caller, &it)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The other Artifacts that have the same bytes. Reads storage.
    pub(crate) fn other_holders(
        &self,
        id: &str,
        digest: &Sha256,
    ) -> Result<Vec<DocumentEntry>, HarnError> {
        let prefix = prefix(digest);
        let (mut holders, unnoted) = self.field.with_state(|state| {
            let noted: Vec<_> = noted_holders(state, &prefix).cloned().collect();
            let bytes = state.documents.get(DocumentKind::Content, &digest.bare());
            let older = bytes.is_some_and(|bytes| is_older(state, bytes, digest));
            let all = state.documents.from(DocumentKind::Artifact, 0).filter(|_| older);
            let unnoted = all.filter(|(_, entry)| !is_noted(state, &entry.id, digest));
            (noted, unnoted.map(|(_, entry)| entry.clone()).collect::<Vec<_>>())
        });
        for entry in unnoted {
            let body = self.field.body_at::<Artifact>(entry.at);
            let artifact = body.map_err(|error| harn_error(&error))?;
            if artifact.and_then(|artifact| self.held(&artifact)) == Some(*digest) {
                holders.push(entry);
            }
        }
        holders.retain(|entry| entry.id != id);
        Ok(holders)
    }
}

/// The Artifacts of which it is written down that they have the bytes.
fn noted_holders<'s>(state: &'s State, prefix: &'s str) -> impl Iterator<Item = &'s DocumentEntry> {
    let holdings = state.documents.beginning(DocumentKind::Holding, prefix);
    let held = holdings.filter(|holding| !holding.removed);
    held.filter_map(move |holding| {
        state.documents.get(DocumentKind::Artifact, holding.id.strip_prefix(prefix)?)
    })
}
