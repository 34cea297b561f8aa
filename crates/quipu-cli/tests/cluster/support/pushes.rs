//! A stream of pushes, read line by line.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::Duration,
};

use quipu_testbed::Cluster;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

/// A stream of server-sent events.
#[derive(Debug)]
pub(crate) struct Pushes(BufReader<TcpStream>);

impl Pushes {
    /// Opens the stream of a subscription at a node.
    pub(crate) fn open(cluster: &Cluster, node: usize, field: &str, path: &str) -> Self {
        let mut stream = TcpStream::connect(cluster.nodes[node].address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nquipu-field: {field}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream);
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        assert!(first.contains("200"), "{first}");
        Self(lines)
    }

    /// The next push.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(data) = line.trim_end().strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}
