//! What a Message says of the client that it came through: `live_session.client_id` in its metadata. It is believed of the
//! client that controls the Session, and of nobody else.

use quipu_wire::harn::{HarnError, HarnErrorCode, JsonObject};
use serde_json::Value;

use crate::{Caller, Harness};

/// The member of a Message's metadata that names the client.
const LIVE_SESSION: &str = "live_session";
const AT: &str = "message.metadata.live_session.client_id";

impl Harness {
    /// Checks what a Message in a Session says of its client.
    ///
    /// # Errors
    /// 400 where it names none, 403 where that client is not the caller's, does not control the Session, or is not the one
    /// that people speak through.
    pub(crate) async fn check_live_claim(
        &self,
        caller: &Caller,
        session: &str,
        metadata: &JsonObject,
    ) -> Result<(), HarnError> {
        let Some(claim) = metadata.get(LIVE_SESSION) else { return Ok(()) };
        let id = claim.get("client_id").and_then(Value::as_str).ok_or_else(|| {
            HarnError::new(HarnErrorCode::InvalidRequest, format!("{AT}: must be a text")).at(AT)
        })?;
        let session_id = session.to_owned();
        let live = self.reading(move |harness| harness.present_clients(&session_id)).await?;
        let client = live.clients.get(id).filter(|client| self.is_own(caller, client));
        if client.is_some_and(|client| client.controls() && client.prompt_injection) {
            return Ok(());
        }
        let message = format!("{AT}: {id} is no client of yours that controls {session}");
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message).at(AT))
    }
}

/// Checks that a Message names no client: in a Session that is only opened there is none yet.
///
/// # Errors
/// 400 where it does.
pub(crate) fn no_live_claim(metadata: &JsonObject) -> Result<(), HarnError> {
    if !metadata.contains_key(LIVE_SESSION) {
        return Ok(());
    }
    let at = "initial_messages";
    let message =
        format!("{at}: nobody can have said it through a live client before the session is");
    Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at(at))
}
