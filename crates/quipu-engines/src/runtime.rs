//! The threads of an engine with an asynchronous client, and how a blocking call runs work on them.
//!
//! Work is always sent to these threads: the caller may be on a thread of another runtime, where waiting for a future
//! is not allowed.

use std::{future::Future, sync::mpsc};

use tokio::runtime::{Builder, Handle};

use crate::open_error::OpenError;

/// How many threads drive the sockets. The servers do the work; one thread can serve several connections.
const THREADS: usize = 2;

/// The threads of one engine. They end when it is dropped.
#[derive(Debug)]
pub(crate) struct Runtime {
    inner: Option<tokio::runtime::Runtime>,
    handle: Handle,
}

impl Runtime {
    pub(crate) fn start(name: &str) -> Result<Self, OpenError> {
        let inner = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name(name)
            .enable_all()
            .build()
            .map_err(OpenError::Threads)?;
        let handle = inner.handle().clone();
        Ok(Self { inner: Some(inner), handle })
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `work` on the threads and waits for its result; `None` if it panicked.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // The receiver is gone only if the caller's thread is.
            answer.send(work.await).ok();
        });
        answered.recv().ok()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Dropping a runtime waits for its threads, which is not allowed if an asynchronous caller drops the engine.
        if let Some(inner) = self.inner.take() {
            inner.shutdown_background();
        }
    }
}
