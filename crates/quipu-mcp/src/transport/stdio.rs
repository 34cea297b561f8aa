//! MCP over the standard streams: a host starts the process, talks to it through pipes, and closes them when it is
//! done.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ServiceExt as _,
    service::{QuitReason, ServerInitializeError},
    transport::stdio_pipes,
};
use tokio::{task::JoinError, time::timeout};

use crate::{caller::Caller, handler::Handler};

/// How long subscriptions may take to end after the pipe was closed.
const FAREWELL: Duration = Duration::from_secs(2);

/// Why serving ended before the host closed the pipe.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the client did not start with the initialization of MCP")]
    Beginning(#[source] Box<ServerInitializeError>),
    #[error("serving failed")]
    Serving(#[from] JoinError),
}

impl<C: Caller> Handler<C> {
    /// Serves the one client on the other end of the standard streams until it closes them.
    pub async fn serve_stdio(self) -> Result<(), StdioError> {
        let shared = Arc::clone(&self.shared);
        let serving = match self.serve(stdio_pipes()).await {
            Ok(serving) => serving,
            // A host that only checks whether the program starts closes the pipe without a word.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError::Beginning(Box::new(error))),
        };
        if let QuitReason::JoinError(error) = serving.waiting().await? {
            return Err(error.into());
        }
        // The client is gone; wait until its subscriptions have ended.
        timeout(FAREWELL, shared.listeners.closed()).await.ok();
        Ok(())
    }
}
