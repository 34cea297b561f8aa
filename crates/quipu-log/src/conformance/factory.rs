//! How the suite opens engines.

use std::sync::Arc;

use tempfile::TempDir;

use crate::{
    engine::Engine,
    memory::MemoryEngine,
    sqlite::{SqliteEngine, SqliteOptions},
};

/// Opens engines over storage of its own, which is empty at first.
pub trait EngineFactory {
    /// Opens the storage. Unless the storage is shared, the suite drops one engine before it opens the next.
    fn open(&self) -> Arc<dyn Engine>;

    /// Whether a second engine finds what the first one wrote.
    fn is_persistent(&self) -> bool;

    /// Whether several engines may be open at once.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether no other engine can move the head while one has the turn.
    fn keeps_turns(&self) -> bool {
        false
    }
}

#[derive(Debug, Default)]
pub struct MemoryFactory;

impl EngineFactory for MemoryFactory {
    fn open(&self) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new())
    }

    fn is_persistent(&self) -> bool {
        false
    }
}

/// Opens SQLite engines over one temporary directory.
#[derive(Debug)]
pub struct SqliteFactory {
    dir: TempDir,
}

impl Default for SqliteFactory {
    fn default() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary directory can be made") }
    }
}

impl EngineFactory for SqliteFactory {
    fn open(&self) -> Arc<dyn Engine> {
        let engine = SqliteEngine::open(self.dir.path(), SqliteOptions::default());
        Arc::new(engine.expect("an empty or closed directory opens"))
    }

    fn is_persistent(&self) -> bool {
        true
    }
}
