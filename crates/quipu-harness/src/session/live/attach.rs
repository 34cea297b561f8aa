//! Coming to a Session, and taking control of it.

use quipu_core::DocumentKind;
use quipu_wire::harn::{
    AttachClientRequest, HarnError, HarnErrorCode, LIVE_LEASE_MS_DEFAULT, LiveClientChange,
    LiveMode, SessionClientRequest,
};
use serde_json::json;

use super::view::change;
use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        retry::{WriteError, retry_until_unchanged},
        write::Target,
    },
    session::{sessions::owner, view::SessionView},
    stored::live_clients::{
        CLIENT_ATTACHED, CLIENT_TOOK_OVER, ClientEvent, ClientRecord, LiveClients,
    },
};
use quipu_core::rules::harn::{Expect, HarnAct, HarnCommand};

/// How many clients a Session has at once, and how many of them one agent.
const CLIENTS_MAX: usize = 64;
const CLIENTS_OF_ONE_MAX: usize = 16;

impl Harness {
    /// `POST /v1/sessions/{session_id}/attach`. Who is there already comes as what it says now.
    ///
    /// # Errors
    /// 404 where there is no such Session; 403 where the caller is no member of it, or may not take control; 409 where
    /// another client has control or the id, there are too many, or the Session is not active; 422 for the built-in one.
    pub async fn attach_client(
        &self,
        write: &WriteRequest,
        session: &str,
        request: AttachClientRequest,
    ) -> Result<LiveClientChange, HarnError> {
        retry_until_unchanged(|| self.attach_once(write, session, "attach", &request, None)).await
    }

    /// `POST /v1/sessions/{session_id}/takeover`: the client comes, if it is not there, and controls the Session.
    ///
    /// # Errors
    /// As of attaching.
    pub async fn takeover_session(
        &self,
        write: &WriteRequest,
        session: &str,
        request: SessionClientRequest,
    ) -> Result<LiveClientChange, HarnError> {
        let SessionClientRequest { client_id, reason, metadata } = request;
        let before = self.live_clients(&write.caller, session).await?.data;
        let before = before.into_iter().find(|client| client.client_id == client_id);
        let attach = AttachClientRequest {
            client_id,
            mode: LiveMode::Controller,
            takeover: true,
            prompt_injection: None,
            permission_routing: None,
            metadata: metadata.or_else(|| before.map(|it| it.metadata)).unwrap_or_default(),
            lease_ms: LIVE_LEASE_MS_DEFAULT,
        };
        let reason = reason.as_deref();
        retry_until_unchanged(|| self.attach_once(write, session, "takeover", &attach, reason))
            .await
    }

    async fn attach_once(
        &self,
        write: &WriteRequest,
        session: &str,
        verb: &str,
        request: &AttachClientRequest,
        reason: Option<&str>,
    ) -> Result<LiveClientChange, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = self.field.head().position;
        let view = self.session_to_attend(&write.caller, session)?;
        let id = session.to_owned();
        let mut live = self.reading(move |harness| harness.present_clients(&id)).await?;
        self.check_place(&write.caller, session, &live, &request.client_id)?;
        let before = live.controller().map(str::to_owned);
        let other = before.as_deref().filter(|id| *id != request.client_id);
        let takes = request.mode == LiveMode::Controller && other.is_some();
        if let Some(holder) = other.filter(|_| takes) {
            self.check_takeover(&write.caller, session, &live, (holder, request.takeover))?;
            if let Some(holder) = live.clients.get_mut(holder) {
                holder.become_mode(LiveMode::Observer);
            }
        }
        self.put_client(&write.caller, &mut live, request);
        let word = if takes { CLIENT_TOOK_OVER } else { CLIENT_ATTACHED };
        let event = event(word, &request.client_id, before.as_deref(), &live, reason);
        live.change = Some(event);
        let live = self.put_clients(write, &view, verb, &live, read_at).await?;
        Ok(change(&live, Some(&request.client_id), before))
    }

    fn put_client(&self, caller: &Caller, live: &mut LiveClients, request: &AttachClientRequest) {
        let now = self.field.origin().now_ms();
        let before = live.clients.get(&request.client_id);
        let attached_ms = before.map_or(now, |client| client.attached_ms);
        let controls = request.mode == LiveMode::Controller;
        let client = ClientRecord {
            agent: caller.agent.clone(),
            authority: caller.authority,
            mode: request.mode,
            prompt_injection: request.prompt_injection.unwrap_or(controls) && controls,
            permission_routing: request.permission_routing.unwrap_or(controls) && controls,
            metadata: request.metadata.clone(),
            attached_ms,
            seen_ms: now,
            lease_ms: request.lease_ms,
        };
        live.clients.insert(request.client_id.clone(), client);
    }

    /// Whether there is a place for the client: its id is nobody else's.
    fn check_place(
        &self,
        caller: &Caller,
        session: &str,
        live: &LiveClients,
        id: &str,
    ) -> Result<(), HarnError> {
        let conflict =
            |message: String| Err(HarnError::new(HarnErrorCode::Conflict, message).at("client_id"));
        match live.clients.get(id) {
            Some(there) if self.is_own(caller, there) => return Ok(()),
            Some(_) => return conflict(format!("client_id: {id} is another agent's in {session}")),
            None => {}
        }
        let own = live.clients.values().filter(|there| there.agent == caller.agent).count();
        if live.clients.len() >= CLIENTS_MAX || own >= CLIENTS_OF_ONE_MAX {
            return conflict(format!(
                "client_id: a session has at most {CLIENTS_MAX} clients, and {CLIENTS_OF_ONE_MAX} of one agent"
            ));
        }
        Ok(())
    }

    /// Control is taken by saying so: from a client of one's own, and from one whose agent has no more authority in the
    /// Session.
    fn check_takeover(
        &self,
        caller: &Caller,
        session: &str,
        live: &LiveClients,
        (holder, asked): (&str, bool),
    ) -> Result<(), HarnError> {
        if !asked {
            let message = format!("{holder} controls {session}: take over, or observe");
            return Err(HarnError::new(HarnErrorCode::Conflict, message).at("takeover"));
        }
        match live.clients.get(holder) {
            Some(there) if !self.is_own(caller, there) => {
                self.check_not_weaker(caller, session, there, holder)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A weaker one does not turn out a stronger.
    pub(super) fn check_not_weaker(
        &self,
        caller: &Caller,
        session: &str,
        there: &ClientRecord,
        id: &str,
    ) -> Result<(), HarnError> {
        let holder = Caller::new(there.agent.as_str(), there.authority);
        let needed = self.authority_of(&holder, Some(session));
        if self.authority_of(caller, Some(session)) >= needed {
            return Ok(());
        }
        let message = format!("{id} is of an agent with authority {needed} in {session}");
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message))
    }

    /// Whether a client is the caller's. A key that may speak for anybody proves no name, so it is believed as far as its
    /// authority goes.
    pub(super) fn is_own(&self, caller: &Caller, there: &ClientRecord) -> bool {
        let same = there.agent == caller.agent;
        same && (caller.own_key || caller.authority >= there.authority)
    }

    /// Puts what the document of a Session's clients is to say, if it still says what it said at a position, and gives who is
    /// there then: where an idempotency key was used again, not those.
    pub(super) async fn put_clients(
        &self,
        write: &WriteRequest,
        view: &SessionView,
        verb: &str,
        live: &LiveClients,
        read_at: u64,
    ) -> Result<LiveClients, WriteError> {
        let kind = DocumentKind::LiveClients;
        let mut owner = owner(&view.workspace, &view.id);
        if live.change.is_none() {
            // What tells nothing is no part of the Session's stream. The act checks who may write there.
            owner.session = None;
        }
        let command = HarnCommand {
            act: Some(HarnAct::EnterSession { session: view.id.clone() }),
            documents: vec![self.draft(kind, &view.id, owner, Expect::Any, live)?],
            read_at: Some(read_at),
            ..HarnCommand::default()
        };
        let path = format!("/v1/sessions/{}/{verb}", view.id);
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        self.write(write, target, Some(&view.id), command).await?;
        let id = view.id.clone();
        Ok(self.reading(move |harness| harness.present_clients(&id)).await?)
    }
}

/// The Event of what a client did.
pub(super) fn event(
    word: &str,
    client: &str,
    before: Option<&str>,
    live: &LiveClients,
    reason: Option<&str>,
) -> ClientEvent {
    let record = live.clients.get(client);
    let mut payload = quipu_wire::harn::JsonObject::with("client_id", client);
    let members = [
        ("mode", record.map(|record| json!(record.mode.as_str()))),
        ("agent_id", record.map(|record| json!(record.agent))),
        ("previous_controller_id", Some(json!(before))),
        ("active_controller_id", Some(json!(live.controller()))),
        ("reason", reason.map(|reason| json!(reason))),
    ];
    let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    payload.extend(members);
    ClientEvent { event: word.to_owned(), payload }
}
