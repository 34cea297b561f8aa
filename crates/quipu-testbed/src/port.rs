//! Ports for servers that keep their port when they are killed and restarted.

use std::{
    net::{Ipv4Addr, TcpListener, UdpSocket},
    ops::Range,
    process,
    sync::{Mutex, PoisonError},
};

/// The range is below the ports that the system gives to outgoing connections: one of those could be taken by a
/// connection while its server is down.
const PORTS: Range<u16> = 12_000..32_000;

/// The ports of this process. Each is reserved by a UDP socket of the same number, which the system closes when the
/// process ends.
static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// A port of the loopback interface that no other test is given while this process lives.
#[must_use]
pub fn free_port() -> u16 {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    // Concurrent processes begin at different ports.
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
