//! The PostgreSQL engine over a real server.

mod crash;
mod fitness;
mod sharing;

quipu_log::engine_suite!(suite, crate::support::PostgresFactory);
