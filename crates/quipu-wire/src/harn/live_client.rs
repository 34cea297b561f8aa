//! Live clients: the programs through which people look at a Session now, and the one of them that controls it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, List, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

/// How long a client is taken to be there after its last sign, in milliseconds, unless it says otherwise.
pub const LIVE_LEASE_MS_DEFAULT: u64 = 60_000;
pub const LIVE_LEASE_MS_MIN: u64 = 5_000;
pub const LIVE_LEASE_MS_MAX: u64 = 10 * 60_000;
/// The largest metadata of a client, in bytes of JSON.
pub const LIVE_METADATA_BYTES_MAX: usize = 2 * 1024;

words! {
    /// What a client is in a Session.
    LiveMode {
        /// It looks on.
        Observer = "observer",
        /// It speaks for whoever is in charge. There is at most one.
        Controller = "controller",
    }
}

/// A client of a Session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveClient {
    /// Its id in the Session, which it chose itself.
    pub client_id: String,
    /// What it is there.
    pub mode: LiveMode,
    /// When it came.
    pub attached_at: String,
    /// When it was last heard of, as far as the log knows: a sign that comes soon after another is not written down.
    pub last_seen_at: String,
    /// Whether what people say comes through it: a Message may name it only then.
    pub prompt_injection: bool,
    /// Whether it is the one to show questions of permission. Who may answer them is another matter.
    pub permission_routing: bool,
    /// The client's own members.
    #[serde(default)]
    pub metadata: JsonObject,
    /// Whose it is. Ours.
    pub agent_id: String,
    /// When it is taken to have gone unless it is heard of again. Ours.
    pub expires_at: String,
}

/// The answer to whatever changes the clients of a Session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveClientChange {
    /// The client; null where it went.
    pub client: Option<LiveClient>,
    /// Who controlled the Session before.
    pub previous_controller_id: Option<String>,
    /// Who controls it now.
    pub active_controller_id: Option<String>,
    /// All of them now, in the order of their ids.
    pub clients: Vec<LiveClient>,
}

/// The answer to `GET /v1/sessions/{session_id}/live-clients`.
pub type LiveClientList = List<LiveClient>;

/// The body of `POST /v1/sessions/{session_id}/attach`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttachClientRequest {
    /// Its id in the Session.
    pub client_id: String,
    /// What it is to be; `observer` if absent.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub mode: LiveMode,
    /// Whether to take control from whoever has it.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub takeover: bool,
    /// As its mode has it if absent.
    pub prompt_injection: Option<bool>,
    /// As its mode has it if absent.
    pub permission_routing: Option<bool>,
    /// The client's own members.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: JsonObject,
    /// How long it may be silent, 5,000 to 600,000; 60,000 if absent. Ours.
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub lease_ms: u64,
}

/// The body of `takeover`, `detach` and `heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SessionClientRequest {
    /// Its id in the Session.
    pub client_id: String,
    /// The reason that the caller gives.
    pub reason: Option<String>,
    /// Takes the place of the client's own members.
    pub metadata: Option<JsonObject>,
}

impl AttachClientRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let mode = object.take_word("mode", LiveMode::WORDS, LiveMode::parse)?;
        let lease_ms = object.take_integer("lease_ms")?.unwrap_or(LIVE_LEASE_MS_DEFAULT);
        if !(LIVE_LEASE_MS_MIN..=LIVE_LEASE_MS_MAX).contains(&lease_ms) {
            let problem = format!("must be from {LIVE_LEASE_MS_MIN} to {LIVE_LEASE_MS_MAX}");
            return Err(object.refuse("lease_ms", problem));
        }
        Ok(Self {
            client_id: object.require_id("client_id")?,
            mode: mode.unwrap_or(LiveMode::Observer),
            takeover: object.take_bool("takeover")?.unwrap_or(false),
            prompt_injection: object.take_bool("prompt_injection")?,
            permission_routing: object.take_bool("permission_routing")?,
            metadata: metadata(&mut object)?.unwrap_or_default(),
            lease_ms,
        })
    }
}

impl SessionClientRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        Ok(Self {
            client_id: object.require_id("client_id")?,
            reason: object.take_nonblank("reason")?,
            metadata: metadata(&mut object)?,
        })
    }
}

fn metadata(object: &mut ObjectReader) -> Result<Option<JsonObject>, ReadError> {
    let metadata = object.take_map("metadata")?;
    let bytes =
        metadata.as_ref().map_or(0, |members| Value::from(members.0.clone()).to_string().len());
    if bytes > LIVE_METADATA_BYTES_MAX {
        let problem = format!("must have at most {LIVE_METADATA_BYTES_MAX} bytes as JSON");
        return Err(object.refuse("metadata", problem));
    }
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_client_observes_unless_it_says_otherwise() {
        let request = AttachClientRequest::parse(json!({"client_id": "tui"})).unwrap();
        assert_eq!((request.mode, request.takeover), (LiveMode::Observer, false));
        assert_eq!(request.lease_ms, LIVE_LEASE_MS_DEFAULT);
    }

    #[test]
    fn what_is_malformed_is_named() {
        let large = "x".repeat(LIVE_METADATA_BYTES_MAX);
        for (wrong, at) in [
            (json!({}), "client_id"),
            (json!({"client_id": ""}), "client_id"),
            (json!({"client_id": "a\nb"}), "client_id"),
            (json!({"client_id": "a", "mode": "king"}), "mode"),
            (json!({"client_id": "a", "takeover": "yes"}), "takeover"),
            (json!({"client_id": "a", "lease_ms": 1}), "lease_ms"),
            (json!({"client_id": "a", "lease_ms": 600_001}), "lease_ms"),
            (json!({"client_id": "a", "metadata": []}), "metadata"),
            (json!({"client_id": "a", "metadata": {"x": large}}), "metadata"),
        ] {
            assert_eq!(AttachClientRequest::parse(wrong).unwrap_err().path, at);
        }
        let reason = json!({"client_id": "a", "reason": 1});
        assert_eq!(SessionClientRequest::parse(reason).unwrap_err().path, "reason");
    }
}
