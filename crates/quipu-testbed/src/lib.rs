//! What tests of several nodes stand on: real PostgreSQL and NATS servers, a proxy that can be cut, and `quipu serve`
//! itself, each a process that is started, killed and started again. It brings things about and asserts nothing;
//! what cannot be brought about ends the test with a word.

mod backup;
mod child;
mod client;
mod cluster;
mod engine;
pub mod faketime;
mod http;
mod nats_server;
mod node;
mod pgbouncer;
mod place;
mod port;
mod postgres_server;
mod proxy;
mod small_disk;
mod wait;

pub use backup::Backup;
pub use child::{Ended, ServerProcess};
pub use client::{Client, Message};
pub use cluster::Cluster;
pub use engine::{EngineKind, EngineServers};
pub use http::{Answer, Connection};
pub use nats_server::NatsServers;
pub use node::{Node, NodeOptions};
pub use pgbouncer::PgBouncer;
pub use port::free_port;
pub use postgres_server::{PostgresServer, is_in_files, url_at};
pub use proxy::Proxy;
pub use small_disk::SmallDisk;
pub use wait::wait_until;
