//! Servers and proxies for the tests.

mod child;
mod nats_server;
mod pgbouncer;
mod postgres_server;
mod proxy;

pub(crate) use nats_server::{NatsFactory, NatsServers};
pub(crate) use pgbouncer::PgBouncerFactory;
pub(crate) use postgres_server::{PostgresFactory, PostgresServer, is_in_files, url_at};
pub(crate) use proxy::Proxy;
