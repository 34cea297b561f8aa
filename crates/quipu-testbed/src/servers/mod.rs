//! Servers of logs: PostgreSQL and NATS, as processes of the test.

pub(crate) mod backup;
pub(crate) mod engine;
pub(crate) mod nats_server;
pub(crate) mod pgbouncer;
pub(crate) mod postgres_server;
