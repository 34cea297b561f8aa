//! What the behaviour suite opens.

mod factories;

pub(crate) use factories::{NatsFactory, PgBouncerFactory, PostgresFactory};
