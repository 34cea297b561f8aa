//! The PostgreSQL engine over a real server.

mod crash;
mod fitness;
mod sharing;
mod suite;
mod tls;
mod turns_crash;
