//! A WebSocket on which the server sends, and the client only answers pings.

use std::{
    io::{self, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use super::{
    events::is_timeout,
    head::{bad, read_head},
};
use crate::{clock::Deadline, limits::LINE_BYTES_MAX};

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

/// An open WebSocket.
#[derive(Debug)]
pub(crate) struct WebSocket {
    stream: BufReader<TcpStream>,
}

impl WebSocket {
    pub(crate) fn open(
        mut socket: TcpStream,
        host: &str,
        path: &str,
        key: Option<&str>,
    ) -> io::Result<Self> {
        let mut text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n");
        text.push_str("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
        text.push_str("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
        if let Some(key) = key {
            text.push_str(&format!("Authorization: Bearer {key}\r\n"));
        }
        text.push_str("\r\n");
        socket.write_all(text.as_bytes())?;
        let mut stream = BufReader::new(socket);
        let head = read_head(&mut stream)?.ok_or_else(|| bad("no answer to the WebSocket"))?;
        if head.status == 101 {
            Ok(Self { stream })
        } else {
            Err(bad(&format!("the WebSocket answered {}", head.status)))
        }
    }

    /// The next text, or `None` when none came in time. After `None` the socket is to be dropped: half
    /// a frame may have been read.
    pub(crate) fn next_within(&mut self, wait: Duration) -> io::Result<Option<String>> {
        let deadline = Deadline::after(wait);
        while let Some(left) = deadline.left() {
            self.stream.get_ref().set_read_timeout(Some(left))?;
            match self.frame() {
                Ok((TEXT, payload)) => {
                    let text = String::from_utf8(payload);
                    return text.map(Some).map_err(|_| bad("a text frame is not UTF-8"));
                }
                Ok((PING, payload)) => self.pong(&payload)?,
                Ok((PONG, _)) => {}
                Ok((CLOSE, _)) => return Err(bad("the WebSocket was closed")),
                Ok((kind, _)) => return Err(bad(&format!("a frame of kind {kind:#x}"))),
                Err(error) if is_timeout(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let [kind, short] = self.bytes()?;
        let length = match short {
            126 => u64::from(u16::from_be_bytes(self.bytes()?)),
            127 => u64::from_be_bytes(self.bytes()?),
            masked if masked > 127 => return Err(bad("a server must not mask its frames")),
            length => u64::from(length),
        };
        if length > LINE_BYTES_MAX {
            return Err(bad("a frame is too long"));
        }
        let mut payload = Vec::new();
        self.stream.by_ref().take(length).read_to_end(&mut payload)?;
        Ok((kind, payload))
    }

    fn bytes<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Answers a ping. A mask of zeros leaves the payload as it is.
    fn pong(&mut self, payload: &[u8]) -> io::Result<()> {
        let length = u8::try_from(payload.len()).ok().filter(|length| *length < 126);
        let length = length.ok_or_else(|| bad("a ping is too long"))?;
        let mut frame = vec![PONG, 0x80 | length, 0, 0, 0, 0];
        frame.extend_from_slice(payload);
        self.stream.get_mut().write_all(&frame)
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    fn open(answer: &'static [u8]) -> (io::Result<WebSocket>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 1024];
            assert!(stream.read(&mut buffer).unwrap() > 0);
            stream.write_all(answer).unwrap();
            stream
        });
        let socket = TcpStream::connect(address).unwrap();
        let opened = WebSocket::open(socket, "h", "/s", None);
        (opened, server.join().unwrap())
    }

    #[test]
    fn reads_texts_answers_pings_and_tells_a_close_from_silence() {
        let (socket, mut server) = open(b"HTTP/1.1 101 Switching\r\n\r\n\x89\x01p\x81\x02hi");
        let mut socket = socket.unwrap();
        let wait = Duration::from_secs(5);
        assert_eq!(socket.next_within(wait).unwrap().as_deref(), Some("hi"));
        let mut pong = [0; 7];
        server.read_exact(&mut pong).unwrap();
        assert_eq!(pong, [0x8a, 0x81, 0, 0, 0, 0, b'p']);
        assert_eq!(socket.next_within(Duration::from_millis(20)).unwrap(), None);
        server.write_all(b"\x88\x00").unwrap();
        assert!(socket.next_within(wait).is_err());
    }

    #[test]
    fn refuses_an_answer_that_is_no_upgrade() {
        let (socket, _server) = open(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        assert!(socket.unwrap_err().to_string().contains("404"));
    }
}
