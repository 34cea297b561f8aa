//! Engines over servers of their own, for the behaviour suite.

use std::sync::Arc;

use quipu_engines::{NatsEngine, PostgresEngine};
use quipu_log::{Engine, conformance::EngineFactory};
use quipu_testbed::{NatsServers, PgBouncer, PostgresServer};

/// Opens engines over a PostgreSQL server.
#[derive(Debug)]
pub(crate) struct PostgresFactory(PostgresServer);

impl Default for PostgresFactory {
    fn default() -> Self {
        Self(PostgresServer::start())
    }
}

impl EngineFactory for PostgresFactory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(PostgresEngine::open(&self.0.url()).expect("the server is fit"))
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn keeps_turns(&self) -> bool {
        true
    }
}

/// Opens engines over a PostgreSQL server behind PgBouncer.
#[derive(Debug)]
pub(crate) struct PgBouncerFactory(PgBouncer);

impl Default for PgBouncerFactory {
    fn default() -> Self {
        Self(PgBouncer::start())
    }
}

impl EngineFactory for PgBouncerFactory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(PostgresEngine::open(&self.0.url()).expect("the server is fit"))
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn keeps_turns(&self) -> bool {
        true
    }
}

/// Opens engines over a NATS server.
#[derive(Debug)]
pub(crate) struct NatsFactory(NatsServers);

impl Default for NatsFactory {
    fn default() -> Self {
        Self(NatsServers::one())
    }
}

impl EngineFactory for NatsFactory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(NatsEngine::open(&self.0.url()).expect("the server is fit"))
    }

    fn is_persistent(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }
}
