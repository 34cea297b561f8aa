//! HTTP/1.1 as far as the proxy needs it: requests and answers with a length, frames of a WebSocket.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

/// The start line and the headers of a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    pub(crate) start: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// Reads up to the empty line; `None` where the other side has closed.
    pub(crate) fn read(from: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut head = Self { start: line(from)?, headers: Vec::new() };
        if head.start.is_empty() {
            return Ok(None);
        }
        loop {
            let next = line(from)?;
            let Some((name, value)) = next.split_once(':') else { return Ok(Some(head)) };
            head.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Puts a header in the place of all others of its name.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.headers.retain(|(key, _)| key != name);
    }

    /// The body that the headers promise.
    pub(crate) fn body(&self, from: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        from.read_exact(&mut body)?;
        Ok(body)
    }

    /// Writes it with this body, whatever length it promised before.
    pub(crate) fn write(mut self, body: Option<&[u8]>, to: &mut TcpStream) -> io::Result<()> {
        if let Some(body) = body {
            self.set("content-length", &body.len().to_string());
        }
        let mut text = format!("{}\r\n", self.start);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut bytes = format!("{text}\r\n").into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());
        to.write_all(&bytes)
    }
}

/// A line without its end; empty at the end of the stream too.
fn line(from: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut text = String::new();
    from.read_line(&mut text)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// A whole text.
pub(crate) const TEXT_FRAME: u8 = 0x81;

/// A frame of the server: its kind and what it holds; `None` where the other side has closed.
pub(crate) fn read_frame(from: &mut BufReader<TcpStream>) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 2];
    if from.read_exact(&mut head).is_err() {
        return Ok(None);
    }
    let mut long = [0; 2];
    let length = if head[1] == 126 {
        from.read_exact(&mut long)?;
        u16::from_be_bytes(long)
    } else {
        u16::from(head[1])
    };
    let mut payload = vec![0; usize::from(length)];
    from.read_exact(&mut payload)?;
    Ok(Some((head[0], payload)))
}

pub(crate) fn write_frame(to: &mut TcpStream, kind: u8, payload: &[u8]) -> io::Result<()> {
    let length = u16::try_from(payload.len()).map_err(io::Error::other)?;
    let mut frame = vec![kind, 126];
    frame.extend(length.to_be_bytes());
    frame.extend_from_slice(payload);
    to.write_all(&frame)
}
