//! A host of MCP: starts `quipu mcp` and speaks to it line by line.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{Finished, binary, finding};

const PATIENCE: Duration = Duration::from_secs(60);

/// A host, with the process that it started.
#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
}

impl Host {
    /// Starts the process, and says nothing yet.
    pub(crate) fn start<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Self {
        let mut command: Command = binary();
        command.arg("mcp").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, next_id: 0 }
    }

    /// Starts the process and begins as clients of 2025-11-25 do.
    pub(crate) fn begin<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Self {
        let mut host = Self::start(arguments);
        let answer = host.initialize();
        assert_eq!(answer["result"]["serverInfo"]["name"], "quipu", "{answer}");
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        host
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let client = json!({"name": "Black Box", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.ask("initialize", params)
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        // A process that refuses to start may be gone already.
        if input.write_all(bytes).is_ok() {
            input.flush().ok();
        }
    }

    /// Sends a request without waiting for its response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        message["params"] = params;
        self.send(&message);
        id
    }

    /// Waits for the response to a request; what else comes is passed over. Every line must be JSON.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("a response");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.response(id)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let mut answer = self.ask("tools/call", params);
        answer["result"].take()
    }

    /// Records a finding, and gives its id.
    pub(crate) fn record(&mut self, content: &str) -> String {
        let recorded = self.call("akashik_record", finding(content));
        assert_eq!(recorded["isError"], false, "{recorded}");
        recorded["structuredContent"]["memory_unit_id"].as_str().unwrap().to_owned()
    }

    /// The contents that the memory gives.
    pub(crate) fn attune(&mut self) -> Vec<String> {
        let scope = json!({"scope": {"role": "engineer", "max_units": 50}});
        let given = self.call("akashik_attune", scope);
        let units = given["structuredContent"]["record"].as_array();
        let units = units.unwrap_or_else(|| panic!("{given}"));
        units
            .iter()
            .map(|unit| unit["memory_unit"]["content"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the pipe, as a host does, and waits until the process has ended.
    pub(crate) fn close(mut self) -> Finished {
        drop(self.input.take());
        self.finish()
    }

    /// Waits until the process has ended.
    pub(crate) fn finish(&mut self) -> Finished {
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.child.wait().unwrap().code();
        Finished { code, stdout: self.lines.iter().collect(), stderr }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
