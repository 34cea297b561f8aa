//! What the behaviour suite opens, and certificates.

mod certificates;
mod factories;

pub(crate) use certificates::Certificates;
pub(crate) use factories::{NatsFactory, PgBouncerFactory, PostgresFactory};
