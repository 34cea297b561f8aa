//! The id of the request that is worked on: taken over from the caller or drawn, and known to whatever
//! answers it, so that a refusal can name it. It belongs to the task, as the request does.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::{ids::IdSource, limits::REQUEST_ID_BYTES_MAX};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: HeaderValue;
}

/// The caller's own id if it is sane, else a fresh one.
pub(crate) fn choose(ids: &IdSource, headers: &HeaderMap) -> HeaderValue {
    let given = headers.get(REQUEST_ID).filter(|id| is_sane(id.as_bytes()));
    given
        .cloned()
        .unwrap_or_else(|| HeaderValue::try_from(ids.next()).expect("our ids are plain letters"))
}

pub(crate) async fn under<F: Future>(id: HeaderValue, work: F) -> F::Output {
    CURRENT.scope(id, work).await
}

/// The id of the request that is worked on; none outside of one.
pub(crate) fn current() -> Option<String> {
    CURRENT.try_with(|id| id.to_str().ok().map(str::to_owned)).ok().flatten()
}

fn is_sane(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
    !id.is_empty() && id.len() <= REQUEST_ID_BYTES_MAX && id.iter().all(plain)
}
