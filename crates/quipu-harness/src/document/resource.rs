//! Resources whose document is what the wire shows: workspaces, personas, messages, artifacts and the like.
//! The log keeps what they say; their times are those of their commits.

use quipu_core::{DocumentKind, state::DocumentEntry};
use quipu_wire::{
    harn::{
        Artifact, Branch, Connector, HarnError, HarnErrorCode, List, Message, Outcome,
        PermissionRequest, Persona, Quota, ResourceEnvelope, ResourceKind, Vault, Workspace,
    },
    json::timestamp::rfc3339,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Caller, Harness,
    handle::page::Page,
    not_found,
    visibility::{
        access::reader_reaches,
        quoting::{Gap, Withheld},
    },
};

/// A resource that is kept as a document.
pub(crate) trait Resource: Serialize + DeserializeOwned + Send + 'static {
    /// Its kind on the wire.
    const KIND: ResourceKind;
    /// Its kind in the log.
    const DOCUMENT: DocumentKind;
    fn envelope_mut(&mut self) -> &mut ResourceEnvelope;
    /// What is shown in its place, of a kind that repeats Memories.
    fn redacted(_gap: Gap<'_>) -> Option<Self> {
        None
    }
}

macro_rules! resource {
    ($name:ident, $kind:ident $(, $redacted:path)?) => {
        impl Resource for $name {
            const KIND: ResourceKind = ResourceKind::$kind;
            const DOCUMENT: DocumentKind = DocumentKind::$kind;

            fn envelope_mut(&mut self) -> &mut ResourceEnvelope {
                &mut self.envelope
            }
            $(
                fn redacted(gap: Gap<'_>) -> Option<Self> {
                    Some($redacted(gap))
                }
            )?
        }
    };
}

resource!(Artifact, Artifact);
resource!(Branch, Branch);
resource!(Connector, Connector);
resource!(Message, Message, Gap::message);
resource!(Outcome, Outcome, Gap::outcome);
resource!(PermissionRequest, PermissionRequest);
resource!(Persona, Persona);
resource!(Quota, Quota);
resource!(Vault, Vault);
resource!(Workspace, Workspace);

/// An entry of a list.
enum Listed<T> {
    /// What is built in.
    BuiltIn(T),
    Kept(Box<DocumentEntry>),
}

impl Harness {
    /// The entry of a document, if the caller may know of it.
    pub(crate) fn entry(
        &self,
        caller: &Caller,
        document: DocumentKind,
        id: &str,
    ) -> Option<DocumentEntry> {
        let entry = self.field.with_state(|state| state.documents.get(document, id).cloned())?;
        self.reaches(caller, entry.owner.session.as_deref()).then_some(entry)
    }

    /// What a document says now. Reads storage.
    pub(crate) fn load<T: Resource>(&self, entry: &DocumentEntry) -> Result<T, HarnError> {
        self.kept(entry)?.ok_or_else(|| erased(T::KIND, &entry.id))
    }

    /// The same for a caller, who may see less of it; what was erased leaves a trace. Reads storage.
    pub(crate) fn show<T: Resource>(
        &self,
        caller: &Caller,
        entry: &DocumentEntry,
    ) -> Result<T, HarnError> {
        let why = if self.sees_quoted(caller, entry) {
            match self.kept(entry)? {
                Some(resource) => return Ok(resource),
                None => Withheld::Erased,
            }
        } else {
            Withheld::Hidden
        };
        T::redacted(self.gap(entry, why)).ok_or_else(|| erased(T::KIND, &entry.id))
    }

    fn kept<T: Resource>(&self, entry: &DocumentEntry) -> Result<Option<T>, HarnError> {
        let body = self.body_of::<T>(entry)?;
        Ok(body.map(|mut resource| {
            let envelope = resource.envelope_mut();
            envelope.created_at = rfc3339(entry.created_ms);
            envelope.updated_at = rfc3339(entry.updated_ms);
            resource
        }))
    }

    /// One resource by its id.
    pub(crate) async fn get<T: Resource>(&self, caller: &Caller, id: &str) -> Result<T, HarnError> {
        let entry = self.entry(caller, T::DOCUMENT, id);
        let entry = entry.ok_or_else(|| not_found(T::KIND, id))?;
        let caller = caller.clone();
        self.reading(move |harness| harness.show(&caller, &entry)).await
    }

    /// A page of the resources of a kind that the caller may know of and that pass a filter.
    pub(crate) async fn list<T: Resource>(
        &self,
        caller: &Caller,
        page: Page,
        passes: impl Fn(&DocumentEntry) -> bool,
    ) -> Result<List<T>, HarnError> {
        self.list_behind(caller, page, Vec::new(), passes).await
    }

    /// The same, behind what is built in.
    pub(crate) async fn list_behind<T: Resource>(
        &self,
        caller: &Caller,
        page: Page,
        built_in: Vec<T>,
        passes: impl Fn(&DocumentEntry) -> bool,
    ) -> Result<List<T>, HarnError> {
        let before = built_in.len();
        let from = usize::try_from(page.from).unwrap_or(usize::MAX).saturating_sub(before);
        let reader = caller.reader();
        let taken = self.field.with_state(|state| {
            let entries = state.documents.from(T::DOCUMENT, from);
            let entries = entries.filter(|(_, entry)| {
                passes(entry) && reader_reaches(state, &reader, entry.owner.session.as_deref())
            });
            let entries = entries.map(|(place, entry)| {
                ((place + before) as u64, Listed::Kept(Box::new(entry.clone())))
            });
            let built_in = (0u64..).zip(built_in.into_iter().map(Listed::BuiltIn));
            page.take(built_in.chain(entries))
        });
        let caller = caller.clone();
        self.reading(move |harness| {
            taken.list(|listed| match listed {
                Listed::BuiltIn(resource) => Ok(resource),
                Listed::Kept(entry) => harness.show(&caller, &entry),
            })
        })
        .await
    }
}

fn erased(kind: ResourceKind, id: &str) -> HarnError {
    let message = format!("what {kind} {id} said was erased");
    HarnError::new(HarnErrorCode::ResourceNotFound, message)
}
