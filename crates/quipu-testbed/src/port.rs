//! Ports for servers that must be found at the same one again after they were killed.

use std::{
    net::{Ipv4Addr, TcpListener, UdpSocket},
    ops::Range,
    process,
    sync::{Mutex, PoisonError},
};

/// Below the ports that the system gives to whoever connects somewhere: one of those could be taken by a connection
/// while its server is down.
const PORTS: Range<u16> = 12_000..32_000;

/// The ports of this process, each held by a socket of another kind at the same number, which is free again when the
/// process ends, however it does.
static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// A port of the loopback interface that no other test is given while this process lives.
#[must_use]
pub fn free_port() -> u16 {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    // Processes that run side by side begin apart.
    let begin = usize::try_from(process::id()).unwrap_or_default().wrapping_mul(61) % PORTS.len();
    let mut ports = PORTS.skip(begin).chain(PORTS.take(begin));
    let (port, holder) = ports.find_map(hold).expect("a port is free");
    held.push(holder);
    port
}

/// Holds a port, if nobody else does and nobody listens there.
fn hold(port: u16) -> Option<(u16, UdpSocket)> {
    let holder = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
    Some((port, holder))
}
