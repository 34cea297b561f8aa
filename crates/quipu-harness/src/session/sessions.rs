//! Sessions: those of SESSION, with what only this protocol knows of them in a document beside.

use quipu_core::{
    DocumentKind, DocumentOwner,
    event::coordination::SessionBody,
    rules::harn::{Expect, HarnAct, HarnCommand},
    state::SessionEntry,
};
use quipu_wire::{
    akashik::{SessionPolicy, SessionStatus},
    harn::{
        CreateSessionRequest, HarnError, HarnSession, List, MessageInput, Part, ResourceKind,
        UpdateSessionRequest, Visibility,
    },
};

use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        failure::harn_error,
        page::Page,
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    not_found,
    resource::built_in_resources,
    session::{live::no_live_claim, view::SessionView},
    stored::{built_in::SESSION_DEFAULT, session_facts::SessionFacts},
    visibility::access::workspace_of,
};

/// How much of the first Message becomes the goal that SESSION shows.
const GOAL_CHARS_MAX: usize = 200;

impl Harness {
    /// `POST /v1/sessions`.
    ///
    /// # Errors
    /// 404 for what it names and is not there.
    pub async fn create_session(
        &self,
        write: &WriteRequest,
        request: CreateSessionRequest,
    ) -> Result<HarnSession, HarnError> {
        self.check_session_names(&write.caller, &request)?;
        let id = self.draw(ResourceKind::Session);
        let workspace = request.workspace_id.clone();
        let goal = goal_of(&request.initial_messages);
        let messages = request.initial_messages.clone();
        messages.iter().try_for_each(|message| no_live_claim(&message.metadata))?;
        let facts = SessionFacts::of(request);
        let policy = SessionPolicy::default();
        let mut command = self.open_session(&id, &workspace, (policy, None), goal, &facts)?;
        for message in messages {
            command.documents.push(self.message_draft(owner(&workspace, &id), message)?);
        }
        let target = Target { workspace: &workspace, method: "POST", path: "/v1/sessions" };
        let outcome = self.write(write, target, Some(&id), command).await?;
        self.session(&write.caller, put_by(&outcome, DocumentKind::Session).unwrap_or(&id)).await
    }

    /// The command that opens a session with its document.
    pub(crate) fn open_session(
        &self,
        id: &str,
        workspace: &str,
        (policy, copy_of): (SessionPolicy, Option<&str>),
        goal: String,
        facts: &SessionFacts,
    ) -> Result<HarnCommand, HarnError> {
        let body = self.field.seal(&SessionBody { goal }).map_err(|error| harn_error(&error))?;
        let owner = owner(workspace, id);
        Ok(HarnCommand {
            act: Some(HarnAct::OpenSession {
                session: id.to_owned(),
                policy,
                copy_of: copy_of.map(str::to_owned),
                body,
            }),
            documents: vec![self.draft(DocumentKind::Session, id, owner, Expect::New, facts)?],
            ..HarnCommand::default()
        })
    }

    fn check_session_names(
        &self,
        caller: &Caller,
        request: &CreateSessionRequest,
    ) -> Result<(), HarnError> {
        self.check_workspace(&request.workspace_id)?;
        if let Some(persona) = &request.persona_id {
            self.check_persona(persona)?;
        }
        for vault in &request.vault_ids {
            let entry = self.entry(caller, DocumentKind::Vault, vault);
            entry.ok_or_else(|| not_found(ResourceKind::Vault, vault).at("vault_ids"))?;
        }
        for memory in &request.memory_ids {
            let unit = self.unit_of_memory(caller, memory);
            unit.ok_or_else(|| not_found(ResourceKind::Memory, memory).at("memory_ids"))?;
        }
        for skill in &request.skill_ids {
            self.skill(skill).map_err(|error| error.at("skill_ids"))?;
        }
        Ok(())
    }

    /// `GET /v1/sessions/{session_id}`.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of.
    pub async fn session(&self, caller: &Caller, id: &str) -> Result<HarnSession, HarnError> {
        let view = self.view_session(caller, id)?;
        self.reading(move |harness| harness.show_session(&view)).await
    }

    /// `GET /v1/sessions`, in the order of their opening.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn sessions(
        &self,
        caller: &Caller,
        page: Page,
        workspace: Option<&str>,
    ) -> Result<List<HarnSession>, HarnError> {
        let reader = caller.reader();
        let taken = self.field.with_state(|state| {
            let known = |entry: &SessionEntry| reader.knows_session(state, entry);
            let all = state.sessions.iter().filter(|(_, entry)| known(entry));
            // The built-in one is as old as time.
            let built_in = std::iter::once((0, SESSION_DEFAULT));
            let mut places: Vec<(u64, &str)> = built_in
                .chain(all.map(|(id, entry)| (entry.position, id)))
                .filter(|(place, _)| *place >= page.from)
                .filter(|(_, id)| {
                    workspace.is_none_or(|asked| asked == workspace_of(state, Some(id)))
                })
                .collect();
            places.sort_unstable();
            page.take(places.into_iter().map(|(place, id)| (place, id.to_owned())))
        });
        let caller = caller.clone();
        self.reading(move |harness| {
            taken.list(|id| harness.show_session(&harness.view_session(&caller, &id)?))
        })
        .await
    }

    /// `PATCH /v1/sessions/{session_id}`.
    ///
    /// # Errors
    /// 403 for whoever did not open it and has less than authority 8; 404 where there is none, 409 where it is over, 422
    /// for the built-in one.
    pub async fn update_session(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateSessionRequest,
    ) -> Result<HarnSession, HarnError> {
        retry_until_unchanged(|| self.change_session_once(write, id, request.clone())).await
    }

    async fn change_session_once(
        &self,
        write: &WriteRequest,
        id: &str,
        request: UpdateSessionRequest,
    ) -> Result<HarnSession, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = self.field.head().position;
        let (view, mut facts) = self.session_to_change(&write.caller, id).await?;
        view.check_opener(&write.caller)?;
        facts.change_event = None;
        facts.summary = request.summary.apply(facts.summary);
        if let Some(policy) = request.model_policy {
            facts.model_policy = Some(policy);
        }
        if let Some(metadata) = request.metadata {
            facts.metadata = metadata;
        }
        let path = format!("/v1/sessions/{id}");
        self.change_session(write, &view, ("PATCH", &path), &facts, read_at).await?;
        Ok(self.session(&write.caller, id).await?)
    }

    /// `POST /v1/sessions/{session_id}/close`. Closing again changes nothing and says the same.
    ///
    /// # Errors
    /// 404 where there is none, 403 where it is another's, 422 for the built-in one.
    pub async fn close_session(
        &self,
        write: &WriteRequest,
        id: &str,
    ) -> Result<HarnSession, HarnError> {
        let view = self.view_session(&write.caller, id)?;
        let Some(entry) = &view.entry else {
            return Err(built_in_resources::unchangeable(ResourceKind::Session, id));
        };
        if entry.status != SessionStatus::Ended {
            let act = Some(HarnAct::CloseSession { session: id.to_owned() });
            let command = HarnCommand { act, ..HarnCommand::default() };
            let path = format!("/v1/sessions/{id}/close");
            let target = Target { workspace: &view.workspace, method: "POST", path: &path };
            self.write(write, target, Some(id), command).await?;
        }
        self.session(&write.caller, id).await
    }

    /// `POST /v1/sessions/{session_id}/join`, ours: the caller becomes a member, as SESSION's join has it.
    ///
    /// # Errors
    /// 404 where there is none that the caller may know of, 403 where it may not join, 409 where it is over.
    pub async fn join_session(
        &self,
        write: &WriteRequest,
        id: &str,
    ) -> Result<HarnSession, HarnError> {
        let view = self.view_session(&write.caller, id)?;
        let act = Some(HarnAct::EnterSession { session: id.to_owned() });
        let command = HarnCommand { act, ..HarnCommand::default() };
        let path = format!("/v1/sessions/{id}/join");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        self.write(write, target, Some(id), command).await?;
        self.session(&write.caller, id).await
    }

    /// A Session with what its document says, to be changed.
    pub(crate) async fn session_to_change(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(SessionView, SessionFacts), HarnError> {
        let view = self.view_session(caller, id)?;
        if view.entry.is_none() {
            return Err(built_in_resources::unchangeable(ResourceKind::Session, id));
        }
        self.check_session(caller, id)?;
        self.reading(move |harness| {
            let facts = harness.session_facts(&view)?;
            Ok((view, facts))
        })
        .await
    }

    /// Puts what a Session's document is to say, if it still says what it said at a position.
    pub(crate) async fn change_session(
        &self,
        write: &WriteRequest,
        view: &SessionView,
        (method, path): (&str, &str),
        facts: &SessionFacts,
        read_at: u64,
    ) -> Result<(), WriteError> {
        let (kind, owner) = (DocumentKind::Session, owner(&view.workspace, &view.id));
        let command = HarnCommand {
            documents: vec![self.draft(kind, &view.id, owner, Expect::Any, facts)?],
            read_at: Some(read_at),
            ..HarnCommand::default()
        };
        let target = Target { workspace: &view.workspace, method, path };
        self.write(write, target, Some(&view.id), command).await?;
        Ok(())
    }
}

pub(crate) fn owner(workspace: &str, session: &str) -> DocumentOwner {
    DocumentOwner {
        workspace: Some(workspace.to_owned()),
        session: Some(session.to_owned()),
        ..DocumentOwner::default()
    }
}

/// What SESSION shows as the goal: the beginning of the first thing that was said for everybody.
fn goal_of(messages: &[MessageInput]) -> String {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let mut texts = parts.filter_map(|part| {
        let Part::Text { text, visibility: Visibility::Public } = part else { return None };
        Some(text.trim())
    });
    let first = texts.find(|text| !text.is_empty());
    first.unwrap_or("a conversation").chars().take(GOAL_CHARS_MAX).collect()
}
