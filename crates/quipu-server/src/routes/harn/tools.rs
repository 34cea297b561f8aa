//! What can be called here, over HTTP: the operations, as `/mcp` offers them; Skills; and what Personas declare, with the
//! modules that they run.

use std::sync::{Arc, LazyLock};

use axum::extract::{Request, State};
use quipu_wire::harn::{JsonObject, List, ResourceKind, Tool, ToolObject};
use serde_json::json;

use super::{entrance::HarnCall, path::HarnPath};
use crate::{
    pipeline::{
        harn_answer::{HarnAnswer, HarnOutcome},
        state::App,
    },
    routes::mcp,
};

/// The operations, as models are offered them.
static OPERATIONS: LazyLock<Vec<Tool>> =
    LazyLock::new(|| quipu_mcp::definitions().into_iter().map(operation).collect());

fn operation(offered: quipu_mcp::Definition) -> Tool {
    let metadata = json!({
        "provider": "operation",
        "operation": offered.operation.as_str(),
        "call": {"mcp": mcp::PATH, "method": "POST", "path": offered.operation.path()},
    });
    Tool {
        id: offered.name.clone(),
        object: ToolObject::Tool,
        name: offered.name,
        description: offered.description,
        input_schema: JsonObject(offered.input_schema),
        output_schema: JsonObject(offered.output_schema),
        metadata: serde_json::from_value(metadata).unwrap_or_default(),
    }
}

pub(super) async fn list_tools(
    State(app): State<Arc<App>>,
    request: Request,
) -> HarnOutcome<List<Tool>> {
    let call = HarnCall::receive(&app, request).await?;
    let page = call.page(ResourceKind::Tool)?;
    Ok(HarnAnswer::ok(call.harness.tools(&call.caller, page, &OPERATIONS).await?))
}

pub(super) async fn get_tool(
    State(app): State<Arc<App>>,
    HarnPath(tool): HarnPath<String>,
    request: Request,
) -> HarnOutcome<Tool> {
    let call = HarnCall::receive(&app, request).await?;
    Ok(HarnAnswer::ok(call.harness.tool(&call.caller, &tool, &OPERATIONS).await?))
}
