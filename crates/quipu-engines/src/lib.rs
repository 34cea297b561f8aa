//! Engines over servers that a team already runs: PostgreSQL and NATS JetStream.
//!
//! Several nodes may share one server: the server orders the commits, and each engine compares the expected head
//! where the commits are stored. This crate knows neither what commits mean nor who follows whom.
#![warn(clippy::indexing_slicing)]

mod followers;
pub mod nats;
mod open_error;
pub mod postgres;
mod runtime;

pub use nats::NatsEngine;
pub use open_error::OpenError;
pub use postgres::PostgresEngine;
