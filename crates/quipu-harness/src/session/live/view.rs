//! Who is there now: whoever was heard of within its lease and still has part in the Session.

use quipu_core::{DocumentKind, State, visibility::Speaker};
use quipu_wire::{
    akashik::SessionStatus,
    harn::{
        HarnError, HarnErrorCode, List, LiveClient, LiveClientChange, LiveClientList, ResourceKind,
    },
    json::timestamp::rfc3339,
};

use crate::{
    Caller, Harness,
    resource::built_in_resources,
    session::view::SessionView,
    stored::live_clients::{ClientRecord, LiveClients},
};

impl Harness {
    /// `GET /v1/sessions/{session_id}/live-clients`.
    ///
    /// # Errors
    /// 404 where there is no such Session, 403 where the caller is no member of it.
    pub async fn live_clients(
        &self,
        caller: &Caller,
        session: &str,
    ) -> Result<LiveClientList, HarnError> {
        self.check_session(caller, session)?;
        let id = session.to_owned();
        let live = self.reading(move |harness| harness.present_clients(&id)).await?;
        Ok(List::page(clients_of(&live), None))
    }

    /// The clients of a Session that are there. Reads storage.
    pub(crate) fn present_clients(&self, session: &str) -> Result<LiveClients, HarnError> {
        let kept = self.stored::<LiveClients>(DocumentKind::LiveClients, session)?;
        let mut live = kept.unwrap_or_default();
        live.change = None;
        let now = self.field.origin().now_ms();
        self.field.with_state(|state| {
            live.clients
                .retain(|_, client| now < client.gone_ms() && has_part(state, session, client));
        });
        Ok(live)
    }

    /// A Session whose clients may change, for a caller that is a member of it.
    pub(crate) fn session_to_attend(
        &self,
        caller: &Caller,
        session: &str,
    ) -> Result<SessionView, HarnError> {
        let view = self.view_session(caller, session)?;
        let Some(entry) = &view.entry else {
            return Err(built_in_resources::unchangeable(ResourceKind::Session, session));
        };
        self.check_session(caller, session)?;
        if entry.status != SessionStatus::Active {
            let message =
                format!("session {session} is {}, and nobody comes or goes", entry.status);
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        Ok(view)
    }
}

/// Whether whose client it is may still be in the Session; in one that is over nobody is.
fn has_part(state: &State, session: &str, client: &ClientRecord) -> bool {
    let entry = state.sessions.get(session);
    entry.is_some_and(|entry| {
        let speaker = Speaker::through(&client.agent, client.authority);
        entry.status != SessionStatus::Ended && speaker.has_part(state, entry)
    })
}

/// All of them, in the order of their ids.
pub(crate) fn clients_of(live: &LiveClients) -> Vec<LiveClient> {
    live.clients.iter().map(|(id, client)| show(id, client)).collect()
}

pub(super) fn change(
    live: &LiveClients,
    client: Option<&str>,
    before: Option<String>,
) -> LiveClientChange {
    let client = client.and_then(|id| live.clients.get_key_value(id));
    LiveClientChange {
        client: client.map(|(id, client)| show(id, client)),
        previous_controller_id: before,
        active_controller_id: live.controller().map(str::to_owned),
        clients: clients_of(live),
    }
}

fn show(id: &str, client: &ClientRecord) -> LiveClient {
    LiveClient {
        client_id: id.to_owned(),
        mode: client.mode,
        attached_at: rfc3339(client.attached_ms),
        last_seen_at: rfc3339(client.seen_ms),
        prompt_injection: client.prompt_injection,
        permission_routing: client.permission_routing,
        metadata: client.metadata.clone(),
        agent_id: client.agent.clone(),
        expires_at: rfc3339(client.gone_ms()),
    }
}
