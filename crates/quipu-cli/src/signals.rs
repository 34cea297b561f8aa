//! Signals of the system, in a thread of their own: whatever keeps the other threads busy, a process that is told to
//! stop has ended a few seconds later. Decides nothing else.

use std::{future::Future, thread, time::Duration};

use tokio::sync::{mpsc, oneshot};

use crate::ui::failure::Failure;

/// How long after the signal to stop the process ends in any case. Supervisors wait for ten seconds, most often.
pub(crate) const SHUTDOWN_MOST: Duration = Duration::from_secs(9);

pub(crate) struct Signals {
    stop: oneshot::Receiver<()>,
    /// Each time when it is to read again what it was configured with.
    pub(crate) hangups: mpsc::Receiver<()>,
}

impl Signals {
    /// Listens from now on, so that a signal during the start is not lost and none but SIGKILL ends the process at once.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let failure = |error| Failure::caused("cannot listen for signals", &error);
        let (stopping, stop) = oneshot::channel();
        let (hangup, hangups) = mpsc::channel(1);
        let (listens, listening) = std::sync::mpsc::channel();
        let listen = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(listens.send(Err(error))),
            };
            runtime.block_on(async {
                let mut signals = match system::Listener::new() {
                    Ok(signals) => signals,
                    Err(error) => return drop(listens.send(Err(error))),
                };
                listens.send(Ok(())).ok();
                let name = signals.stop(&hangup).await;
                tracing::info!(signal = name, "stopping: open requests may finish");
                stopping.send(()).ok();
                tokio::time::sleep(SHUTDOWN_MOST).await;
                end();
            });
        };
        thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(failure)?;
        match listening.recv() {
            Ok(listens) => listens.map_err(failure)?,
            Err(_) => return Err(Failure::new("cannot listen for signals")),
        }
        Ok(Self { stop, hangups })
    }

    /// The moment when the process is told to stop, and the hangups until then.
    pub(crate) fn split(self) -> (impl Future<Output = ()> + Send, mpsc::Receiver<()>) {
        let stop = self.stop;
        // Where nobody listens any more the process cannot be told, and goes on.
        let stopped = async move {
            if stop.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        (stopped, self.hangups)
    }
}

/// What was acknowledged is on stable storage already; nothing else is lost by this.
#[expect(clippy::exit, reason = "it is the last resort where threads do not end by themselves")]
fn end() {
    tracing::warn!("not everything ended in time; what is left is cut off");
    std::process::exit(0);
}

#[cfg(unix)]
mod system {
    //! The signals of Unix.

    use std::io;

    use tokio::{
        signal::unix::{Signal, SignalKind, signal},
        sync::mpsc,
    };

    pub(super) struct Listener {
        interrupt: Signal,
        terminate: Signal,
        hangup: Signal,
        user: [Signal; 2],
    }

    impl Listener {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
                user: [signal(SignalKind::user_defined1())?, signal(SignalKind::user_defined2())?],
            })
        }

        /// Waits for a signal to stop, and passes on the others: first, so that none that came before it is lost.
        pub(super) async fn stop(&mut self, hangup: &mpsc::Sender<()>) -> &'static str {
            let [one, two] = &mut self.user;
            loop {
                tokio::select! {
                    biased;
                    _ = one.recv() => tracing::info!(signal = "SIGUSR1", "this signal does nothing"),
                    _ = two.recv() => tracing::info!(signal = "SIGUSR2", "this signal does nothing"),
                    _ = self.hangup.recv() => {
                        tracing::info!(signal = "SIGHUP", "the configuration is to be read again");
                        // One that waits already stands for this one too.
                        hangup.try_send(()).ok();
                    }
                    _ = self.interrupt.recv() => return "SIGINT",
                    _ = self.terminate.recv() => return "SIGTERM",
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    //! Ctrl-C, where there is nothing else.

    use std::io;

    use tokio::sync::mpsc;

    pub(super) struct Listener;

    impl Listener {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn stop(&mut self, _: &mpsc::Sender<()>) -> &'static str {
            if let Err(error) = tokio::signal::ctrl_c().await {
                tracing::error!(%error, "cannot listen for Ctrl-C");
                std::future::pending::<()>().await;
            }
            "Ctrl-C"
        }
    }
}
