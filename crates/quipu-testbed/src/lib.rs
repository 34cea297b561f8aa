//! The environment for tests of several nodes: real PostgreSQL and NATS servers, a proxy that can be cut, and `quipu
//! serve` itself, each a process that is started, killed and restarted. It asserts nothing about the nodes; if a part
//! cannot be set up, the test ends with a message.

mod child;
mod client;
mod cluster;
pub mod faketime;
mod http;
mod install;
mod node;
mod port;
mod proxy;
mod servers;
mod small_disk;
mod wait;

pub use child::{Ended, ServerProcess};
pub use client::{Client, Message};
pub use cluster::Cluster;
pub use http::{Answer, Connection};
pub use node::{Node, NodeOptions};
pub use port::free_port;
pub use proxy::Proxy;
pub use servers::backup::Backup;
pub use servers::engine::{EngineKind, EngineServers};
pub use servers::nats_server::NatsServers;
pub use servers::pgbouncer::PgBouncer;
pub use servers::postgres_server::{PostgresServer, is_in_files, postgres_program, url_at};
pub use small_disk::SmallDisk;
pub use wait::wait_until;
