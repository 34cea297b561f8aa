//! What a caller with a credential may ask about the server itself: what runs here and what it can do.

use std::sync::Arc;

use axum::extract::{Request, State};
use quipu_wire::harn::{Capability, CapabilitySummary, Runtime, RuntimeObject};

use super::{discovery::SERVER_VERSION, entrance::HarnCall};
use crate::pipeline::{
    harn_answer::{HarnAnswer, HarnOutcome},
    state::App,
};

/// What the server can do; the agent card names the same.
pub(super) const CAPABILITIES: [(&str, &str); 12] = [
    ("rest", "Resources over HTTP"),
    ("sse", "Events of a Session, a Task or everything, as they happen"),
    ("websocket", "The same both ways, with messages and cancellation"),
    ("receipts", "A signed receipt for every Task that ended"),
    ("replay", "Recorded Tasks run again, exactly or with answers changed"),
    ("memory", "A shared memory that ranks what a Task needs"),
    ("vaults", "Secrets that are kept and never read back"),
    ("connectors", "Deliveries from outside that become Tasks"),
    ("tools", "What can be called here, with its schemas"),
    ("workspace.files", "Texts under the paths of a Workspace, with their versions"),
    ("live_clients", "Who looks at a Session now, and who controls it"),
    ("provider_catalog", "The models that the server asks, and for what"),
];

fn capabilities() -> Vec<Capability> {
    let capability = |(id, description): (&str, &str)| Capability {
        id: id.to_owned(),
        description: description.to_owned(),
    };
    CAPABILITIES.into_iter().map(capability).collect()
}

pub(super) async fn runtime(State(app): State<Arc<App>>, request: Request) -> HarnOutcome<Runtime> {
    let call = HarnCall::receive(&app, request).await?;
    let counts = call.harness.counts(&call.caller);
    Ok(HarnAnswer::ok(Runtime {
        object: RuntimeObject::Runtime,
        version: SERVER_VERSION.to_owned(),
        protocol_version: call.version,
        adapter: "quipu".to_owned(),
        workspace_root: None,
        session_count: Some(counts.sessions),
        task_count: Some(counts.tasks),
        capabilities: capabilities(),
    }))
}

pub(super) async fn capability_summary(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<CapabilitySummary> {
    HarnCall::receive(&app, request).await?;
    let object = RuntimeObject::CapabilitySummary;
    Ok(HarnAnswer::ok(CapabilitySummary { object, capabilities: capabilities() }))
}
