//! Connectors over HTTP, and what comes in through them. A delivery has no key: its signature lets it in.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use axum::{
    extract::{Request, State},
    http::HeaderMap,
};
use quipu_harness::{Delivery, Page, not_signed};
use quipu_wire::harn::{Connector, ConnectorDelivery, List, ResourceKind, UpdateConnectorRequest};

use super::{entrance::HarnCall, path::HarnPath};
use crate::{
    net::{body, visits},
    pipeline::{
        field_choice::{self, Missing},
        harn_answer::{HarnAnswer, HarnOutcome},
        harn_refusal::HarnRefused,
        route::Admission,
        state::App,
    },
    secrets::keys::{Credential, KeyAgent},
};

const SIGNATURE: &str = "x-signature-256";
const DELIVERY_ID: &str = "x-delivery-id";
const DELIVERY_TIME: &str = "x-delivery-time";
/// The longest id of a delivery that is looked at.
const DELIVERY_ID_BYTES_MAX: usize = 256;

pub(super) async fn list_connectors(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Connector>> {
    let call = HarnCall::receive(&app, request).await?;
    let (limit, cursor) = (call.query.get("limit"), call.query.get("cursor"));
    let page = Page::read(ResourceKind::Connector, limit, cursor)?;
    let workspace = call.query.get("workspace_id");
    Ok(HarnAnswer::ok(call.harness.connectors(&call.caller, page, workspace).await?))
}

pub(super) async fn get_connector(
    State(app): State<Arc<App>>,
    HarnPath(connector): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Connector> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.connector(&call.caller, &connector).await?))
}

pub(super) async fn update_connector(
    State(app): State<Arc<App>>,
    HarnPath(connector): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Connector> {
    let mut call = HarnCall::receive(&app, request).await?;
    let asked = call.as_write()?;
    let request = UpdateConnectorRequest::parse(call.body.take().unwrap_or_default())?;
    Ok(HarnAnswer::ok(call.harness.update_connector(&asked, &connector, request).await?))
}

pub(super) async fn deliver(
    State(app): State<Arc<App>>,
    HarnPath(connector): HarnPath<String>,
    request: Request,
) -> HarnOutcome<ConnectorDelivery> {
    let (parts, body) = request.into_parts();
    if let Some(throttle) = &app.throttle {
        throttle.spend(STRANGER)?;
    }
    // Nothing is proven before all of the body is here: it takes none of the room of those who have a key, and its address
    // has no more than a part of the room that there is for it.
    let address = visits::address().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let room = app.strangers.of(address);
    let most = Admission::of(&parts.extensions).body_bytes_max;
    let whole = body::read(&room, &parts.headers, body, most).await?;
    // Whether there is such a Field is nobody's business who has not proven anything yet.
    let field = field_choice::find(&app.fields, &stranger(), &parts.headers, Missing::Refuse).await;
    let field = field.map_err(|_| HarnRefused::from(not_signed()))?;
    let delivery = Delivery {
        id: text(&parts.headers, DELIVERY_ID).filter(|id| id.len() <= DELIVERY_ID_BYTES_MAX),
        time: text(&parts.headers, DELIVERY_TIME),
        signature: text(&parts.headers, SIGNATURE),
        body: whole.bytes.to_vec(),
    };
    Ok(HarnAnswer::accepted(app.harnesses.of(&field).deliver(&connector, delivery).await?))
}

/// The bucket that all deliveries spend from. No key has this id.
const STRANGER: &str = "connector:deliveries";

/// Who has no key: may look for the Field that it names, and make nothing.
fn stranger() -> Credential {
    let (key_id, roles) = (STRANGER.to_owned(), Vec::new());
    Credential { key_id, agent: KeyAgent::Any, authority: 0, field: None, roles }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
