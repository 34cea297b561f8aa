//! What is answered where there is no route, or none for the method.

use axum::{extract::Request, http::Uri};
use quipu_wire::ErrorCode;

use crate::{answer::Refused, body::discard};

pub(super) async fn route(request: Request) -> Refused {
    let message = format!("there is no route {}", shown(request.uri()));
    refuse(ErrorCode::RouteNotFound, message, request).await
}

pub(super) async fn method(request: Request) -> Refused {
    let message = format!("{} does not answer {}", shown(request.uri()), request.method());
    refuse(ErrorCode::MethodNotAllowed, message, request).await
}

async fn refuse(code: ErrorCode, message: String, request: Request) -> Refused {
    let (parts, body) = request.into_parts();
    discard(&parts.headers, body).await;
    Refused::new(code, message)
}

/// A path as far as it fits into a sentence.
fn shown(uri: &Uri) -> String {
    uri.path().chars().take(200).collect()
}
