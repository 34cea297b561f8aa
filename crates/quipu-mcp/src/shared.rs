//! What all handlers of a process share: the caller, the tools, and how a request's headers reach a call.

use rmcp::{RoleServer, service::RequestContext};
use tokio::sync::watch;

use crate::{
    caller::{Caller, Presented},
    invoke::Invoker,
    tools::Table,
};

#[derive(Debug, Clone, Default)]
pub struct HandlerOptions {
    /// The agent that speaks if a call names none.
    pub agent: Option<String>,
    /// The role with which that agent is registered; `agent` if absent.
    pub role: Option<String>,
}

/// What all handlers of a process share.
#[derive(Debug)]
pub(crate) struct Shared<C> {
    pub(crate) caller: C,
    pub(crate) options: HandlerOptions,
    pub(crate) tools: Table,
    /// Each feed holds a receiver until its subscription has ended, so that shutdown can wait for them.
    pub(crate) listeners: watch::Sender<()>,
}

impl<C: Caller> Shared<C> {
    /// The invoker for a request: its headers, its client's name and the configured agent.
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

/// The headers of the HTTP request; none over the standard streams.
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
