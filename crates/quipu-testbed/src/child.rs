//! A server process: started, waited for by a line of its output, stopped by a signal.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

/// The longest wait for a server: only one that never starts or never ends reaches it.
const PATIENCE: Duration = Duration::from_secs(90);
const POLL_PAUSE: Duration = Duration::from_millis(10);

/// The output of a server, from both streams.
type Log = Arc<Mutex<Vec<String>>>;

/// How a server ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its exit status; none after a signal.
    pub code: Option<i32>,
    /// Its whole output.
    pub said: String,
}

/// A running server.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    log: Log,
    readers: Vec<JoinHandle<()>>,
}

/// Reads a stream to its end, so that the server never blocks on its output.
fn read(
    from: impl Read + Send + 'static,
    ready: &'static str,
    log: Log,
    say: Sender<()>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let is_ready = line.contains(ready);
            log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            if is_ready {
                say.send(()).ok();
            }
        }
    })
}

impl ServerProcess {
    /// Starts a server and waits until a line of its output contains `ready`, or until it ends or cannot be started.
    pub fn try_start(command: &mut Command, ready: &'static str) -> Result<Self, Ended> {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match piped.spawn() {
            Ok(child) => child,
            Err(error) => {
                let said = format!("cannot start {:?}: {error}", command.get_program());
                return Err(Ended { code: None, said });
            }
        };
        let (say, said) = mpsc::channel();
        let log = Log::default();
        let out = child.stdout.take().map(|out| read(out, ready, Arc::clone(&log), say.clone()));
        let err = child.stderr.take().map(|err| read(err, ready, Arc::clone(&log), say));
        let mut server = Self { child, log, readers: out.into_iter().chain(err).collect() };
        match said.recv_timeout(PATIENCE) {
            Ok(()) => Ok(server),
            Err(_) => Err(server.end()),
        }
    }

    /// Starts a server that must come up.
    pub fn start(command: &mut Command, ready: &'static str) -> Self {
        Self::try_start(command, ready)
            .unwrap_or_else(|ended| panic!("the server did not come up:\n{}", ended.said))
    }

    /// Its output so far.
    #[must_use]
    pub fn said(&self) -> String {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Its process id, for signals.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it without a warning.
    pub fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().expect("a killed server ends");
    }

    /// Sends it a signal by name, such as `TERM`, `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.is_ok_and(|it| it.success()), "a signal can be sent");
    }

    /// Asks it to stop, as an operator would, and waits until it has ended.
    pub fn stop(mut self) -> Ended {
        self.signal("TERM");
        let mut waited = Duration::ZERO;
        while waited < PATIENCE && self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            thread::park_timeout(POLL_PAUSE);
            waited += POLL_PAUSE;
        }
        self.end()
    }

    /// Waits for its end; kills it if it takes too long.
    fn end(&mut self) -> Ended {
        self.child.kill().ok();
        let code = self.child.wait().expect("a killed server ends").code();
        for reader in self.readers.drain(..) {
            reader.join().ok();
        }
        Ended { code, said: self.said() }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
