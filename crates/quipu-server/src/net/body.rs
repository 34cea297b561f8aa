//! Reads a request's body within bounds of size, time and memory. Does not look into it.

use axum::{
    body::{Body, Bytes, HttpBody as _},
    http::{HeaderMap, header},
};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use quipu_wire::{ErrorCode, ProtocolError};
use tokio::time::timeout;

use crate::{
    limits::{BODY_TIMEOUT, DRAIN_BYTES_MAX, SMALL_BODY_BYTES},
    net::rooms::{Room, TakenRoom},
};

/// A body, and the room it takes for as long as the request is worked on.
#[derive(Debug)]
pub(crate) struct WholeBody {
    pub(crate) bytes: Bytes,
    pub(crate) room: Option<TakenRoom>,
}

/// Reads a body of at most `limit` bytes; a large one waits until there is room for it.
pub(crate) async fn read(
    room: &Room,
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
) -> Result<WholeBody, ProtocolError> {
    let declared =
        body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    if declared.is_some_and(|bytes| bytes > limit) {
        return Err(too_large(headers, body, limit, declared).await);
    }
    let room = find_room(room, declared.unwrap_or(limit)).await?;
    let reading = Limited::new(&mut body, limit).collect();
    let Ok(read) = timeout(BODY_TIMEOUT, reading).await else {
        let seconds = BODY_TIMEOUT.as_secs();
        let message = format!("body: did not arrive within {seconds} seconds");
        return Err(ProtocolError::new(ErrorCode::InvalidPayload, message));
    };
    match read {
        Ok(whole) => Ok(WholeBody { bytes: whole.to_bytes(), room }),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(too_large(headers, body, limit, declared).await)
        }
        Err(error) => {
            let message = format!("body: could not be read: {error}");
            Err(ProtocolError::new(ErrorCode::InvalidPayload, message))
        }
    }
}

/// Waits until there is room for a large body.
async fn find_room(room: &Room, bytes: usize) -> Result<Option<TakenRoom>, ProtocolError> {
    if bytes <= SMALL_BODY_BYTES {
        return Ok(None);
    }
    let full = || ProtocolError::new(ErrorCode::Overloaded, "too many large bodies at one time");
    let kib = u32::try_from(bytes.div_ceil(1024)).map_err(|_| full())?;
    match timeout(BODY_TIMEOUT, room.take(kib)).await {
        Ok(Some(room)) => Ok(Some(room)),
        Ok(None) | Err(_) => Err(full()),
    }
}

async fn too_large(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    declared: Option<usize>,
) -> ProtocolError {
    discard(headers, body).await;
    let size = declared.map_or_else(String::new, |bytes| format!(", got {bytes}"));
    let message = format!("body: must be at most {limit} bytes{size}");
    ProtocolError::new(ErrorCode::PayloadTooLarge, message)
}

/// Reads a body that nobody wants and throws it away, within bounds: a sender that still sends
/// would meet a closed connection and never see the answer. One that waits for `100 Continue`
/// listens already.
pub(crate) async fn discard(headers: &HeaderMap, body: Body) {
    let waits = headers.contains_key(header::EXPECT);
    let bytes = body.size_hint().lower();
    if !waits && usize::try_from(bytes).is_ok_and(|bytes| bytes <= DRAIN_BYTES_MAX) {
        // Whether all of it came or not, the answer is the same.
        timeout(BODY_TIMEOUT, drain(body)).await.ok();
    }
}

async fn drain(mut body: Body) {
    let mut drained = 0;
    while let Some(Ok(frame)) = body.frame().await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > DRAIN_BYTES_MAX {
            return;
        }
    }
}
