//! A client with one kept-alive connection to the server under test, which remembers the last exchange.

use std::{
    cell::RefCell,
    io::{self, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::Value;

use super::{
    body::Body,
    events::EventStream,
    head::{Head, bad, read_head},
    url::BaseUrl,
    websocket::WebSocket,
};
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_WAIT, QUOTE_CHARS_MAX};

/// An answer of the server.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    /// The body without its envelope if it has one; `Null` if it is not JSON.
    pub(crate) body: Value,
}

/// A client of one server, with one credential.
#[derive(Debug)]
pub(crate) struct Client {
    base: BaseUrl,
    connection: RefCell<Option<BufReader<TcpStream>>>,
    last: RefCell<String>,
}

/// A request that is ready to be written.
struct Request<'a> {
    method: &'a str,
    path: &'a str,
    key: Option<&'a str>,
    body: Option<&'a str>,
    content_type: &'a str,
}

impl Client {
    pub(crate) fn new(base: BaseUrl) -> Self {
        Self { base, connection: RefCell::new(None), last: RefCell::new(String::new()) }
    }

    /// Posts JSON to a route such as `/v1/record`.
    pub(crate) fn post(&self, route: &str, key: Option<&str>, body: &Value) -> io::Result<Reply> {
        self.post_text(route, key, &body.to_string(), "application/json")
    }

    /// Posts any text with any content type.
    pub(crate) fn post_text(
        &self,
        route: &str,
        key: Option<&str>,
        body: &str,
        content_type: &str,
    ) -> io::Result<Reply> {
        let path = format!("{}{route}", self.base.prefix);
        self.exchange(&Request { method: "POST", path: &path, key, body: Some(body), content_type })
    }

    /// Gets a route such as `/v1/agents`.
    pub(crate) fn get(&self, route: &str, key: Option<&str>) -> io::Result<Reply> {
        let path = format!("{}{route}", self.base.prefix);
        self.exchange(&Request { method: "GET", path: &path, key, body: None, content_type: "" })
    }

    /// Opens the event stream at `link`, after the event `last_event_id` if there is one.
    pub(crate) fn stream(
        &self,
        link: &str,
        key: Option<&str>,
        last_event_id: Option<&str>,
    ) -> io::Result<EventStream> {
        let (base, path) = self.base.follow(link).ok_or_else(|| bad("not a link to http"))?;
        self.remember(&format!("GET {path} as an event stream"));
        EventStream::open(connect(&base)?, &base.authority, &path, key, last_event_id)
    }

    /// Opens the WebSocket at `link`.
    pub(crate) fn websocket(&self, link: &str, key: Option<&str>) -> io::Result<WebSocket> {
        let http = link.replacen("ws://", "http://", 1);
        let (base, path) = self.base.follow(&http).ok_or_else(|| bad("not a link to ws"))?;
        self.remember(&format!("GET {path} as a WebSocket"));
        WebSocket::open(connect(&base)?, &base.authority, &path, key)
    }

    /// The last exchange in words, for the report of a failure.
    pub(crate) fn last_exchange(&self) -> String {
        self.last.borrow().clone()
    }

    fn exchange(&self, request: &Request<'_>) -> io::Result<Reply> {
        let sent = format!("{} {} {}", request.method, request.path, request.body.unwrap_or(""));
        self.remember(&quote(&sent));
        let kept = self.connection.borrow_mut().take();
        if let Some(connection) = kept {
            // A server may close an idle connection at any time. Only if it did so before its
            // first byte is the request sent once more; its id makes the second one harmless.
            if let Some(reply) = self.attempt(connection, request).unwrap_or(None) {
                return Ok(self.noted(reply));
            }
        }
        let connection = BufReader::new(connect(&self.base)?);
        let reply = self.attempt(connection, request)?;
        reply
            .map(|reply| self.noted(reply))
            .ok_or_else(|| bad("the server closed without an answer"))
    }

    fn attempt(
        &self,
        mut connection: BufReader<TcpStream>,
        request: &Request<'_>,
    ) -> io::Result<Option<Reply>> {
        connection.get_mut().write_all(request.text(&self.base.authority).as_bytes())?;
        let Some(head) = read_head(&mut connection)? else { return Ok(None) };
        let mut text = Vec::new();
        Body::new(&mut connection, head.length).take(ANSWER_BYTES_MAX).read_to_end(&mut text)?;
        if !head.closes {
            self.connection.replace(Some(connection));
        }
        Ok(Some(reply(head, &text)))
    }

    fn noted(&self, reply: Reply) -> Reply {
        let answer = quote(&reply.body.to_string());
        let asked = self.last.borrow().clone();
        self.remember(&format!("{asked} -> {} {answer}", reply.status));
        reply
    }

    fn remember(&self, what: &str) {
        what.clone_into(&mut self.last.borrow_mut());
    }
}

impl Request<'_> {
    fn text(&self, host: &str) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", self.method, self.path);
        text.push_str("Accept: application/json\r\n");
        if let Some(key) = self.key {
            text.push_str(&format!("Authorization: Bearer {key}\r\n"));
        }
        let Some(body) = self.body else { return text + "\r\n" };
        let length = body.len();
        let kind = self.content_type;
        text + &format!("Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
    }
}

fn reply(head: Head, text: &[u8]) -> Reply {
    let body: Value = serde_json::from_slice(text).unwrap_or(Value::Null);
    // The protocol allows an answer with or without an envelope.
    let body = match body.get("payload") {
        Some(payload) if body.get("protocol").is_some() => payload.clone(),
        _ => body,
    };
    Reply { status: head.status, content_type: head.content_type, body }
}

fn connect(base: &BaseUrl) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(&base.authority)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_WAIT))?;
    stream.set_write_timeout(Some(ANSWER_WAIT))?;
    Ok(stream)
}

fn quote(text: &str) -> String {
    let mut quoted: String = text.chars().take(QUOTE_CHARS_MAX).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use std::{
        net::TcpListener,
        thread::{self, JoinHandle},
    };

    use serde_json::json;

    use super::*;

    /// Serves the given answers, each on a connection of its own or all on one.
    fn serve(connections: Vec<Vec<&'static str>>) -> (BaseUrl, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let mut asked = Vec::new();
            for answers in connections {
                let (mut stream, _) = listener.accept().unwrap();
                for answer in answers {
                    let mut buffer = [0; 4096];
                    let count = stream.read(&mut buffer).unwrap();
                    asked.push(String::from_utf8_lossy(&buffer[..count]).into_owned());
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            }
            asked
        });
        (BaseUrl::parse(&url).unwrap(), server)
    }

    const YES: &str = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{\"ok\":\"here\"}";

    #[test]
    fn keeps_a_connection_and_opens_another_when_it_was_closed() {
        let (base, server) = serve(vec![vec![YES, YES], vec![YES]]);
        let client = Client::new(base);
        for _ in 0..3 {
            let reply = client.post("/v1/record", Some("k"), &json!({"a": 1})).unwrap();
            assert_eq!((reply.status, reply.body), (200, json!({"ok": "here"})));
        }
        let asked = server.join().unwrap();
        assert_eq!(asked.len(), 3);
        assert!(asked.iter().all(|text| text.contains("Authorization: Bearer k\r\n")));
        assert!(asked.iter().all(|text| text.ends_with("\r\n\r\n{\"a\":1}")));
    }

    #[test]
    fn takes_an_answer_out_of_its_envelope() {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                      2d\r\n{\"protocol\":\"akashik\",\"payload\":{\"epoch\":7}} \r\n0\r\n\r\n";
        let (base, server) = serve(vec![vec![answer]]);
        let reply = Client::new(base).get("/v1/agents", None).unwrap();
        assert_eq!(reply.body, json!({"epoch": 7}));
        server.join().unwrap();
    }

    #[test]
    fn remembers_what_was_said_last() {
        let (base, server) = serve(vec![vec![YES]]);
        let client = Client::new(base);
        client.get("/v1/agents", None).unwrap();
        assert_eq!(client.last_exchange(), "GET /v1/agents  -> 200 {\"ok\":\"here\"}");
        server.join().unwrap();
    }
}
