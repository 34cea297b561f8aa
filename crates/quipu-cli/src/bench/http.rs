//! A closed-loop load generator: keep-alive connections that each send a request, wait for its whole
//! answer, and send the next. Writes and reads HTTP by hand, because on a small machine every cycle
//! that the generator burns is taken from what it measures.

use std::{
    net::SocketAddr,
    sync::Arc,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::stopwatch::{Samples, Stopwatch};
use crate::failure::Failure;

/// What a client sends, given the number of the request.
pub(super) type MakeRequest = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// What a run gave.
#[derive(Debug)]
pub(super) struct LoadResult {
    pub(super) samples: Samples,
    pub(super) elapsed: Duration,
    pub(super) failures: u64,
}

/// A request as bytes.
pub(super) fn post(path: &str, agent: &str, message: &str, payload: &Value) -> Vec<u8> {
    let body = payload.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nakashik-agent: {agent}\r\n\
         akashik-message-id: {message}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Keeps `clients` connections busy for a while.
pub(super) async fn load(
    address: SocketAddr,
    clients: usize,
    lasting: Duration,
    make: MakeRequest,
) -> Result<LoadResult, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let numbers = Arc::new(AtomicU64::new(0));
    let watch = Stopwatch::start();
    let running: Vec<_> = (0..clients)
        .map(|_| {
            tokio::spawn(client(
                address,
                Arc::clone(&stop),
                Arc::clone(&numbers),
                Arc::clone(&make),
            ))
        })
        .collect();
    tokio::time::sleep(lasting).await;
    stop.store(true, Ordering::Relaxed);
    let (mut samples, mut failures) = (Samples::default(), 0);
    for client in running {
        let (more, failed) = client
            .await
            .map_err(|error| Failure::new(format!("a client died: {error}")))?
            .map_err(|error| Failure::new(format!("a client failed: {error}")))?;
        samples.extend(more);
        failures += failed;
    }
    Ok(LoadResult { samples, elapsed: watch.elapsed(), failures })
}

async fn client(
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    numbers: Arc<AtomicU64>,
    make: MakeRequest,
) -> std::io::Result<(Samples, u64)> {
    let mut connection = Connection::open(address).await?;
    let (mut samples, mut failures) = (Samples::default(), 0);
    while !stop.load(Ordering::Relaxed) {
        let request = make(numbers.fetch_add(1, Ordering::Relaxed));
        let watch = Stopwatch::start();
        let status = connection.send(&request).await?;
        samples.push(watch.elapsed());
        failures += u64::from(status != 200);
    }
    Ok((samples, failures))
}

/// One keep-alive connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and reads its whole answer; gives the status.
    pub(super) async fn send(&mut self, request: &[u8]) -> std::io::Result<u16> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some((status, total)) = head(&self.buffer)
                && self.buffer.len() >= total
            {
                return Ok(status);
            }
        }
    }
}

/// The status of an answer and its length with its head, once the head is there.
fn head(buffer: &[u8]) -> Option<(u16, usize)> {
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
    Some((status, end + length))
}
