//! A few read-only connections, so that reads never wait for the writer. A connection is returned only between
//! statements, so none delays a checkpoint.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;

use super::schema;
use crate::engine::EngineError;

const MAX_IDLE: usize = 4;

#[derive(Debug)]
pub(super) struct Readers {
    log: PathBuf,
    immutable: bool,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) const fn new(log: PathBuf, immutable: bool) -> Self {
        Self { log, immutable, idle: Mutex::new(Vec::new()) }
    }

    /// Runs `read` on a connection of its own.
    pub(super) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None if self.immutable => schema::open_immutable(&self.log)?,
            None => schema::open_reader(&self.log)?,
        };
        let answer = read(&connection)?;
        // After an error the connection is dropped; opening another one costs little.
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        Ok(answer)
    }
}
