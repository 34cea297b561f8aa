//! A closed-loop load generator: keep-alive connections that each send a request, wait for its whole
//! answer, and send the next. One thread a connection, blocking sockets, HTTP by hand: on a small
//! machine every cycle that the generator burns is taken from what it measures.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;

use super::stopwatch::{Samples, Stopwatch};
use crate::measure::failure::Failure;

/// What a client sends, given the number of the request.
pub(crate) type MakeRequest = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// What a run gave.
#[derive(Debug)]
pub(crate) struct LoadResult {
    pub(crate) samples: Samples,
    pub(crate) elapsed: Duration,
    pub(crate) failures: u64,
}

/// One client's part of a load.
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) make: MakeRequest,
}

/// A request about a Field as bytes.
pub(crate) fn post_in(field: &str, path: &str, agent: &str, message: &str, body: &str) -> Vec<u8> {
    in_field(field, &post(path, agent, message, body))
}

/// A question about a Field as bytes.
pub(crate) fn get_in(field: &str, path: &str, agent: &str) -> Vec<u8> {
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nakashik-agent: {agent}\r\n\r\n");
    in_field(field, request.as_bytes())
}

/// Names a Field in the first header of a request.
fn in_field(field: &str, request: &[u8]) -> Vec<u8> {
    let line = request.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (line, rest) = request.split_at(line);
    [line, format!("quipu-field: {field}\r\n").as_bytes(), rest].concat()
}

/// A request as bytes.
pub(crate) fn post(path: &str, agent: &str, message: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nakashik-agent: {agent}\r\n\
         akashik-message-id: {message}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Sends one payload and expects that it is taken.
pub(crate) fn must(
    address: SocketAddr,
    path: &str,
    agent: &str,
    payload: &Value,
) -> Result<(), Failure> {
    let request = post(path, agent, &format!("{path}-{agent}"), &payload.to_string());
    let status = Connection::open(address).and_then(|mut connection| connection.send(&request));
    match status {
        Ok(200) => Ok(()),
        Ok(status) => Err(Failure::new(format!("{path} answered {status}"))),
        Err(error) => Err(Failure::caused(format!("cannot send to {path}"), &error)),
    }
}

/// Keeps `clients` connections busy for a while.
pub(crate) fn load(
    address: SocketAddr,
    clients: usize,
    lasting: Duration,
    make: &MakeRequest,
) -> Result<LoadResult, Failure> {
    let client = || Load { address, make: Arc::clone(make) };
    load_all((0..clients).map(|_| client()).collect(), lasting)
}

/// Keeps a connection of each client busy for a while.
pub(crate) fn load_all(clients: Vec<Load>, lasting: Duration) -> Result<LoadResult, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let numbers = Arc::new(AtomicU64::new(0));
    let watch = Stopwatch::start();
    let running: Vec<_> = clients
        .into_iter()
        .map(|Load { address, make }| {
            let (stop, numbers) = (Arc::clone(&stop), Arc::clone(&numbers));
            thread::spawn(move || client(address, &stop, &numbers, &make))
        })
        .collect();
    thread::park_timeout(lasting);
    stop.store(true, Ordering::Relaxed);
    let (mut samples, mut failures) = (Samples::default(), 0);
    for client in running {
        let (more, failed) = client
            .join()
            .map_err(|_| Failure::new("a client died"))?
            .map_err(|error| Failure::caused("a client failed", &error))?;
        samples.extend(more);
        failures += failed;
    }
    Ok(LoadResult { samples, elapsed: watch.elapsed(), failures })
}

fn client(
    address: SocketAddr,
    stop: &AtomicBool,
    numbers: &AtomicU64,
    make: &MakeRequest,
) -> std::io::Result<(Samples, u64)> {
    let mut connection = Connection::open(address)?;
    let (mut samples, mut failures) = (Samples::default(), 0);
    while !stop.load(Ordering::Relaxed) {
        let request = make(numbers.fetch_add(1, Ordering::Relaxed));
        let watch = Stopwatch::start();
        let status = connection.send(&request)?;
        samples.push(watch.elapsed());
        failures += u64::from(status != 200);
    }
    Ok((samples, failures))
}

/// One keep-alive connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 * 1024] })
    }

    /// Sends a request and reads its whole answer; gives the status.
    fn send(&mut self, request: &[u8]) -> std::io::Result<u16> {
        self.exchange(request).map(|(status, _)| status)
    }

    /// A header of the last answer.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n")?;
        let text = std::str::from_utf8(self.buffer.get(..end)?).ok()?;
        let mut headers = text.lines().filter_map(|line| line.split_once(':'));
        let found = headers.find(|(named, _)| named.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// Sends a request and reads its whole answer; gives the status and the body.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> std::io::Result<(u16, &[u8])> {
        self.stream.write_all(request)?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            let more = self.stream.read(self.buffer.get_mut(filled..).unwrap_or_default())?;
            if more == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            filled += more;
            if let Some((status, start, total)) =
                head(self.buffer.get(..filled).unwrap_or_default())
                && filled >= total
            {
                return Ok((status, self.buffer.get(start..total).unwrap_or_default()));
            }
        }
    }
}

/// The status of an answer, where its body starts and where it ends, once the head is there.
pub(crate) fn head(buffer: &[u8]) -> Option<(u16, usize, usize)> {
    let end = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(buffer.get(..end)?).ok()?;
    let status = text.get(9..12)?.parse().ok()?;
    let length: usize = text
        .lines()
        .find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        })
        .unwrap_or(0);
    Some((status, end, end + length))
}
