//! A proxy between an engine and its server that can be cut: the bytes stop, in one direction or both, or the
//! connections end.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// What the proxy does with bytes.
#[derive(Debug, Default)]
struct Switches {
    /// How many bytes may still go to the server before the connection is cut; `u64::MAX` for any number.
    to_server: AtomicU64,
    /// Whether answers of the server are held back for ever.
    mute: AtomicBool,
    /// Whether new connections are turned away.
    closed: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    /// How many connections were cut or turned away.
    cuts: Mutex<u64>,
    cut: Condvar,
}

/// The proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    switches: Arc<Switches>,
}

impl Proxy {
    /// A proxy to a port of the loopback interface.
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let switches = Arc::new(Switches::default());
        switches.to_server.store(u64::MAX, Ordering::SeqCst);
        let shared = Arc::clone(&switches);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.closed.load(Ordering::SeqCst) {
                    shared.note_cut();
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                pump(&shared, client, server);
            }
        });
        Self { port: own, switches }
    }

    /// Its port.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// From now on the server's answers do not arrive.
    pub(crate) fn mute(&self) {
        self.switches.mute.store(true, Ordering::SeqCst);
    }

    /// Mutes the server, and cuts the connections once the next `bytes` bytes have reached it.
    pub(crate) fn mute_and_cut_after(&self, bytes: u64) {
        self.mute();
        *self.switches.cuts.lock().unwrap() = 0;
        self.switches.to_server.store(bytes, Ordering::SeqCst);
    }

    /// Ends all connections and takes no new ones.
    pub(crate) fn close(&self) {
        *self.switches.cuts.lock().unwrap() = 0;
        self.switches.closed.store(true, Ordering::SeqCst);
        self.switches.end_all();
    }

    /// Ends all connections and works again.
    pub(crate) fn heal(&self) {
        self.switches.end_all();
        self.switches.mute.store(false, Ordering::SeqCst);
        self.switches.to_server.store(u64::MAX, Ordering::SeqCst);
        self.switches.closed.store(false, Ordering::SeqCst);
    }

    /// Waits until a connection was cut or turned away since the proxy was told to do so.
    pub(crate) fn wait_for_cut(&self) {
        let cuts = self.switches.cuts.lock().unwrap();
        drop(self.switches.cut.wait_while(cuts, |cuts| *cuts == 0).unwrap());
    }

    /// As `wait_for_cut`, but no longer than `patience`: what was sent may have been less than it takes.
    pub(crate) fn wait_for_cut_within(&self, patience: Duration) {
        let cuts = self.switches.cuts.lock().unwrap();
        let waited = self.switches.cut.wait_timeout_while(cuts, patience, |cuts| *cuts == 0);
        drop(waited.unwrap());
    }
}

impl Switches {
    fn note_cut(&self) {
        *self.cuts.lock().unwrap() += 1;
        self.cut.notify_all();
    }

    fn end_all(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    /// How many of `bytes` may go on.
    fn allowed(&self, bytes: usize) -> usize {
        let wanted = u64::try_from(bytes).unwrap();
        let left = self.to_server.load(Ordering::SeqCst);
        if left == u64::MAX {
            return bytes;
        }
        let allowed = wanted.min(left);
        self.to_server.store(left - allowed, Ordering::SeqCst);
        usize::try_from(allowed).unwrap()
    }
}

fn pump(switches: &Arc<Switches>, client: TcpStream, server: TcpStream) {
    let mut streams = switches.streams.lock().unwrap();
    streams.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
    drop(streams);
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let shared = Arc::clone(switches);
    thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(read @ 1..) = from_client.read(&mut buffer) {
            let allowed = shared.allowed(read);
            if to_server.write_all(&buffer[..allowed]).is_err() {
                break;
            }
            if allowed < read || shared.to_server.load(Ordering::SeqCst) == 0 {
                shared.note_cut();
                from_client.shutdown(Shutdown::Both).ok();
                // What the server was sent it may still work on.
                to_server.shutdown(Shutdown::Write).ok();
                return;
            }
        }
        to_server.shutdown(Shutdown::Both).ok();
    });
    let shared = Arc::clone(switches);
    thread::spawn(move || {
        let (mut from_server, mut to_client) = (server, client);
        let mut buffer = [0; 16 * 1024];
        while let Ok(read @ 1..) = from_server.read(&mut buffer) {
            if shared.mute.load(Ordering::SeqCst) {
                continue;
            }
            if to_client.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        to_client.shutdown(Shutdown::Both).ok();
    });
}
