//! The NATS engine over real servers.

mod crash;
mod fitness;
mod sharing;
mod suite;
mod tls;
