//! A thread that waits beside the one that waits for a module, and speaks up when that takes too long. A pipe has no
//! time limit of its own.

use std::{
    io,
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

#[derive(Debug)]
pub(super) struct Watch {
    /// Begins to watch, and ends to, by turns.
    turns: SyncSender<()>,
}

impl Watch {
    /// Calls `on_silence` once when a wait takes longer than `limit`.
    pub(super) fn start(
        limit: Duration,
        on_silence: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (turns, turned) = sync_channel(0);
        thread::Builder::new().name("module-watch".to_owned()).spawn(move || {
            while turned.recv().is_ok() {
                match turned.recv_timeout(limit) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Timeout) => return on_silence(),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        })?;
        Ok(Self { turns })
    }

    /// Does something that is watched.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.turn();
        let done = work();
        self.turn();
        done
    }

    /// Within it, does something that is not.
    pub(super) fn besides<T>(&self, work: impl FnOnce() -> T) -> T {
        self.turn();
        let done = work();
        self.turn();
        done
    }

    /// After the watch has spoken up nobody listens any more, and nobody has to.
    fn turn(&self) {
        self.turns.send(()).ok();
    }
}
