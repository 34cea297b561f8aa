//! What somebody without a key can take of the server: room for bodies, and connections.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    keys::start_with_key,
    support::{Server, finding},
};

/// More than all room for large bodies, in bodies of the largest size.
const SLOW_BODIES: usize = 24;

fn open(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Begins a delivery of four MiB and sends no more than its first byte.
fn slow_delivery(server: &Server) -> TcpStream {
    let mut stream = open(server);
    let head = format!(
        "POST /v1/connectors/connector_webhook/deliveries HTTP/1.1\r\nhost: localhost\r\n\
         content-length: {}\r\n\r\n{{",
        4 << 20
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Waits until the server has closed the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

/// Whether the server has neither answered nor closed the connection yet.
fn is_waiting(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn slow_bodies_of_those_without_a_key_take_no_room_of_those_who_have_one() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    let mut client = server.client().with_key(&key);
    client.register("a", "tester");
    let slow: Vec<TcpStream> = (0..SLOW_BODIES).map(|_| slow_delivery(&server)).collect();
    let large = finding(&"Text. ".repeat(10_000));
    for _ in 0..3 {
        assert_eq!(client.record("a", large.clone())["status"], "accepted");
    }
    let waiting = slow.iter().filter(|stream| is_waiting(stream)).count();
    assert_eq!(waiting, SLOW_BODIES, "nobody had to wait for the end of a slow body");
}

#[test]
fn a_connection_on_which_no_key_is_proven_is_closed_when_it_does_nothing() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    let mut silent = open(&server);
    let mut dawdling = open(&server);
    dawdling.write_all(b"GET /healthz HTTP/1.1\r\nhost: loc").unwrap();
    let mut keyed = server.client().with_key(&key);
    keyed.get("/v1/whoami").ok();
    for stream in [&mut silent, &mut dawdling] {
        assert!(is_closed(stream));
    }
    assert_eq!(keyed.get("/v1/whoami").status, 200, "this one has proven a key and stays");
}

#[test]
fn one_address_has_no_more_than_its_part_of_the_connections_of_strangers() {
    let data = TempDir::new().unwrap();
    let (server, key) = start_with_key(data.path());
    let mut first = open(&server);
    let mut keyed = server.client().with_key(&key);
    keyed.get("/v1/whoami").ok();
    // Less than it takes for one that does nothing to be closed.
    first.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    let crowd: Vec<TcpStream> = (0..300).map(|_| open(&server)).collect();
    assert!(is_closed(&mut first), "the oldest made room");
    assert_eq!(server.client().get("/healthz").status, 200);
    assert_eq!(keyed.get("/v1/whoami").status, 200);
    drop(crowd);
}
