//! An answer as a whole, up to a limit: a server of others must not fill our memory.

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};

use crate::Cause;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the answer is larger than allowed")]
    TooLarge,
    #[error("the connection broke")]
    Broken(#[source] Cause),
}

/// Reads a body; one that says it is too large is not begun.
pub async fn read_at_most(body: Incoming, bytes_max: usize) -> Result<Bytes, ReadError> {
    if usize::try_from(body.size_hint().lower()).map_or(true, |size| size > bytes_max) {
        return Err(ReadError::TooLarge);
    }
    match Limited::new(body, bytes_max).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ReadError::TooLarge),
        Err(error) => Err(ReadError::Broken(error)),
    }
}
