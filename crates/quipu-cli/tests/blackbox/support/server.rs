//! A running `quipu serve`: started on a free port, killed when dropped.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::JoinHandle,
    time::Duration,
};

use quipu_testbed::{Client, wait_until};

use super::command::{Finished, binary};

const PATIENCE: Duration = Duration::from_secs(60);

/// How to start a server.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    data: Option<PathBuf>,
    dev: bool,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    /// What the shell's `ulimit -n` is told first.
    handles: Option<&'static str>,
}

impl Settings {
    /// A server that asks for keys.
    pub(crate) fn new(data: &Path) -> Self {
        Self { data: Some(data.to_owned()), ..Self::bare() }
    }

    /// A server that is told nothing on its command line.
    pub(crate) fn bare() -> Self {
        Self {
            data: None,
            dev: false,
            handles: None,
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// A server that asks for none.
    pub(crate) fn dev(data: &Path) -> Self {
        Self { dev: true, ..Self::new(data) }
    }

    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    pub(crate) fn environment(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.environment.push((name.to_owned(), value.as_ref().display().to_string()));
        self
    }

    /// Starts it with so many file handles.
    pub(crate) fn with_handles(self, handles: &'static str) -> Self {
        Self { handles: Some(handles), ..self }
    }

    fn command(&self) -> Command {
        let mut command = match self.handles {
            None => binary(),
            Some(handles) => {
                let program = binary();
                let mut shell = through(&program, Path::new("sh"));
                shell.args(["-c", &format!("ulimit -n {handles}; exec \"$0\" \"$@\"")]);
                shell.arg(program.get_program());
                shell
            }
        };
        command.arg("serve");
        if let Some(data) = &self.data {
            command.arg("--data").arg(data);
            if !self.arguments.iter().any(|argument| argument == "--listen") {
                command.args(["--listen", "127.0.0.1:0"]);
            }
        }
        if self.dev {
            command.arg("--dev");
        }
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts it; if it does not come to listen, says how it ended.
    pub(crate) fn try_start(&self) -> Result<Server, Finished> {
        let mut child = self.command().spawn().unwrap();
        let lines = read_lines(child.stdout.take().unwrap());
        let logged = Arc::new(Mutex::new(Vec::new()));
        let log = read_log(child.stderr.take().unwrap(), Arc::clone(&logged));
        let mut server = Server {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            child,
            lines,
            logged,
            log: Some(log),
            said: Vec::new(),
        };
        loop {
            match server.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let address = find_address(&line);
                    server.said.push(line);
                    if let Some(address) = address {
                        server.address = address;
                        // It is asked in plain text.
                        if !self.arguments.iter().any(|argument| argument == "--tls-cert") {
                            server.await_health();
                        }
                        return Ok(server);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(server.end()),
                Err(RecvTimeoutError::Timeout) => panic!("neither listens nor ends"),
            }
        }
    }

    /// Starts it and expects it to listen.
    #[track_caller]
    pub(crate) fn start(&self) -> Server {
        self.try_start().unwrap_or_else(|end| panic!("did not start: {}", end.said()))
    }

    /// Starts it and expects it to refuse.
    #[track_caller]
    pub(crate) fn start_refused(&self) -> Finished {
        let refused = self.try_start().err().unwrap_or_else(|| panic!("{self:?} was not refused"));
        refused.failed()
    }
}

/// The same surroundings for another program, which starts this one.
fn through(command: &Command, program: &Path) -> Command {
    let mut other = Command::new(program);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other.current_dir(std::env::temp_dir()).stdin(Stdio::null());
    other
}

fn read_lines(stdout: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Keeps what a process logs until it ends.
fn read_log(mut stderr: impl Read + Send + 'static, logged: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Some(read) = stderr.read(&mut piece).ok().filter(|read| *read > 0) {
            logged.lock().unwrap().extend_from_slice(&piece[..read]);
        }
    })
}

/// The address in a line like `listening on http://127.0.0.1:40123`.
fn find_address(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("://").unwrap_or(("", line));
    rest.split(|c: char| c.is_whitespace() || c == '/' || c == ',')
        .find_map(|word| word.parse().ok().filter(|address: &SocketAddr| address.port() != 0))
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
    lines: Receiver<String>,
    logged: Arc<Mutex<Vec<u8>>>,
    log: Option<JoinHandle<()>>,
    said: Vec<String>,
}

impl Server {
    fn await_health(&self) {
        wait_until(30, "/healthz answers", || {
            let answer = Client::connect(self.address).ok()?.try_request("GET", "/healthz", b"");
            answer.ok().filter(|answer| answer.status == 200)
        });
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address).unwrap()
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal by its name, without waiting for what comes of it.
    #[track_caller]
    pub(crate) fn signal(&self, name: &str) {
        let (name, pid) = (format!("-{name}"), self.pid().to_string());
        let sent = Command::new("kill").args([name.as_str(), pid.as_str()]).status().unwrap();
        assert!(sent.success(), "{name}");
    }

    /// What it printed until it listened, and since.
    pub(crate) fn printed(&mut self) -> String {
        self.said.extend(self.lines.try_iter());
        self.said.join("\n")
    }

    /// What it logged so far.
    pub(crate) fn logged(&self) -> String {
        String::from_utf8_lossy(&self.logged.lock().unwrap()).into_owned()
    }

    /// Waits until it has logged this.
    #[track_caller]
    pub(crate) fn await_logged(&self, text: &str) {
        wait_until(30, text, || self.logged().contains(text).then_some(()));
    }

    /// Kills it with -9 and gives what it said.
    pub(crate) fn kill(mut self) -> Finished {
        self.child.kill().unwrap();
        self.end()
    }

    /// Asks it to stop, as an operator would, and waits until it has.
    pub(crate) fn stop(mut self) -> Finished {
        let pid = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(asked.success());
        self.end().succeeded()
    }

    fn end(&mut self) -> Finished {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.said.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("does not end"),
            }
        }
        let code = self.child.wait().unwrap().code();
        if let Some(log) = self.log.take() {
            log.join().unwrap();
        }
        Finished { code, stdout: self.said.join("\n"), stderr: self.logged() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
