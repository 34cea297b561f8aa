//! The threads that drive connections. Callers of a model block on threads of their own, but the sockets need threads
//! that keep running in between.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// Blocks until network work is done. Must not be called by a thread that serves sockets.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| {
            Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("models")
                .enable_all()
                .build()
                .expect("the operating system gives one more thread")
        })
        .block_on(work)
}
