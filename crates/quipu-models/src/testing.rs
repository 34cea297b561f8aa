//! An endpoint for tests: a real server on a loopback port that answers as a test prescribes, also wrongly. Blocking
//! sockets, one thread per connection and no library, so that it shares nothing with the code that it tests.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// As an endpoint does: vectors from the words of each text; for a chat, `text`.
    Answer,
    /// Not at all.
    Hang,
    /// Only once the client has given up.
    Late,
    /// As it should, once another behaviour is the usual one.
    Held,
    Status(u16, String),
    /// With status 429 and this `Retry-After`.
    Busy(String),
    /// With half of the body that was promised.
    HalfWay,
    Endless,
    /// With a body that is said to have a gigabyte, and does not come.
    Huge,
    Body(String),
    /// With vectors of this many numbers.
    Dimensions(usize),
    /// With this many vectors fewer than there were texts.
    Fewer(usize),
}

/// The prescribed answers and the recorded requests.
#[derive(Debug)]
struct Script {
    usual: Behaviour,
    next: VecDeque<Behaviour>,
    text: String,
    requests: Vec<Seen>,
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    /// Its `Authorization`, if it had one.
    pub authorization: Option<String>,
    pub body: Value,
}

/// A running endpoint. It lives as long as the process.
#[derive(Debug, Clone)]
pub struct TestEndpoint {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    changed: Arc<Condvar>,
}

pub const DIMENSIONS: usize = 32;

impl TestEndpoint {
    /// Starts a server that answers as it should.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let script = Script {
            usual: Behaviour::Answer,
            next: VecDeque::new(),
            text: "A summary.".to_owned(),
            requests: Vec::new(),
        };
        let (address, script) = (listener.local_addr()?, Arc::new(Mutex::new(script)));
        let endpoint = Self { address, script, changed: Arc::default() };
        let server = endpoint.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                thread::spawn(move || server.serve(stream));
            }
        });
        Ok(endpoint)
    }

    /// Its address, as `--embedder` takes it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Answers all following requests like this.
    pub fn always(&self, behaviour: Behaviour) {
        let mut script = self.lock();
        script.usual = behaviour;
        script.next.clear();
        self.changed.notify_all();
    }

    /// Answers the next requests like these, one after the other.
    pub fn next(&self, behaviours: impl IntoIterator<Item = Behaviour>) {
        self.lock().next.extend(behaviours);
    }

    /// Sets the text of chat answers.
    pub fn write(&self, text: &str) {
        text.clone_into(&mut self.lock().text);
    }

    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.lock().requests.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) {
        let Ok(mut writer) = stream.try_clone() else { return };
        let mut reader = BufReader::new(stream);
        while let Some(seen) = read_request(&mut reader) {
            let (behaviour, text) = {
                let mut script = self.lock();
                script.requests.push(seen.clone());
                script = self
                    .changed
                    .wait_while(script, |script| script.usual == Behaviour::Held)
                    .unwrap_or_else(PoisonError::into_inner);
                let usual = script.usual.clone();
                (script.next.pop_front().unwrap_or(usual), script.text.clone())
            };
            if answer(&mut writer, &mut reader, &behaviour, &seen, &text).is_none() {
                return;
            }
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { path, authorization, body: serde_json::from_slice(&body).ok()? })
}

/// Answers a request; `None` if the connection is to be closed.
fn answer(
    writer: &mut TcpStream,
    reader: &mut BufReader<TcpStream>,
    behaviour: &Behaviour,
    seen: &Seen,
    text: &str,
) -> Option<()> {
    let right = |dimensions, fewer| right_answer(seen, text, dimensions, fewer).to_string();
    match behaviour {
        Behaviour::Answer | Behaviour::Held => send(writer, 200, "", &right(DIMENSIONS, 0)),
        Behaviour::Dimensions(dimensions) => send(writer, 200, "", &right(*dimensions, 0)),
        Behaviour::Fewer(fewer) => send(writer, 200, "", &right(DIMENSIONS, *fewer)),
        Behaviour::Status(status, body) => send(writer, *status, "", body),
        Behaviour::Busy(after) => send(writer, 429, &format!("retry-after: {after}\r\n"), "busy"),
        Behaviour::Body(body) => send(writer, 200, "", body),
        Behaviour::Hang | Behaviour::Late => {
            // The client sends nothing more; this returns when it has gone.
            reader.read_to_end(&mut Vec::new()).ok()?;
            if *behaviour == Behaviour::Late {
                send(writer, 200, "", &right(DIMENSIONS, 0))?;
            }
            None
        }
        Behaviour::Huge => {
            write!(writer, "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").ok()?;
            reader.read_to_end(&mut Vec::new()).ok()?;
            None
        }
        Behaviour::HalfWay => {
            let body = right(DIMENSIONS, 0);
            let half = body.get(..body.len() / 2)?;
            write!(writer, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{half}", body.len())
                .ok()?;
            None
        }
        Behaviour::Endless => {
            write!(writer, "HTTP/1.1 200 OK\r\n\r\n").ok()?;
            let page = vec![b' '; 1 << 16];
            while writer.write_all(&page).is_ok() {}
            None
        }
    }
}

fn send(writer: &mut TcpStream, status: u16, headers: &str, body: &str) -> Option<()> {
    let length = body.len();
    write!(writer, "HTTP/1.1 {status} Said\r\n{headers}content-length: {length}\r\n\r\n{body}").ok()
}

fn right_answer(seen: &Seen, text: &str, dimensions: usize, fewer: usize) -> Value {
    if seen.path.ends_with("/chat/completions") {
        return json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
    }
    let texts = seen.body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kept = texts.len().saturating_sub(fewer);
    let item = |(index, text): (usize, &Value)| json!({"index": index, "embedding": vector(text.as_str().unwrap_or_default(), dimensions)});
    // In reverse order: clients must use the index.
    let data: Vec<Value> = texts.iter().take(kept).enumerate().map(item).rev().collect();
    json!({"data": data})
}

/// A vector in which every word counts in a dimension of its own, nearly.
#[must_use]
pub fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.1; dimensions];
    for word in text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()) {
        let hash = word
            .bytes()
            .fold(7usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)));
        if let Some(number) = vector.get_mut(hash % dimensions.max(1)) {
            *number += 1.0;
        }
    }
    vector
}
