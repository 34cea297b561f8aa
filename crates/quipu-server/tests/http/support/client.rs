//! A blocking HTTP/1.1 client, small enough to send what no well-behaved client would.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

pub(crate) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// One connection that stays open.
pub(crate) struct Client {
    stream: BufReader<Box<dyn Stream>>,
    headers: Vec<(String, String)>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The code of the error object, or `OK`.
    /// How far the log has come.
    pub(crate) fn position(&self) -> u64 {
        self.header("quipu-position").unwrap().parse().unwrap()
    }

    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or("OK").to_owned()
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::over(Box::new(Self::socket(address)))
    }

    pub(crate) fn socket(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    pub(crate) fn over(stream: Box<dyn Stream>) -> Self {
        Self { stream: BufReader::new(stream), headers: Vec::new() }
    }

    /// Sends this header with every request from now on.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn with_key(self, secret: &str) -> Self {
        self.with("authorization", &format!("Bearer {secret}"))
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, &[], None)
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Reply {
        self.post_raw(path, &[], body.to_string().as_bytes())
    }

    /// Posts with the agent's header.
    pub(crate) fn say(&mut self, agent: &str, path: &str, body: &Value) -> Reply {
        self.post_raw(path, &[("akashik-agent", agent)], body.to_string().as_bytes())
    }

    pub(crate) fn post_raw(&mut self, path: &str, extra: &[(&str, &str)], body: &[u8]) -> Reply {
        self.send("POST", path, extra, Some(body))
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        extra: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Reply {
        let mut head = self.head(method, path, extra);
        let typed = extra.iter().any(|(name, _)| *name == "content-type");
        if body.is_some() && !typed {
            head.push_str("content-type: application/json\r\n");
        }
        if let Some(body) = body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.write(head.as_bytes());
        self.write(body.unwrap_or_default());
        self.read()
    }

    /// The head of a request, without the empty line that ends it.
    pub(crate) fn head(&self, method: &str, path: &str, extra: &[(&str, &str)]) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        let names_host = extra.iter().any(|(name, _)| *name == "host");
        if !names_host && !self.headers.iter().any(|(name, _)| name == "host") {
            head.push_str("host: localhost\r\n");
        }
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.chain(extra.iter().copied()) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stream = self.stream.get_mut();
        stream.write_all(bytes).unwrap();
        stream.flush().unwrap();
    }

    /// Whether the server has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(read) => read == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    pub(crate) fn read(&mut self) -> Reply {
        let first = self.line();
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status line: {first:?}"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut reply = Reply { status, headers, body: Vec::new() };
        let length = reply.header("content-length").map_or(0, |text| text.parse().unwrap());
        reply.body.resize(length, 0);
        self.stream.read_exact(&mut reply.body).unwrap();
        reply
    }

    /// The rest of a body that comes in chunks, up to its end.
    pub(crate) fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(&self.line(), 16).unwrap();
            let start = body.len();
            body.resize(start + size, 0);
            self.stream.read_exact(&mut body[start..]).unwrap();
            self.line();
            if size == 0 {
                return body;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
