//! A small HTTP client: each request opens a connection of its own. A kept connection would sometimes have to be
//! reopened silently, and then the time at which a request was sent would be unknown.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct HttpRequest {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Option<Value>,
}

/// A response.
#[derive(Debug, Clone)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) position: Option<u64>,
    pub(crate) body: Value,
}

/// Sends a request and reads the response; waits no longer than `patience` for each part of it.
pub(crate) fn send(
    node: SocketAddr,
    request: &HttpRequest,
    patience: Duration,
) -> io::Result<HttpReply> {
    let mut stream = TcpStream::connect_timeout(&node, patience)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(text(node, request).as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    read(&String::from_utf8_lossy(&answer)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn text(node: SocketAddr, request: &HttpRequest) -> String {
    let mut text = format!("{} {} HTTP/1.1\r\nHost: {node}\r\n", request.method, request.path);
    text += "Connection: close\r\n";
    for (name, value) in &request.headers {
        text += &format!("{name}: {value}\r\n");
    }
    let Some(body) = &request.body else { return text + "\r\n" };
    let body = body.to_string();
    text += "Content-Type: application/json\r\n";
    text + &format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Parses a response; `None` if it was cut off.
fn read(answer: &str) -> Option<HttpReply> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let header = |wanted: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value).next()
    };
    let length: usize = header("content-length")?.parse().ok()?;
    if body.len() != length {
        return None;
    }
    let position = header("quipu-position").and_then(|text| text.parse().ok());
    Some(HttpReply { status, position, body: serde_json::from_str(body).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "HTTP/1.1 409 Conflict\r\ncontent-length: 13\r\nQuipu-Position: 12\r\n\r\n{\"code\":\"NO\"}";

    #[test]
    fn an_answer_is_read_with_its_position() {
        let reply = read(ANSWER).unwrap();
        assert_eq!((reply.status, reply.position), (409, Some(12)));
        assert_eq!(reply.body["code"], "NO");
    }

    #[test]
    fn an_answer_that_was_cut_off_is_none() {
        for end in 0..ANSWER.len() {
            assert!(read(&ANSWER[..end]).is_none(), "{end}");
        }
    }
}
