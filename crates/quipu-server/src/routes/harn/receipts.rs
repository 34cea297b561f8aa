//! Receipts over HTTP: as the API's resource, bare in canonical JSON or CBOR by `Accept`, and checked.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Response, header},
    response::IntoResponse,
};
use quipu_harness::Page;
use quipu_wire::harn::{
    List, RECEIPT_CBOR, RECEIPT_JSON, ReceiptResource, ReceiptVerification, ResourceKind,
    VerifyReceiptRequest,
};

use super::{entrance::HarnCall, path::HarnPath};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    harn_refusal::HarnRefused,
    state::App,
};

pub(super) async fn list_task_receipts(
    State(app): State<Arc<App>>,
    HarnPath(task): HarnPath<String>,
    request: Request,
) -> HarnOutcome<List<ReceiptResource>> {
    let call = HarnCall::receive(&app, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Receipt, limit, cursor)?;
    Ok(HarnAnswer::ok(call.harness.task_receipts(&call.caller, &task, page).await?))
}

pub(super) async fn get_receipt(
    State(app): State<Arc<App>>,
    HarnPath(receipt): HarnPath<String>,
    request: Request,
) -> Result<Response<Body>, HarnRefused> {
    let form = Form::accepted(request.headers());
    let call = HarnCall::receive(&app, request).await?;
    let (harness, caller) = (&call.harness, &call.caller);
    Ok(match form {
        Form::Resource => HarnAnswer::ok(harness.receipt(caller, &receipt).await?).into_response(),
        Form::Json => typed(RECEIPT_JSON, harness.receipt_json(caller, &receipt).await?),
        Form::Cbor => typed(RECEIPT_CBOR, harness.receipt_cbor(caller, &receipt).await?),
    })
}

pub(super) async fn verify_receipt(
    State(app): State<Arc<App>>,
    HarnPath(receipt): HarnPath<String>,
    request: Request,
) -> HarnOutcome<ReceiptVerification> {
    let mut call = HarnCall::receive(&app, request).await?;
    let request = VerifyReceiptRequest::parse(call.body.take())?;
    Ok(HarnAnswer::ok(call.harness.verify_receipt(&call.caller, &receipt, request).await?))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Resource,
    Json,
    Cbor,
}

impl Form {
    /// The first of our media types that `Accept` names; the resource where it names none. Never refused.
    fn accepted(headers: &HeaderMap) -> Self {
        let lines =
            headers.get_all(header::ACCEPT).into_iter().filter_map(|line| line.to_str().ok());
        let types = lines.flat_map(|line| line.split(','));
        let mut types = types.map(|text| text.split(';').next().unwrap_or_default().trim());
        let known = |text: &str| {
            if text.eq_ignore_ascii_case(essence(RECEIPT_CBOR)) {
                return Some(Self::Cbor);
            }
            if text.eq_ignore_ascii_case(essence(RECEIPT_JSON)) {
                return Some(Self::Json);
            }
            text.eq_ignore_ascii_case("application/json").then_some(Self::Resource)
        };
        types.find_map(known).unwrap_or(Self::Resource)
    }
}

/// A media type without its parameters.
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or(media_type)
}

fn typed(media_type: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_media_type_decides_and_nothing_is_refused() {
        for (accept, form) in [
            ("*/*", Form::Resource),
            ("text/html", Form::Resource),
            (RECEIPT_CBOR, Form::Cbor),
            ("application/vnd.harn.receipt+json", Form::Json),
            ("application/json, application/vnd.harn.receipt+cbor", Form::Resource),
            ("text/plain, Application/Vnd.Harn.Receipt+CBOR; q=0.5", Form::Cbor),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(Form::accepted(&headers), form, "{accept}");
        }
        assert_eq!(Form::accepted(&HeaderMap::new()), Form::Resource);
    }
}
