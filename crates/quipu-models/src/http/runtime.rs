//! The threads that connections live on. Models are asked from threads that may wait; the sockets
//! need something that runs on while nobody does.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// Waits for something that needs the network. Not to be called by a thread that serves sockets.
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
