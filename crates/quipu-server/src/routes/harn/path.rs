//! What a path names, such as `{task_id}`. A path that cannot be read names nothing that exists.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use quipu_wire::harn::HarnErrorCode;
use serde::de::DeserializeOwned;

use crate::pipeline::harn_refusal::HarnRefused;

/// What stands in a path: a text, or a tuple of texts.
#[derive(Debug)]
pub(crate) struct HarnPath<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for HarnPath<T> {
    type Rejection = HarnRefused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HarnRefused> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(named)) => Ok(Self(named)),
            Err(_) => Err(HarnRefused::new(
                HarnErrorCode::ResourceNotFound,
                "the path names nothing that exists",
            )),
        }
    }
}
