//! Signs of life, and going.

use quipu_wire::harn::{HarnError, HarnErrorCode, LiveClientChange, SessionClientRequest};

use super::{attach::event, view::change};
use crate::{
    Caller, Harness, WriteRequest,
    handle::{
        caller::AUTHORITY_POLICY,
        retry::{WriteError, retry_until_unchanged},
    },
    stored::live_clients::{CLIENT_DETACHED, ClientRecord, LiveClients},
};

impl Harness {
    /// `POST /v1/sessions/{session_id}/heartbeat`. It is written down when half of the lease is over, or the client says
    /// something new of itself.
    ///
    /// # Errors
    /// 404 where there is no such Session, or no such client there any more; 403 where it is another's, or the caller is no
    /// member; 409 where the Session is not active.
    pub async fn heartbeat_client(
        &self,
        write: &WriteRequest,
        session: &str,
        request: SessionClientRequest,
    ) -> Result<LiveClientChange, HarnError> {
        retry_until_unchanged(|| self.heartbeat_once(write, session, &request)).await
    }

    async fn heartbeat_once(
        &self,
        write: &WriteRequest,
        session: &str,
        request: &SessionClientRequest,
    ) -> Result<LiveClientChange, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = self.field.head().position;
        let view = self.session_to_attend(&write.caller, session)?;
        let id = session.to_owned();
        let mut live = self.reading(move |harness| harness.present_clients(&id)).await?;
        let now = self.field.origin().now_ms();
        let client = client_of(&mut live, session, &request.client_id)?;
        if !self.is_own(&write.caller, client) {
            return Err(of_another(&request.client_id).into());
        }
        let news = request.metadata.as_ref().is_some_and(|said| *said != client.metadata);
        if news || client.is_due(now) {
            client.seen_ms = now;
            client.metadata = request.metadata.clone().unwrap_or_else(|| client.metadata.clone());
            live = self.put_clients(write, &view, "heartbeat", &live, read_at).await?;
        }
        let controller = live.controller().map(str::to_owned);
        Ok(change(&live, Some(&request.client_id), controller))
    }

    /// `POST /v1/sessions/{session_id}/detach`. Who had control gives it up.
    ///
    /// # Errors
    /// 404 where there is no such Session, or no such client there; 403 where the client is another's and the caller has
    /// less than authority 8 in the Session or less than the other has, or is no member; 409 where the Session is not
    /// active.
    pub async fn detach_client(
        &self,
        write: &WriteRequest,
        session: &str,
        request: SessionClientRequest,
    ) -> Result<LiveClientChange, HarnError> {
        retry_until_unchanged(|| self.detach_once(write, session, &request)).await
    }

    async fn detach_once(
        &self,
        write: &WriteRequest,
        session: &str,
        request: &SessionClientRequest,
    ) -> Result<LiveClientChange, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = self.field.head().position;
        let view = self.session_to_attend(&write.caller, session)?;
        let id = session.to_owned();
        let mut live = self.reading(move |harness| harness.present_clients(&id)).await?;
        let client = client_of(&mut live, session, &request.client_id)?.clone();
        self.check_turning_out(&write.caller, session, &request.client_id, &client)?;
        let before = live.controller().map(str::to_owned);
        live.clients.remove(&request.client_id);
        let reason = request.reason.as_deref();
        live.change =
            Some(event(CLIENT_DETACHED, &request.client_id, before.as_deref(), &live, reason));
        let live = self.put_clients(write, &view, "detach", &live, read_at).await?;
        Ok(change(&live, None, before))
    }

    fn check_turning_out(
        &self,
        caller: &Caller,
        session: &str,
        id: &str,
        client: &ClientRecord,
    ) -> Result<(), HarnError> {
        if self.is_own(caller, client) {
            return Ok(());
        }
        if self.authority_of(caller, Some(session)) < AUTHORITY_POLICY {
            return Err(of_another(id));
        }
        self.check_not_weaker(caller, session, client, id)
    }
}

fn client_of<'l>(
    live: &'l mut LiveClients,
    session: &str,
    id: &str,
) -> Result<&'l mut ClientRecord, HarnError> {
    live.clients.get_mut(id).ok_or_else(|| {
        let message = format!("there is no live client {id} in {session}: attach it");
        HarnError::new(HarnErrorCode::ResourceNotFound, message).at("client_id")
    })
}

fn of_another(id: &str) -> HarnError {
    let message = format!("client_id: {id} is another agent's");
    HarnError::new(HarnErrorCode::PermissionDenied, message).at("client_id")
}
