//! A proxy in front of the real server that lets a variant tamper with what passes.

use std::{
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
};

use serde_json::Value;

use super::{
    past::Past,
    tamper::{Answered, Asked, Pushed, Tamper},
    wire::{Head, TEXT_FRAME, read_frame, write_frame},
};

/// Where the proxy forwards to, and as what.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    /// The Field that all requests go to, so that variants do not meet.
    pub(crate) field: String,
}

struct Proxy {
    upstream: Upstream,
    tamper: Tamper,
    past: Past,
}

/// Starts a proxy on a free port. Its threads end with the test's process.
pub(crate) fn start(upstream: Upstream, tamper: Tamper) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let proxy = Arc::new(Proxy { upstream, tamper, past: Past::default() });
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let proxy = Arc::clone(&proxy);
            // Where a side hangs up, there is nobody to tell.
            std::thread::spawn(move || proxy.serve(client).ok());
        }
    });
    address
}

impl Proxy {
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut server = TcpStream::connect(self.upstream.address)?;
        server.set_nodelay(true)?;
        let mut requests = BufReader::new(client.try_clone()?);
        let mut answers = BufReader::new(server.try_clone()?);
        while let Some(head) = Head::read(&mut requests)? {
            let raw = head.body(&mut requests)?;
            let mut asked = Asked::new(head, raw, &self.upstream.field);
            if let Some(answered) = self.tamper.ask(&mut asked, &self.past) {
                answered.write(&mut client)?;
                continue;
            }
            asked.write(&mut server)?;
            let Some(head) = Head::read(&mut answers)? else { return Ok(()) };
            if head.header("content-type") == Some("text/event-stream") {
                return self.stream(head, &mut answers, &mut client);
            }
            if head.start.contains(" 101 ") {
                head.write(None, &mut client)?;
                std::thread::spawn(move || io::copy(&mut requests, &mut server).ok());
                return self.frames(&mut answers, &mut client);
            }
            let body = head.body(&mut answers)?;
            let mut answered = Answered::from_server(&head, &body);
            let original = answered.clone();
            self.past.note(&asked, &answered);
            self.tamper.answer(&asked, &mut answered, &self.past);
            if answered == original {
                head.write(Some(&body), &mut client)?;
            } else {
                answered.write(&mut client)?;
            }
        }
        Ok(())
    }

    /// Passes an event stream on, event by event. Comments and cursors without data are left out.
    fn stream(
        &self,
        mut head: Head,
        from: &mut BufReader<TcpStream>,
        to: &mut TcpStream,
    ) -> io::Result<()> {
        head.remove("transfer-encoding");
        head.set("connection", "close");
        head.write(None, to)?;
        let (mut id, mut data) = (String::new(), String::new());
        loop {
            let mut next = String::new();
            if io::BufRead::read_line(from, &mut next)? == 0 {
                return Ok(());
            }
            let text = next.trim_end();
            if let Some(value) = text.strip_prefix("id: ") {
                value.clone_into(&mut id);
            } else if let Some(value) = text.strip_prefix("data: ") {
                value.clone_into(&mut data);
            } else if text.is_empty() && !data.is_empty() {
                let parsed = serde_json::from_str(&data).unwrap_or(Value::Null);
                data.clear();
                for pushed in
                    self.tamper.push(Pushed { framed: false, id: id.clone(), data: parsed })
                {
                    write!(to, "id: {}\ndata: {}\n\n", pushed.id, pushed.data)?;
                }
            }
        }
    }
}

impl Proxy {
    /// Passes the frames of a WebSocket on, text by text.
    fn frames(&self, from: &mut BufReader<TcpStream>, to: &mut TcpStream) -> io::Result<()> {
        loop {
            let Some((kind, payload)) = read_frame(from)? else { return Ok(()) };
            if kind != TEXT_FRAME {
                write_frame(to, kind, &payload)?;
                continue;
            }
            let data = serde_json::from_slice(&payload).unwrap_or(Value::Null);
            let pushed = Pushed { framed: true, id: String::new(), data };
            for pushed in self.tamper.push(pushed) {
                write_frame(to, TEXT_FRAME, pushed.data.to_string().as_bytes())?;
            }
        }
    }
}

impl Asked {
    fn new(mut head: Head, raw: Vec<u8>, field: &str) -> Self {
        head.set("quipu-field", field);
        let mut words = head.start.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let path = words.next().unwrap_or_default().to_owned();
        let operation = match path.strip_prefix("/v1/") {
            Some(name) if method == "POST" => name.to_ascii_uppercase(),
            _ => path.split('?').next().unwrap_or_default().to_owned(),
        };
        let message = serde_json::from_slice(&raw).unwrap_or(Value::Null);
        Self { method, path, head, operation, message, raw }
    }

    fn write(&self, to: &mut TcpStream) -> io::Result<()> {
        let mut head = self.head.clone();
        head.start = format!("{} {} HTTP/1.1", self.method, self.path);
        let before: Value = serde_json::from_slice(&self.raw).unwrap_or(Value::Null);
        let changed = self.message != before;
        let body = if changed { self.message.to_string().into_bytes() } else { self.raw.clone() };
        let body = (self.method == "POST").then_some(body.as_slice());
        head.write(body, to)
    }
}

impl Answered {
    fn from_server(head: &Head, body: &[u8]) -> Self {
        let status = head.start.split(' ').nth(1).and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or(0),
            body: serde_json::from_slice(body).unwrap_or(Value::Null),
            content_type: head.header("content-type").unwrap_or_default().to_owned(),
        }
    }

    fn write(&self, to: &mut TcpStream) -> io::Result<()> {
        let start = format!("HTTP/1.1 {} Whatever", self.status);
        let headers = vec![("content-type".to_owned(), self.content_type.clone())];
        Head { start, headers }.write(Some(self.body.to_string().as_bytes()), to)
    }
}
