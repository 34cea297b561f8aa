//! The headers that the routes of the protocol share, as the document has them.

use utoipa::IntoParams;

/// Which Field is meant, and who reads.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes headers; they are read by name")]
pub(super) struct FieldHeader {
    /// The Field; `default`, or the one the key is bound to, if absent.
    #[param(rename = "Quipu-Field", nullable = false)]
    quipu_field: Option<String>,
    /// Waits until this position of the log is known, as an earlier answer told it in `Quipu-Position`.
    #[param(rename = "Quipu-Min-Position", nullable = false)]
    quipu_min_position: Option<u64>,
    /// The agent that reads; the key's own, or none, if absent.
    #[param(rename = "Akashik-Agent", nullable = false)]
    akashik_agent: Option<String>,
    /// The session it reads in.
    #[param(rename = "Akashik-Session", nullable = false)]
    akashik_session: Option<String>,
}

/// What a bare payload says of itself in headers; in the envelope form only the Field's is read.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes headers; they are read by name")]
pub(super) struct MessageHeaders {
    /// The Field; `default`, or the one the key is bound to, if absent.
    #[param(rename = "Quipu-Field", nullable = false)]
    quipu_field: Option<String>,
    /// Waits until this position of the log is known, as an earlier answer told it in `Quipu-Position`.
    #[param(rename = "Quipu-Min-Position", nullable = false)]
    quipu_min_position: Option<u64>,
    /// The agent that speaks; the key's own if absent.
    #[param(rename = "Akashik-Agent", nullable = false)]
    akashik_agent: Option<String>,
    /// The session it speaks in.
    #[param(rename = "Akashik-Session", nullable = false)]
    akashik_session: Option<String>,
    /// The sender's logical time; 0 if absent.
    #[param(rename = "Akashik-Epoch", nullable = false)]
    akashik_epoch: Option<u64>,
    /// The message's own id. The same message sent twice under one id is carried out once.
    #[param(rename = "Akashik-Message-Id", nullable = false)]
    akashik_message_id: Option<String>,
    /// Another name for `Akashik-Message-Id`.
    #[param(rename = "Idempotency-Key", nullable = false)]
    idempotency_key: Option<String>,
}
