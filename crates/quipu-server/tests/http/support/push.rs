//! Clients of pushes that are small enough to be read whole: server-sent events, and WebSocket frames.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::SocketAddr,
};

use serde_json::Value;

use super::client::{Client, Stream};

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentEvent {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: Value,
}

/// A stream of server-sent events.
pub(crate) struct Events {
    stream: Opened,
    pub(crate) status: u16,
    pub(crate) head: String,
    /// What came of the chunk under way.
    text: String,
    pub(crate) last_id: String,
}

type Opened = BufReader<Box<dyn Stream>>;

fn open(mut socket: Box<dyn Stream>, path: &str, headers: &[(&str, &str)]) -> (Opened, String) {
    let mut request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    socket.write_all(format!("{request}\r\n").as_bytes()).unwrap();
    let mut stream = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0, "closed: {head}");
    }
    (stream, head)
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

/// The path and query of a URL.
pub(crate) fn path(url: &str) -> &str {
    let rest = url.split_once("://").unwrap().1;
    &rest[rest.find('/').unwrap()..]
}

impl Events {
    pub(crate) fn open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::over(Box::new(Client::socket(address)), path, headers)
    }

    /// Opens a stream over a connection that is there already.
    pub(crate) fn over(socket: Box<dyn Stream>, path: &str, headers: &[(&str, &str)]) -> Self {
        let (stream, head) = open(socket, path, headers);
        Self { stream, status: status(&head), head, text: String::new(), last_id: String::new() }
    }

    /// The next event, or nothing where the stream has ended or was cut.
    pub(crate) fn next(&mut self) -> Option<SentEvent> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| {
                    let found = block.lines().find_map(|line| line.strip_prefix(name));
                    found.unwrap_or_default().to_owned()
                };
                self.last_id = field("id: ");
                let data = field("data: ");
                if !data.is_empty() {
                    let data = serde_json::from_str(&data).unwrap();
                    return Some(SentEvent { id: field("id: "), event: field("event: "), data });
                }
            }
            let chunk = self.chunk()?;
            self.text.push_str(&chunk);
        }
    }

    /// Reads up to the next heartbeat and gives the cursor that it has.
    pub(crate) fn heartbeat(&mut self) -> String {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(id) = block.strip_prefix(": heartbeat\nid: ") {
                    return id.to_owned();
                }
            } else {
                let chunk = self.chunk().unwrap();
                self.text.push_str(&chunk);
            }
        }
    }

    fn chunk(&mut self) -> Option<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok().filter(|length| *length > 0)?;
        let mut bytes = vec![0; length + 2];
        self.stream.read_exact(&mut bytes).ok()?;
        bytes.truncate(length);
        String::from_utf8(bytes).ok()
    }
}

/// A frame of a WebSocket.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    Text(Value),
    Ping,
    Close(u16, String),
}

/// A WebSocket.
pub(crate) struct Socket {
    stream: Opened,
    pub(crate) status: u16,
}

impl Socket {
    pub(crate) fn open(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Self {
        Self::over(Box::new(Client::socket(address)), path, headers)
    }

    /// Opens a WebSocket over a connection that is there already.
    pub(crate) fn over(socket: Box<dyn Stream>, path: &str, headers: &[(&str, &str)]) -> Self {
        let mut all = vec![
            ("connection", "Upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        all.extend_from_slice(headers);
        let (stream, head) = open(socket, path, &all);
        let status = status(&head);
        assert!(status != 101 || head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        Self { stream, status }
    }

    /// Sends a short text.
    pub(crate) fn say(&mut self, text: &str) {
        self.send(0x81, text);
    }

    /// Answers a ping.
    pub(crate) fn pong(&mut self) {
        self.send(0x8a, "");
    }

    /// Sends a short frame, masked as a client must.
    fn send(&mut self, kind: u8, text: &str) {
        let mask = [1, 2, 3, 4];
        let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).unwrap();
        let mut frame = vec![kind, 0x80 | length];
        frame.extend(mask);
        frame.extend(text.bytes().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.stream.get_mut().write_all(&frame).unwrap();
    }

    pub(crate) fn next(&mut self) -> Frame {
        let [first, second] = self.read::<2>();
        let length = match second {
            126 => u64::from(u16::from_be_bytes(self.read())),
            127 => u64::from_be_bytes(self.read()),
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut payload).unwrap();
        match first {
            0x81 => Frame::Text(serde_json::from_slice(&payload).unwrap()),
            0x89 => Frame::Ping,
            0x88 => {
                let code = u16::from_be_bytes([payload[0], payload[1]]);
                Frame::Close(code, String::from_utf8(payload[2..].to_vec()).unwrap())
            }
            other => panic!("an unexpected frame {other:#x}"),
        }
    }

    fn read<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }
}
