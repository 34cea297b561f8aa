//! How this protocol answers: a resource as JSON under the status that its endpoint has.

use axum::{
    body::Body,
    http::{Response, StatusCode},
    response::IntoResponse,
};
use quipu_wire::harn::HarnErrorCode;
use serde::Serialize;

use super::harn_refusal::HarnRefused;
use crate::pipeline::answer::respond;

pub(crate) type HarnOutcome<T> = Result<HarnAnswer<T>, HarnRefused>;

#[derive(Debug)]
pub(crate) struct HarnAnswer<T> {
    status: StatusCode,
    resource: T,
}

impl<T> HarnAnswer<T> {
    pub(crate) const fn ok(resource: T) -> Self {
        Self { status: StatusCode::OK, resource }
    }

    pub(crate) const fn created(resource: T) -> Self {
        Self { status: StatusCode::CREATED, resource }
    }

    /// It was taken on and is worked on.
    pub(crate) const fn accepted(resource: T) -> Self {
        Self { status: StatusCode::ACCEPTED, resource }
    }
}

impl<T: Serialize> IntoResponse for HarnAnswer<T> {
    fn into_response(self) -> Response<Body> {
        match serde_json::to_vec(&self.resource) {
            Ok(json) => respond(self.status, json),
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                let message = "the answer could not be written as JSON";
                HarnRefused::new(HarnErrorCode::InternalError, message).into_response()
            }
        }
    }
}
