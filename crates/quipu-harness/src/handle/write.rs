//! One write: who asks, under which idempotency key, and the commit that answers.

use quipu_core::{
    DocumentKind, DocumentOwner, Event, Message,
    event::documents::{IdempotencyMark, Note},
    rules::harn::{DocumentDraft, Expect, FIELD_AGENT, HarnCommand, NoteDraft},
};
use quipu_field::HarnOutcome;
use quipu_wire::{
    harn::{HarnError, IDEMPOTENCY_RETENTION_MS, IdempotencyKey, Sha256, Visibility},
    limits::AUTHORITY_MAX,
};
use serde::Serialize;

use crate::{
    Caller, Harness,
    handle::{failure::harn_error, retry::WriteError},
    stored::note::NoteBody,
};

/// What is the same of every request that writes.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    pub caller: Caller,
    pub key: Option<IdempotencyKey>,
    /// The digest of the body, by which two requests are the same.
    pub digest: Sha256,
}

impl WriteRequest {
    /// A step that the server takes for a caller by itself.
    pub(crate) fn once(caller: Caller) -> Self {
        Self { caller, key: None, digest: Sha256::of(&[]) }
    }

    /// What the idempotency key is kept under.
    pub(crate) fn scope(&self, target: Target<'_>) -> Option<Sha256> {
        let key = self.key.as_ref()?;
        Some(key.scope(&self.caller.agent, target.workspace, target.method, target.path))
    }
}

/// What an idempotency key is for: the request without its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) workspace: &'a str,
    /// `POST`, `PATCH`, `PUT` or `DELETE`.
    pub(crate) method: &'a str,
    /// The path in its canonical form.
    pub(crate) path: &'a str,
}

impl Target<'_> {
    /// A POST to a path, in no workspace.
    pub(crate) const fn post(path: &str) -> Target<'_> {
        Target { workspace: "", method: "POST", path }
    }
}

impl Harness {
    /// Carries out a write. Where its key was used before for the same, nothing is done again and what
    /// happened then comes back.
    pub(crate) async fn write(
        &self,
        write: &WriteRequest,
        target: Target<'_>,
        session: Option<&str>,
        mut command: HarnCommand,
    ) -> Result<HarnOutcome, WriteError> {
        command.roles = write.caller.roles.clone();
        let scope = write.scope(target);
        let now = self.field.origin().now_ms();
        command.mark = scope.map(|scope| IdempotencyMark {
            scope: scope.0,
            digest: self.kept_digest(&scope.to_string(), write.digest).0,
            until_ms: now.saturating_add(IDEMPOTENCY_RETENTION_MS),
        });
        let id = match &command.mark {
            Some(mark) => format!("idem-{}", mark.scope),
            None => self.request_id(),
        };
        let message = Message {
            id,
            agent: write.caller.agent.clone(),
            session: session.map(str::to_owned),
            epoch: 0,
            authority: write.caller.authority,
            own_key: write.caller.own_key,
            key: write.caller.key.clone(),
        };
        Ok(self.field.harn(message, command).await?)
    }

    /// Whether a write's key was used before. Then it is not done again, and what is checked before work is
    /// not asked again either.
    pub(crate) fn key_was_used(&self, write: &WriteRequest, target: Target<'_>) -> bool {
        let Some(scope) = write.scope(target) else { return false };
        let now = self.field.origin().now_ms();
        self.field.with_state(|state| state.idempotency.find(&scope.0, now).is_some())
    }

    /// What a write came to whose key was used before for the same; nothing where it was not. For writes of
    /// more than one step, which must not begin again.
    pub(crate) async fn done_before(
        &self,
        write: &WriteRequest,
        target: Target<'_>,
        session: Option<&str>,
    ) -> Result<Option<HarnOutcome>, HarnError> {
        if !self.key_was_used(write, target) {
            return Ok(None);
        }
        Ok(Some(self.write(write, target, session, HarnCommand::default()).await?))
    }

    /// Carries out a write of the Field itself.
    pub(crate) async fn write_as_field(
        &self,
        session: Option<&str>,
        command: HarnCommand,
    ) -> Result<HarnOutcome, WriteError> {
        let message = Message {
            id: self.request_id(),
            agent: FIELD_AGENT.to_owned(),
            session: session.map(str::to_owned),
            epoch: 0,
            authority: AUTHORITY_MAX,
            own_key: true,
            key: None,
        };
        Ok(self.field.harn(message, command).await?)
    }

    /// What is kept of a body's digest. A body may hold a short secret, so its plain digest could be guessed
    /// from the log, and one that is the same for whoever sends the body could be compared with a guess.
    fn kept_digest(&self, whose: &str, digest: Sha256) -> Sha256 {
        let secrets = self.options.secrets.within(whose);
        secrets.digest(&digest.to_string().into()).unwrap_or(digest)
    }

    fn request_id(&self) -> String {
        format!("req-{}", quipu_core::ids::letters(self.field.origin().id_bits()))
    }

    pub(crate) fn draft<T: Serialize>(
        &self,
        kind: DocumentKind,
        id: &str,
        owner: DocumentOwner,
        expect: Expect,
        says: &T,
    ) -> Result<DocumentDraft, HarnError> {
        let body = self.field.seal(says).map_err(|error| harn_error(&error))?;
        let (id, quotes) = (id.to_owned(), Vec::new());
        Ok(DocumentDraft { kind, id, owner, expect, body: Some(body), quotes })
    }

    /// A note about a Task for everybody to see.
    pub(crate) fn note(
        &self,
        task: &str,
        event: &str,
        says: &NoteBody,
    ) -> Result<NoteDraft, HarnError> {
        let note = Note {
            event: event.to_owned(),
            visibility: Visibility::Public,
            dependency: None,
            checkpoint: None,
            imported: None,
        };
        let body = self.field.seal(says).map_err(|error| harn_error(&error))?;
        Ok(NoteDraft { task: task.to_owned(), note, body: Some(body) })
    }
}

/// The document of a kind that a commit put. It may be one of an earlier commit, when a key was used again.
pub(crate) fn put_by(outcome: &HarnOutcome, kind: DocumentKind) -> Option<&str> {
    outcome.events.iter().find_map(|sealed| {
        let Event::DocumentChanged { document, id, .. } = &sealed.event else { return None };
        (*document == kind).then_some(id.as_str())
    })
}
