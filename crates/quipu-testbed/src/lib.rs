//! What tests of several nodes stand on: real PostgreSQL and NATS servers, a proxy that can be cut, and `quipu serve`
//! itself, each a process that is started, killed and started again. It brings things about and asserts nothing;
//! what cannot be brought about ends the test with a word.

mod child;
mod client;
mod cluster;
pub mod faketime;
mod http;
mod node;
mod place;
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
pub use servers::postgres_server::{PostgresServer, is_in_files, url_at};
pub use small_disk::SmallDisk;
pub use wait::wait_until;
