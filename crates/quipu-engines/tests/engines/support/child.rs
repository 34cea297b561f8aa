//! A server process: started, waited for by what it says, stopped by signal.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Long enough that only a server that never comes up reaches it.
const READY: Duration = Duration::from_secs(90);

/// A running server.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
}

/// A port of the loopback interface that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl ServerProcess {
    /// Starts a server and waits until a line of its log says `ready`.
    pub(crate) fn start(command: &mut Command, ready: &'static str) -> Self {
        let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = started.spawn().expect("the server's program can be started");
        let log = BufReader::new(child.stderr.take().expect("its log is piped"));
        let (say, said) = mpsc::channel();
        // Reads to the end, so that the server never waits for somebody to read its log.
        thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let is_ready = line.contains(ready);
                say.send((is_ready, line)).ok();
            }
        });
        let mut log = Vec::new();
        loop {
            match said.recv_timeout(READY) {
                Ok((true, _)) => return Self { child },
                Ok((false, line)) => log.push(line),
                Err(_) => panic!("the server did not come up:\n{}", log.join("\n")),
            }
        }
    }

    /// Ends it without a word of warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().expect("a killed server ends");
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
