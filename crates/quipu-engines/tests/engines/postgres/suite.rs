//! What every engine does.

quipu_log::engine_suite!(behaviour, crate::support::PostgresFactory);
