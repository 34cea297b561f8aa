//! What all handlers of a process share: the caller, the tools, and how a request's headers reach a call.

use rmcp::{RoleServer, service::RequestContext};
use tokio::sync::watch;

use crate::{
    caller::{Caller, Presented},
    invoke::Invoker,
    tools::Table,
};

/// How a handler is set up.
#[derive(Debug, Clone, Default)]
pub struct HandlerOptions {
    /// The agent that speaks where a call names none.
    pub agent: Option<String>,
    /// The role that it is registered with; `agent` if absent.
    pub role: Option<String>,
}

/// What all handlers of a process share.
#[derive(Debug)]
pub(crate) struct Shared<C> {
    pub(crate) caller: C,
    pub(crate) options: HandlerOptions,
    pub(crate) tools: Table,
    /// Every feed holds a receiver until its subscription is ended.
    pub(crate) listeners: watch::Sender<()>,
}

impl<C: Caller> Shared<C> {
    /// Who asks, and by what right.
    pub(crate) fn invoker(&self, context: &RequestContext<RoleServer>) -> Invoker<'_, C> {
        Invoker {
            caller: &self.caller,
            presented: presented(context),
            configured: self.options.agent.as_deref(),
            role: self.options.role.as_deref(),
            client_name: context.client_info().map(|client| client.name),
        }
    }
}

/// What came with the HTTP request, where there is one.
fn presented(context: &RequestContext<RoleServer>) -> Presented {
    let Some(parts) = context.extensions.get::<http::request::Parts>() else {
        return Presented::default();
    };
    let header = |name: &str| {
        parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    Presented {
        authorization: header("authorization"),
        field: header("quipu-field"),
        agent: header("akashik-agent"),
        session: header("akashik-session"),
        request_id: header("x-request-id"),
    }
}
