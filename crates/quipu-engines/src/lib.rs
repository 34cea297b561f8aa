//! Engines over servers that a team already runs: PostgreSQL and NATS JetStream.
//!
//! Several nodes may share one of them: the server orders the commits, and each engine compares the expected head
//! where the commits are stored. What a commit means, and who follows whom, is not known here.
#![warn(clippy::indexing_slicing)]

mod followers;
pub mod nats;
mod open_error;
pub mod postgres;
mod runtime;

pub use nats::NatsEngine;
pub use open_error::OpenError;
pub use postgres::PostgresEngine;
