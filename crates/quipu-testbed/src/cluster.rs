//! Several nodes over one log. Each node reaches the log through a proxy of its own that can be cut.

use std::{
    io::{self, Write},
    path::Path,
    thread,
    time::Duration,
};

use crate::{EngineKind, EngineServers, Node, NodeOptions, Proxy};

const LINES_QUOTED: usize = 20;

/// The servers that keep the log, and the nodes.
#[derive(Debug)]
pub struct Cluster {
    pub nodes: Vec<Node>,
    /// The servers that keep the log.
    pub engine: EngineServers,
    /// For each node, its proxies to the servers.
    ways: Vec<Vec<Proxy>>,
}

impl Cluster {
    /// Starts servers of a kind, and so many nodes of this binary.
    #[must_use]
    pub fn start(program: &Path, kind: EngineKind, nodes: usize) -> Self {
        Self::over(EngineServers::start(kind), program, nodes)
    }

    /// Starts this many nodes over running servers.
    #[must_use]
    pub fn over(engine: EngineServers, program: &Path, nodes: usize) -> Self {
        let ways: Vec<Vec<Proxy>> = (0..nodes).map(|_| engine.proxies()).collect();
        let node = |way: &Vec<Proxy>| {
            let ports: Vec<u16> = way.iter().map(Proxy::port).collect();
            Node::new(NodeOptions::dev(program, &engine.url_through(&ports)))
        };
        let mut nodes: Vec<Node> = ways.iter().map(node).collect();
        thread::scope(|scope| {
            for node in &mut nodes {
                scope.spawn(|| node.run());
            }
        });
        Self { nodes, engine, ways }
    }

    /// The base URLs of all nodes.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Node::url).collect()
    }

    /// Kills a node and starts it again over its data.
    pub fn restart(&mut self, node: usize) {
        self.nodes[node].kill();
        self.nodes[node].run();
    }

    /// The log's answers to a node are lost.
    pub fn mute(&self, node: usize) {
        self.ways[node].iter().for_each(Proxy::mute);
    }

    /// What a node sends to the log is lost.
    pub fn deafen(&self, node: usize) {
        self.ways[node].iter().for_each(Proxy::deafen);
    }

    /// A node's connections to the log end, and it gets no new ones.
    pub fn close(&self, node: usize) {
        self.ways[node].iter().for_each(Proxy::close);
    }

    /// Messages between a node and the log are delayed.
    pub fn delay(&self, node: usize, by: Duration) {
        self.ways[node].iter().for_each(|way| way.delay(by));
    }

    /// Repairs a node's connection to the log. It has to connect again.
    pub fn heal(&self, node: usize) {
        self.ways[node].iter().for_each(Proxy::heal);
    }
}

/// Prints the last output of the nodes if a test fails.
impl Drop for Cluster {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        for (number, node) in self.nodes.iter().enumerate() {
            let said = node.said();
            let lines: Vec<&str> = said.lines().collect();
            let last = &lines[lines.len().saturating_sub(LINES_QUOTED)..];
            let shown = format!("node {number} said last:\n{}\n", last.join("\n"));
            io::stderr().write_all(shown.as_bytes()).ok();
        }
    }
}
