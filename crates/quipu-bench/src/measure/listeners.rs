//! Many SSE streams that one thread reads: on a small machine every cycle that the listeners burn is taken from the
//! server that they measure. Notes when each stream's bytes were read, and that each is told once of each unit.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use crate::measure::{failure::Failure, stopwatch};

/// How long all streams may take to be told.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the thread rests after it has read what there was. Subscribers of a real server are not woken on its
/// processors, and here each waking would take more of them than the reading; the rest is part of what is measured.
const REST: Duration = Duration::from_micros(300);
const PUSHED: &[u8] = b"event: memory.recorded\n";
/// The first part of a stream, which says when to try again.
const OPENING: &[u8] = b"retry:";

/// Streams that are open and not listened to yet.
#[derive(Debug)]
pub(crate) struct Listeners {
    poll: Poll,
    streams: Vec<Listener>,
}

/// The times at which all streams were told of a unit.
#[derive(Debug)]
pub(crate) struct Arrivals(Receiver<Result<Vec<Instant>, Failure>>);

#[derive(Debug)]
struct Listener {
    stream: mio::net::TcpStream,
    /// The end of what was read, where more may belong to it.
    rest: Vec<u8>,
    /// Units that it was told of.
    told: usize,
}

impl Listeners {
    pub(crate) fn new() -> Result<Self, Failure> {
        let poll = Poll::new().map_err(|error| Failure::caused("cannot listen", &error))?;
        Ok(Self { poll, streams: Vec::new() })
    }

    /// Opens one more stream and waits until it has begun.
    pub(crate) fn open(&mut self, address: SocketAddr, path: &str) -> Result<(), Failure> {
        let mut begin = || {
            let mut stream = TcpStream::connect(address)?;
            write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
            let mut text = Vec::new();
            let mut buffer = [0; 1024];
            while find(&text, OPENING).is_none() {
                let read = stream.read(&mut buffer)?;
                if read == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                text.extend(buffer.iter().take(read));
            }
            stream.set_nonblocking(true)?;
            let mut stream = mio::net::TcpStream::from_std(stream);
            let token = Token(self.streams.len());
            self.poll.registry().register(&mut stream, token, Interest::READABLE)?;
            self.streams.push(Listener { stream, rest: Vec::new(), told: 0 });
            Ok(())
        };
        begin().map_err(|error: std::io::Error| Failure::caused("cannot listen", &error))
    }

    /// Listens from now on, in a thread of its own that ends with the streams.
    pub(crate) fn listen(self) -> Arrivals {
        let (sender, arrivals) = sync_channel(1);
        thread::spawn(move || self.run(&sender));
        Arrivals(arrivals)
    }

    fn run(mut self, sender: &SyncSender<Result<Vec<Instant>, Failure>>) {
        let mut unit = 0;
        loop {
            unit += 1;
            let told = self.hear_all(unit);
            let failed = told.is_err();
            // Where nobody waits for it any more, the measurement is over.
            if sender.send(told).is_err() || failed {
                return;
            }
        }
    }

    /// Waits until every stream was told of the next unit, and says when each was.
    fn hear_all(&mut self, unit: usize) -> Result<Vec<Instant>, Failure> {
        let mut events = Events::with_capacity(1024);
        let mut arrivals = Vec::with_capacity(self.streams.len());
        while arrivals.len() < self.streams.len() {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other.map_err(|error| Failure::caused("cannot listen", &error))?,
            }
            for event in &events {
                let Some(listener) = self.streams.get_mut(event.token().0) else { continue };
                let heard = listener.hear();
                let heard = heard.map_err(|error| Failure::caused("a stream ended", &error))?;
                let Some(now) = heard else { continue };
                // It would stand for one that is not told.
                if listener.told != unit {
                    return Err(Failure::new("a subscriber was told twice"));
                }
                arrivals.push(now);
            }
            thread::park_timeout(REST);
        }
        Ok(arrivals)
    }
}

impl Arrivals {
    /// When each stream was told of the next unit.
    pub(crate) fn next(&self) -> Result<Vec<Instant>, Failure> {
        self.0.recv_timeout(PATIENCE).map_err(|_| Failure::new("a subscriber was not told"))?
    }
}

impl Listener {
    /// Reads what is there; the time where that told of a unit.
    fn hear(&mut self) -> std::io::Result<Option<Instant>> {
        let mut now = None;
        let mut buffer = [0; 2048];
        loop {
            let read = match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(now),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let arrived = stopwatch::now();
            self.rest.extend(buffer.iter().take(read));
            while let Some(at) = find(&self.rest, PUSHED) {
                self.rest.drain(..at + PUSHED.len());
                self.told += 1;
                now = Some(arrived);
            }
            let done = self.rest.len().saturating_sub(PUSHED.len());
            self.rest.drain(..done);
            // More would have filled the buffer; what comes later is announced again.
            if read < buffer.len() {
                return Ok(now);
            }
        }
    }
}

/// Where a text begins within another.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
