//! The threads of an engine whose client is asynchronous, and the way from a blocking call to them and back.
//!
//! Work is handed over, never run in place: the caller may stand on a thread of another runtime, where waiting for a
//! future is not allowed.

use std::{future::Future, sync::mpsc};

use tokio::runtime::{Builder, Handle};

use crate::open_error::OpenError;

/// How many threads poll the sockets. The servers do the work; one thread keeps up with several connections.
const THREADS: usize = 2;

/// The threads of one engine. They end when it is dropped.
#[derive(Debug)]
pub(crate) struct Runtime {
    inner: Option<tokio::runtime::Runtime>,
    handle: Handle,
}

impl Runtime {
    /// Starts the threads.
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

    /// Where background work is started.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs `work` and waits for its answer; none if it panicked.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // Nobody takes the answer only if the caller's thread is gone.
            answer.send(work.await).ok();
        });
        answered.recv().ok()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Waiting for the threads is not allowed where an asynchronous caller drops the engine.
        if let Some(inner) = self.inner.take() {
            inner.shutdown_background();
        }
    }
}
