//! A Session as it is shown: SESSION's state, its document, and the last thing that happened in it.

use quipu_core::{
    DocumentKind, Event as Logged,
    event::coordination::SessionBody,
    state::{DocumentEntry, SessionEntry},
};
use quipu_wire::{
    akashik::SessionStatus,
    harn::{
        HarnError, HarnErrorCode, HarnSession, HarnSessionObject, ResourceEnvelope, ResourceKind,
        SessionState, Transcript,
    },
    json::timestamp::rfc3339,
};

use crate::{
    Caller, Harness,
    event::narrate::narrate,
    handle::{caller::AUTHORITY_POLICY, failure::harn_error},
    not_found,
    session::live::clients_of,
    stored::{built_in::SESSION_DEFAULT, live_clients::LiveClients, session_facts::SessionFacts},
    visibility::access::{reader_reaches, workspace_of},
};

/// How many commits are read for the last Event; a commit without Events is rare.
const LAST_COMMITS_MAX: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct SessionView {
    pub(crate) id: String,
    /// None of the built-in one.
    pub(crate) entry: Option<SessionEntry>,
    pub(crate) document: Option<DocumentEntry>,
    pub(crate) workspace: String,
    /// Whether the caller may read what is in it, and not only know of it.
    within: bool,
    /// The newest commits that have Events of it, newest first.
    newest: Vec<u64>,
}

impl SessionView {
    /// What it was forked from, for its transcript only.
    pub(crate) fn parent(&self, id: &str, document: Option<DocumentEntry>) -> Self {
        let workspace = self.workspace.clone();
        let (id, newest) = (id.to_owned(), Vec::new());
        Self { id, entry: None, document, workspace, within: self.within, newest }
    }

    /// Checks that the caller opened the Session, or has authority 8.
    pub(crate) fn check_opener(&self, caller: &Caller) -> Result<(), HarnError> {
        let own = self.entry.as_ref().is_some_and(|entry| entry.creator == caller.agent);
        if own { Ok(()) } else { caller.require(AUTHORITY_POLICY) }
    }
}

impl Harness {
    /// A Session that the caller may know of.
    pub(crate) fn view_session(&self, caller: &Caller, id: &str) -> Result<SessionView, HarnError> {
        let reader = caller.reader();
        let found = self.field.with_state(|state| {
            let entry = state.sessions.get(id).filter(|entry| reader.knows_session(state, entry));
            if entry.is_none() && id != SESSION_DEFAULT {
                return None;
            }
            let commits = state.streams.session(id).iter().rev();
            Some(SessionView {
                id: id.to_owned(),
                entry: entry.cloned(),
                document: state.documents.get(DocumentKind::Session, id).cloned(),
                workspace: workspace_of(state, Some(id)),
                within: reader_reaches(state, &reader, Some(id)),
                newest: commits.take(LAST_COMMITS_MAX).copied().collect(),
            })
        });
        found.ok_or_else(|| not_found(ResourceKind::Session, id))
    }

    /// What the document of a Session says. One that SESSION opened has its goal for a summary. Reads
    /// storage.
    pub(crate) fn session_facts(&self, view: &SessionView) -> Result<SessionFacts, HarnError> {
        let failed = |error| harn_error(&error);
        if let Some(document) = &view.document {
            let facts = self.field.body_at::<SessionFacts>(document.at).map_err(failed)?;
            return Ok(facts.unwrap_or_default());
        }
        let Some(entry) = &view.entry else { return Ok(SessionFacts::default()) };
        let place = (entry.position, entry.event);
        let body = self.field.body_at::<SessionBody>(place).map_err(failed)?;
        Ok(SessionFacts { summary: body.map(|body| body.goal), ..SessionFacts::default() })
    }

    /// The Session. Reads storage.
    pub(crate) fn show_session(&self, view: &SessionView) -> Result<HarnSession, HarnError> {
        let mut facts = self.session_facts(view)?;
        if !view.within {
            // Where it came from is told to who may read it.
            (facts.fork, facts.branch_id) = (None, None);
        }
        let live = match view.within {
            true => self.present_clients(&view.id)?,
            false => LiveClients::default(),
        };
        let entry = view.entry.as_ref();
        let created_ms = entry.map_or(0, |entry| entry.created_ms);
        let changed_ms = view.document.as_ref().map_or(0, |document| document.updated_ms);
        let updated_ms = entry.map_or(0, |entry| entry.updated_ms).max(changed_ms);
        let mut envelope = ResourceEnvelope::new(&view.id, rfc3339(created_ms));
        envelope.updated_at = rfc3339(updated_ms);
        envelope.metadata = facts.metadata;
        let (root, parent) =
            facts.fork.map(|fork| (Some(fork.root), Some(fork.session))).unwrap_or_default();
        Ok(HarnSession {
            object: HarnSessionObject::Session,
            envelope,
            workspace_id: view.workspace.clone(),
            state: entry.map_or(SessionState::Active, |entry| state_of(entry.status)),
            transcript: Transcript::Uri(format!("/v1/sessions/{}/messages", view.id)),
            persona_id: facts.persona_id,
            root_session_id: root,
            parent_session_id: parent,
            branch_id: facts.branch_id,
            last_event_id: self.last_event(view)?,
            summary: facts.summary,
            expires_at: None,
            mode_id: facts.mode_id,
            model_policy: facts.model_policy,
            live_controller_id: live.controller().map(str::to_owned),
            live_clients: clients_of(&live),
        })
    }

    fn last_event(&self, view: &SessionView) -> Result<Option<String>, HarnError> {
        for position in view.newest.iter().filter(|_| view.within) {
            let commits = self.field.commits(*position, 1).map_err(|error| harn_error(&error))?;
            let Some(commit) = commits.first() else { continue };
            let header = commit.decode_header::<Logged>().map_err(|_| {
                HarnError::new(HarnErrorCode::InternalError, "a commit could not be read")
            })?;
            let events = self.field.with_state(|state| narrate(state, &header, commit));
            let mut here = events
                .into_iter()
                .filter(|event| event.session_id.as_deref() == Some(view.id.as_str()));
            if let Some(event) = here.next_back() {
                return Ok(Some(event.envelope.id));
            }
        }
        Ok(None)
    }
}

const fn state_of(status: SessionStatus) -> SessionState {
    match status {
        SessionStatus::Active => SessionState::Active,
        SessionStatus::Paused => SessionState::Paused,
        SessionStatus::Ended => SessionState::Closed,
    }
}
