//! What is answered where there is no route, or none for the method: a refusal in the shape of the protocol that was
//! spoken, or, where the request does not say which, of the one whose path it would be.

use axum::{
    body::Body,
    extract::Request,
    http::{Response, Uri},
    response::IntoResponse as _,
};
use quipu_wire::{ErrorCode, ProtocolError, harn::VERSION_HEADER};

use crate::{
    net::body::discard,
    pipeline::{answer::Refused, harn_refusal::HarnRefused},
    routes::all,
};

pub(crate) async fn route(request: Request) -> Response<Body> {
    let message = format!("there is no route {}", shortened(request.uri()));
    refuse(ErrorCode::RouteNotFound, message, request).await
}

pub(crate) async fn method(request: Request) -> Response<Body> {
    let message = format!("{} does not answer {}", shortened(request.uri()), request.method());
    refuse(ErrorCode::MethodNotAllowed, message, request).await
}

async fn refuse(code: ErrorCode, message: String, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    discard(&parts.headers, body).await;
    let error = ProtocolError::new(code, message);
    let says_harn = parts.headers.contains_key(VERSION_HEADER);
    if says_harn || all::paths().find(parts.uri.path()).is_harn {
        return HarnRefused::from(error).into_response();
    }
    Refused::from(error).into_response()
}

/// A path as far as it fits into a sentence.
fn shortened(uri: &Uri) -> String {
    uri.path().chars().take(200).collect()
}
