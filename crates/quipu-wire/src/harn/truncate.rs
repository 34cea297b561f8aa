//! Cutting the end off a Session's transcript. What was said stays in the log; the transcript no longer has it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{HarnSession, reading};
use crate::{json::reader::ReadError, words::words};

words! {
    /// The word in `object` of the answer.
    TruncateObject {
        /// Always this one.
        TruncateResult = "session.truncate_result",
    }
}

/// The body of `POST /v1/sessions/{session_id}/truncate`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TruncateSessionRequest {
    /// How many Messages from the beginning stay.
    pub keep_first: u64,
    /// The reason that the caller gives.
    pub reason: Option<String>,
}

/// The answer: what is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TruncateSessionResponse {
    /// Always `session.truncate_result`.
    pub object: TruncateObject,
    /// The Session.
    pub session_id: String,
    /// How many Messages stayed.
    pub kept_turn_count: u64,
    /// How many went.
    pub removed_turn_count: u64,
    /// The last Message that stayed.
    pub new_tip_turn_id: Option<String>,
    /// The Session as it is now.
    pub session: HarnSession,
}

impl TruncateSessionRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// Where a member is missing or malformed; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let keep_first = object.take_integer("keep_first")?;
        Ok(Self {
            keep_first: keep_first.ok_or_else(|| object.refuse("keep_first", "is required"))?,
            reason: object.take_nonblank("reason")?,
        })
    }
}
