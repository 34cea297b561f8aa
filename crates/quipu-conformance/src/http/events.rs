//! Server-sent events on a connection of their own, read line by line.

use std::{
    io::{self, BufReader, ErrorKind, Write},
    net::TcpStream,
    time::Duration,
};

use super::{
    body::Body,
    head::{bad, read_head, read_line},
};
use crate::clock::Deadline;

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamEvent {
    /// The cursor to resume after it.
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

/// An open stream of events.
#[derive(Debug)]
pub(crate) struct EventStream {
    socket: TcpStream,
    lines: BufReader<Body<BufReader<TcpStream>>>,
}

impl EventStream {
    pub(crate) fn open(
        mut socket: TcpStream,
        host: &str,
        path: &str,
        key: Option<&str>,
        last_event_id: Option<&str>,
    ) -> io::Result<Self> {
        let mut text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n");
        text.push_str("Accept: text/event-stream\r\nCache-Control: no-cache\r\n");
        if let Some(key) = key {
            text.push_str(&format!("Authorization: Bearer {key}\r\n"));
        }
        if let Some(id) = last_event_id {
            text.push_str(&format!("Last-Event-ID: {id}\r\n"));
        }
        text.push_str("\r\n");
        socket.write_all(text.as_bytes())?;
        let mut reader = BufReader::new(socket.try_clone()?);
        let head = read_head(&mut reader)?.ok_or_else(|| bad("no answer to the event stream"))?;
        if head.status != 200 || !head.content_type.starts_with("text/event-stream") {
            let (status, kind) = (head.status, head.content_type);
            return Err(bad(&format!("the event stream answered {status} with type {kind:?}")));
        }
        Ok(Self { socket, lines: BufReader::new(Body::new(reader, head.length)) })
    }

    /// The next event, or `None` when none came in time. After `None` the stream is to be dropped:
    /// half a line may have been read.
    pub(crate) fn next_within(&mut self, wait: Duration) -> io::Result<Option<StreamEvent>> {
        let deadline = Deadline::after(wait);
        let mut event = StreamEvent::default();
        let mut has_data = false;
        while let Some(left) = deadline.left() {
            self.socket.set_read_timeout(Some(left))?;
            let line = match read_line(&mut self.lines) {
                Ok(line) => line.ok_or_else(|| bad("the event stream ended"))?,
                Err(error) if is_timeout(&error) => return Ok(None),
                Err(error) => return Err(error),
            };
            if line.is_empty() && has_data {
                return Ok(Some(event));
            }
            has_data |= event.take_line(&line);
        }
        Ok(None)
    }
}

impl StreamEvent {
    /// Adds one line to the event. Returns whether it was data.
    fn take_line(&mut self, line: &str) -> bool {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                return true;
            }
            _ => {}
        }
        false
    }
}

pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use std::{io::Read, net::TcpListener, thread};

    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

    fn open(answer: &'static str) -> (io::Result<EventStream>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 1024];
            assert!(stream.read(&mut buffer).unwrap() > 0);
            stream.write_all(answer.as_bytes()).unwrap();
            stream
        });
        let socket = TcpStream::connect(address).unwrap();
        let stream = EventStream::open(socket, "h", "/s", None, Some("7"));
        (stream, server.join().unwrap())
    }

    #[test]
    fn reads_events_past_heartbeats_and_then_nothing() {
        let (stream, mut server) = open(HEAD);
        let mut stream = stream.unwrap();
        server.write_all(b":\n\nid: 3\nevent: x\ndata: {\"a\":\ndata: 1}\n\ndata: 2\n\n").unwrap();
        let first = stream.next_within(Duration::from_secs(5)).unwrap().unwrap();
        assert_eq!((first.id.as_deref(), first.data.as_str()), (Some("3"), "{\"a\":\n1}"));
        let second = stream.next_within(Duration::from_secs(5)).unwrap().unwrap();
        assert_eq!((second.id, second.data.as_str()), (None, "2"));
        assert_eq!(stream.next_within(Duration::from_millis(20)).unwrap(), None);
    }

    #[test]
    fn refuses_an_answer_that_is_not_a_stream() {
        let (stream, _server) = open("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        assert!(stream.unwrap_err().to_string().contains("404"));
    }
}
