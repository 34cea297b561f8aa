//! A proxy between a client and its server that can lose bytes in one direction or both, delay them, or end the
//! connections.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

/// What the proxy does with bytes.
#[derive(Debug)]
struct Switches {
    /// How many bytes may still go to the server before the connection is cut; `u64::MAX` for any number.
    to_server: AtomicU64,
    /// Whether answers of the server are lost.
    mute: AtomicBool,
    /// Whether what the client sends is lost.
    deaf: AtomicBool,
    /// By how many milliseconds bytes come late, each way.
    late: AtomicU64,
    /// Whether new connections are turned away.
    closed: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    /// How many connections were cut or turned away.
    cuts: Mutex<u64>,
    cut: Condvar,
}

#[derive(Debug)]
pub struct Proxy {
    port: u16,
    switches: Arc<Switches>,
}

impl Proxy {
    /// A proxy to a port of the loopback interface.
    #[must_use]
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let own = listener.local_addr().expect("it has an address").port();
        let switches = Arc::new(Switches {
            to_server: AtomicU64::new(u64::MAX),
            mute: AtomicBool::default(),
            deaf: AtomicBool::default(),
            late: AtomicU64::default(),
            closed: AtomicBool::default(),
            streams: Mutex::default(),
            cuts: Mutex::default(),
            cut: Condvar::default(),
        });
        let shared = Arc::clone(&switches);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.closed.load(Ordering::SeqCst) {
                    shared.note_cut();
                    continue;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                // Without this, small messages wait for each other, 40 ms each time.
                client.set_nodelay(true).ok();
                server.set_nodelay(true).ok();
                pump(&shared, &client, &server);
            }
        });
        Self { port: own, switches }
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// From now on the server's answers are lost.
    pub fn mute(&self) {
        self.switches.mute.store(true, Ordering::SeqCst);
    }

    /// From now on what the client sends is lost.
    pub fn deafen(&self) {
        self.switches.deaf.store(true, Ordering::SeqCst);
    }

    /// From now on bytes come late, in both directions.
    pub fn delay(&self, by: Duration) {
        let late = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.switches.late.store(late, Ordering::SeqCst);
    }

    /// Mutes the server, and cuts the connections once the next `bytes` bytes have reached it.
    pub fn mute_and_cut_after(&self, bytes: u64) {
        self.mute();
        *self.switches.cuts() = 0;
        self.switches.to_server.store(bytes, Ordering::SeqCst);
    }

    /// Ends all connections and takes no new ones.
    pub fn close(&self) {
        *self.switches.cuts() = 0;
        self.switches.closed.store(true, Ordering::SeqCst);
        self.switches.end_all();
    }

    /// Ends all connections, and works normally again without delay.
    pub fn heal(&self) {
        self.switches.end_all();
        self.switches.mute.store(false, Ordering::SeqCst);
        self.switches.deaf.store(false, Ordering::SeqCst);
        self.switches.late.store(0, Ordering::SeqCst);
        self.switches.to_server.store(u64::MAX, Ordering::SeqCst);
        self.switches.closed.store(false, Ordering::SeqCst);
    }

    /// Waits until a connection was cut or turned away since the last change of the proxy.
    pub fn wait_for_cut(&self) {
        let cuts = self.switches.cuts();
        let waited = self.switches.cut.wait_while(cuts, |cuts| *cuts == 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// As `wait_for_cut`, but no longer than `patience`: the client may have sent fewer bytes than it takes.
    pub fn wait_for_cut_within(&self, patience: Duration) {
        let cuts = self.switches.cuts();
        drop(self.switches.cut.wait_timeout_while(cuts, patience, |cuts| *cuts == 0));
    }
}

impl Switches {
    fn cuts(&self) -> MutexGuard<'_, u64> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_cut(&self) {
        *self.cuts() += 1;
        self.cut.notify_all();
    }

    fn end_all(&self) {
        for stream in self.streams().drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    fn be_late(&self) {
        let late = self.late.load(Ordering::SeqCst);
        if late > 0 {
            thread::park_timeout(Duration::from_millis(late));
        }
    }

    /// How many of `bytes` may go on to the server.
    fn allowed(&self, bytes: usize) -> usize {
        let left = self.to_server.load(Ordering::SeqCst);
        if left == u64::MAX {
            return bytes;
        }
        let allowed = usize::try_from(left).map_or(bytes, |left| left.min(bytes));
        let taken = u64::try_from(allowed).unwrap_or(left);
        self.to_server.store(left - taken, Ordering::SeqCst);
        allowed
    }
}

fn pump(switches: &Arc<Switches>, client: &TcpStream, server: &TcpStream) {
    let another = |stream: &TcpStream| stream.try_clone().expect("a socket can be shared");
    switches.streams().extend([another(client), another(server)]);
    let (client_in, server_out, shared) = (another(client), another(server), Arc::clone(switches));
    thread::spawn(move || to_server(&shared, client_in, server_out));
    let (server_in, client_out, shared) = (another(server), another(client), Arc::clone(switches));
    thread::spawn(move || to_client(&shared, server_in, client_out));
}

fn to_server(switches: &Switches, mut client: TcpStream, mut server: TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = client.read(&mut buffer) {
        switches.be_late();
        if switches.deaf.load(Ordering::SeqCst) {
            continue;
        }
        let allowed = switches.allowed(read);
        if server.write_all(&buffer[..allowed]).is_err() {
            break;
        }
        if allowed < read || switches.to_server.load(Ordering::SeqCst) == 0 {
            switches.note_cut();
            client.shutdown(Shutdown::Both).ok();
            // The server may still process what it has received.
            server.shutdown(Shutdown::Write).ok();
            return;
        }
    }
    server.shutdown(Shutdown::Both).ok();
}

fn to_client(switches: &Switches, mut server: TcpStream, mut client: TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = server.read(&mut buffer) {
        switches.be_late();
        if switches.mute.load(Ordering::SeqCst) {
            continue;
        }
        if client.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    client.shutdown(Shutdown::Both).ok();
}
