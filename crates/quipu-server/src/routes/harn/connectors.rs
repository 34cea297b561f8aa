//! Connectors over HTTP, and what comes in through them. A delivery has no key: its signature lets it in.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::HeaderMap,
};
use quipu_harness::{Delivery, Page};
use quipu_wire::{
    harn::{
        Connector, ConnectorDelivery, HarnErrorCode, HarnErrorResponse, List, ResourceKind,
        TokenScope, UpdateConnectorRequest,
    },
    limits::REQUEST_BYTES_MAX,
};

use super::{document::HarnHeaders, entrance::HarnCall, path::HarnPath};
use crate::{
    net::body,
    pipeline::{
        field_choice::{self, Missing},
        harn_answer::{HarnAnswer, HarnOutcome},
        harn_refusal::HarnRefused,
        state::App,
    },
    secrets::keys::{Credential, KeyAgent},
};

const SIGNATURE: &str = "x-signature-256";
const DELIVERY_ID: &str = "x-delivery-id";
/// The longest id of a delivery that is looked at.
const DELIVERY_ID_BYTES_MAX: usize = 256;

/// All Connectors.
#[utoipa::path(
    get,
    path = "/v1/connectors",
    operation_id = "listConnectors",
    tag = "harn",
    params(
        HarnHeaders,
        ("workspace_id" = Option<String>, Query),
        ("limit" = Option<u64>, Query, description = "1 to 200; 50 if absent."),
        ("cursor" = Option<String>, Query),
    ),
    responses(
        (status = 200, description = "A page.", body = List<Connector>),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn list_connectors(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Connector>> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Connector, limit, cursor)?;
    let workspace = call.query.get("workspace_id");
    Ok(HarnAnswer::ok(call.harness.connectors(&call.caller, page, workspace).await?))
}

/// One Connector.
#[utoipa::path(
    get,
    path = "/v1/connectors/{connector_id}",
    operation_id = "getConnector",
    tag = "harn",
    params(HarnHeaders, ("connector_id" = String, Path)),
    responses(
        (status = 200, description = "The Connector.", body = Connector),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:read"])),
)]
pub(super) async fn get_connector(
    State(app): State<Arc<App>>,
    HarnPath(connector): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Connector> {
    let call = HarnCall::receive(&app, TokenScope::SessionsRead, request).await?;
    Ok(HarnAnswer::ok(call.harness.connector(&call.caller, &connector).await?))
}

/// Gives a Connector its secret, its targets or its status. Needs authority 8.
#[utoipa::path(
    patch,
    path = "/v1/connectors/{connector_id}",
    operation_id = "updateConnector",
    tag = "quipu",
    params(HarnHeaders, ("connector_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = UpdateConnectorRequest,
    responses(
        (status = 200, description = "Changed.", body = Connector),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
    security(("key" = []), ("oauth2" = ["sessions:write"])),
)]
pub(super) async fn update_connector(
    State(app): State<Arc<App>>,
    HarnPath(connector): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Connector> {
    let mut call = HarnCall::receive(&app, TokenScope::SessionsWrite, request).await?;
    let asked = call.asked()?;
    let request = UpdateConnectorRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_connector(&asked, &connector, request).await?))
}

/// Takes a delivery, which becomes a Task. Needs neither a key nor a version, but a signature: the
/// HMAC-SHA-256 of the body under the Connector's secret. Sent again with the same id, it is the same Task.
#[utoipa::path(
    post,
    path = "/v1/connectors/{connector_id}/deliveries",
    operation_id = "deliverToConnector",
    tag = "quipu",
    params(
        ("connector_id" = String, Path),
        ("X-Signature-256" = String, Header, description = "`sha256=` and 64 hexadecimal digits."),
        ("X-Delivery-Id" = Option<String>, Header, description = "The sender's id of the delivery."),
        ("Quipu-Field" = Option<String>, Header, description = "The Field; `default` if absent."),
    ),
    request_body = serde_json::Value,
    responses(
        (status = 200, description = "It was here before.", body = ConnectorDelivery),
        (status = 202, description = "It became a Task.", body = ConnectorDelivery),
        (status = "default", description = "Refused.", body = HarnErrorResponse),
    ),
)]
pub(super) async fn deliver(
    State(app): State<Arc<App>>,
    HarnPath(connector): HarnPath<String>,
    request: Request,
) -> HarnOutcome<ConnectorDelivery> {
    let (parts, body) = request.into_parts();
    if let Some(throttle) = &app.throttle {
        throttle.spend(STRANGER)?;
    }
    let whole = body::read(&app.room, &parts.headers, body, REQUEST_BYTES_MAX).await?;
    // Whether there is such a Field is nobody's business who has not proven anything yet.
    let field = field_choice::find(&app, &stranger(), &parts.headers, Missing::Refuse).await;
    let field = field.map_err(|_| {
        let message = "the delivery is not signed with the connector's secret";
        HarnRefused::new(HarnErrorCode::Unauthenticated, message)
    })?;
    let delivery = Delivery {
        id: text(&parts.headers, DELIVERY_ID).filter(|id| id.len() <= DELIVERY_ID_BYTES_MAX),
        signature: text(&parts.headers, SIGNATURE),
        body: whole.bytes.to_vec(),
    };
    let delivered = app.harnesses.of(&field).deliver(&connector, delivery).await?;
    let answer = if delivered.deduplicated { HarnAnswer::ok } else { HarnAnswer::accepted };
    Ok(answer(delivered))
}

/// The bucket that all deliveries spend from. No key has this id.
const STRANGER: &str = "connector:deliveries";

/// Who has no key: may look for the Field that it names, and make nothing.
fn stranger() -> Credential {
    Credential { key_id: STRANGER.to_owned(), agent: KeyAgent::Any, authority: 0, field: None }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
