//! Messages: what was said in a Session, in order.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{DocumentDraft, Expect, HarnAct, HarnCommand},
};
use quipu_wire::harn::{
    AppendMessageRequest, HarnError, List, Message, MessageInput, MessageObject, ResourceEnvelope,
    ResourceKind,
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        page::Page,
        write::{Target, put_by},
    },
    session::sessions::owner,
    visibility::{access::reader_reaches, parts},
};

impl Harness {
    /// `POST /v1/sessions/{session_id}/messages`.
    ///
    /// # Errors
    /// 404 where there is no such Session, 403 where it is for others, 409 where it is over.
    pub async fn append_message(
        &self,
        write: &WriteRequest,
        session: &str,
        request: AppendMessageRequest,
    ) -> Result<Message, HarnError> {
        let view = self.view_session(&write.caller, session)?;
        let path = format!("/v1/sessions/{session}/messages");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        if !self.key_was_used(write, target) {
            self.check_live_claim(&write.caller, session, &request.message.metadata).await?;
        }
        let draft = self.message_draft(owner(&view.workspace, session), request.message)?;
        let id = draft.id.clone();
        let command = HarnCommand {
            act: Some(HarnAct::EnterSession { session: session.to_owned() }),
            documents: vec![draft],
            ..HarnCommand::default()
        };
        let outcome = self.write(write, target, Some(session), command).await?;
        self.message(&write.caller, put_by(&outcome, DocumentKind::Message).unwrap_or(&id)).await
    }

    /// `GET /v1/messages/{message_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub async fn message(&self, caller: &Caller, id: &str) -> Result<Message, HarnError> {
        let message: Message = self.get(caller, id).await?;
        Ok(visible_to(caller, message))
    }

    /// `GET /v1/sessions/{session_id}/messages`: the transcript. What a fork shares with a Session that the
    /// caller may not know of is left out.
    ///
    /// # Errors
    /// 404 where there is no such Session, 403 where the caller is no member of it.
    pub async fn messages(
        &self,
        caller: &Caller,
        session: &str,
        page: Page,
    ) -> Result<List<Message>, HarnError> {
        self.check_session(caller, session)?;
        let view = self.view_session(caller, session)?;
        let (caller, reader) = (caller.clone(), caller.reader());
        self.reading(move |harness| {
            let lineage = harness.lineage(&view)?;
            let said = harness.field.with_state(|state| lineage.transcript(state));
            let entries = said.into_iter().filter(|said| said.ordinal as u64 >= page.from);
            let entries = entries.filter_map(|said| {
                let entry = harness.message_at(said.ordinal)?;
                let session = entry.owner.session.as_deref();
                let known = harness.field.with_state(|it| reader_reaches(it, &reader, session));
                known.then_some((said.ordinal as u64, entry))
            });
            let taken = page.take(entries);
            taken.list(|entry| Ok(visible_to(&caller, harness.show(&caller, &entry)?)))
        })
        .await
    }

    pub(crate) fn message_draft(
        &self,
        owner: DocumentOwner,
        input: MessageInput,
    ) -> Result<DocumentDraft, HarnError> {
        let id = self.draw(ResourceKind::Message);
        let mut envelope = ResourceEnvelope::new(&id, "");
        envelope.metadata = input.metadata;
        let message = Message {
            object: MessageObject::Message,
            envelope,
            session_id: owner.session.clone(),
            task_id: owner.task.clone(),
            role: input.role,
            parts: input.parts,
        };
        self.draft(DocumentKind::Message, &id, owner, Expect::New, &message)
    }
}

/// The Message without what is not for the caller.
fn visible_to(caller: &Caller, message: Message) -> Message {
    let parts = parts::parts(caller, message.parts);
    Message { parts, ..message }
}
