//! The PostgreSQL engine: turns the blocking calls of [`Engine`] into statements. The statements are in the other
//! files of this folder.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use quipu_log::{
    BodyAddress, Commit, Engine, EngineError, Erasure, FieldName, Head, Note, Notes, StoredBodies,
    StoredHeader, engine::check_batch,
};

use super::{
    address::Address,
    append::Append,
    encode::{Columns, HeadColumns},
    erase,
    failure::io,
    notes,
    pool::Pool,
    read, schema,
    turn::Turns,
    watch::{self, Watch},
};
use crate::{open_error::OpenError, runtime::Runtime};

#[derive(Debug)]
pub struct PostgresEngine {
    pool: Arc<Pool>,
    watch: Arc<Watch>,
    /// The fence of each field as it was last read; 0 if it was not.
    fences: Mutex<BTreeMap<FieldName, i64>>,
    turns: Arc<Turns>,
    // Dropped last: the connections run on its threads.
    runtime: Runtime,
}

impl PostgresEngine {
    /// Connects, checks the guarantees of the server, and creates the tables if they do not exist.
    ///
    /// # Errors
    /// If the address cannot be parsed, the server cannot be reached or could lose acknowledged commits, or a newer
    /// version created the tables.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        let runtime = Runtime::start("quipu-postgres")?;
        let pool = Arc::new(Pool::new(Address::parse(url)?)?);
        let opening = Arc::clone(&pool);
        let opened = runtime.wait(async move {
            let unreachable =
                |source| OpenError::Unreachable { server: opening.display().to_owned(), source };
            let client = opening.lease().await.map_err(unreachable)?;
            schema::check_server(&client, &opening).await?;
            schema::migrate(&client, &opening).await
        });
        opened.unwrap_or_else(|| {
            let (server, source) = (pool.display().to_owned(), "it could not be asked".into());
            Err(OpenError::Unreachable { server, source })
        })?;
        let watch = Arc::new(Watch::default());
        let threads = runtime.handle();
        threads.spawn(watch::poll(Arc::clone(&watch), Arc::clone(&pool)));
        threads.spawn(watch::notify_others(Arc::clone(&watch), Arc::clone(&pool)));
        threads.spawn(watch::listen(Arc::clone(&watch), Arc::clone(&pool)));
        Ok(Self { pool, watch, fences: Mutex::default(), turns: Arc::default(), runtime })
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.runtime
            .wait(work)
            .unwrap_or_else(|| Err(io("work", "a thread of the engine panicked")))
    }

    fn page<T: read::Item>(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<T>, EngineError> {
        let (pool, field) = (Arc::clone(&self.pool), field.clone());
        self.wait(async move { read::page(&pool, &field, from, limit).await })
    }

    fn write(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
        copied: bool,
    ) -> Result<Head, EngineError> {
        let end = check_batch(expected, batch).inspect_err(|_| self.end_turn(field))?;
        let fence = self.fence(field);
        let mut append = Append {
            field: field.clone(),
            expected: *expected,
            end,
            from: HeadColumns::of(expected)?,
            to: HeadColumns::of(&end)?,
            columns: Columns::of(batch)?,
            copied,
            fence,
        };
        let (pool, turn) = (Arc::clone(&self.pool), self.turns.use_up(field));
        let (result, seen) = self.wait(async move {
            let result = append.run(&pool, turn).await;
            Ok((result, append.fence))
        })?;
        if seen != fence {
            self.saw_fence(field, seen);
        }
        if result.is_ok() {
            self.watch.appended(field, end.position);
        }
        result
    }

    fn fence(&self, field: &FieldName) -> i64 {
        let fences = self.fences.lock().unwrap_or_else(PoisonError::into_inner);
        fences.get(field).copied().unwrap_or_default()
    }

    fn saw_fence(&self, field: &FieldName, fence: i64) {
        let mut fences = self.fences.lock().unwrap_or_else(PoisonError::into_inner);
        fences.insert(field.clone(), fence);
    }
}

impl Engine for PostgresEngine {
    fn fields(&self) -> Result<Vec<FieldName>, EngineError> {
        let pool = Arc::clone(&self.pool);
        self.wait(async move { read::fields(&*read::lease(&pool, "list fields").await?).await })
    }

    fn head(&self, field: &FieldName) -> Result<Head, EngineError> {
        let (pool, field) = (Arc::clone(&self.pool), field.clone());
        self.wait(async move {
            let client = read::lease(&pool, "read the head").await?;
            Ok(read::find_head(&client, &field).await?.unwrap_or(Head::EMPTY))
        })
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.write(field, expected, batch, false)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        self.page(field, from, limit)
    }

    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        self.page(field, from, limit)
    }

    fn read_bodies(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredBodies>, EngineError> {
        self.page(field, from, limit)
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        self.watch.followers.follow(self, field, from, timeout, limit)
    }

    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        let (pool, field, bodies) = (Arc::clone(&self.pool), field.clone(), bodies.to_vec());
        self.wait(async move { erase::erase(&pool, &field, &bodies).await })
    }

    fn seal(&self, field: &FieldName) -> Result<Head, EngineError> {
        let (pool, field) = (Arc::clone(&self.pool), field.clone());
        let turns = Arc::clone(&self.turns);
        self.wait(async move {
            // The node's own turn would make it wait.
            turns.end(&field).await;
            erase::seal(&pool, &field, true).await
        })
    }

    fn is_sealed(&self, field: &FieldName) -> Result<bool, EngineError> {
        let (pool, field) = (Arc::clone(&self.pool), field.clone());
        self.wait(async move { erase::is_sealed(&pool, &field).await })
    }

    fn receive(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.write(field, expected, batch, true)
    }

    fn unseal(&self, field: &FieldName) -> Result<Head, EngineError> {
        let (pool, field) = (Arc::clone(&self.pool), field.clone());
        self.wait(async move { erase::seal(&pool, &field, false).await })
    }

    fn notes(&self) -> Option<&dyn Notes> {
        Some(self)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn wait_past(
        &self,
        field: &FieldName,
        position: u64,
        timeout: Duration,
    ) -> Result<u64, EngineError> {
        let next = position.saturating_add(1);
        Ok(self.watch.followers.wait(field, next, position, timeout))
    }

    fn take_turn(&self, field: &FieldName, _known: &Head) -> Result<Option<Head>, EngineError> {
        let (turns, pool) = (Arc::clone(&self.turns), Arc::clone(&self.pool));
        self.wait(turns.take(pool, field.clone()))
    }

    fn end_turn(&self, field: &FieldName) {
        // Removed at once, so that it is not the next one to be ended.
        if let Some(held) = self.turns.use_up(field) {
            self.runtime.handle().spawn(held.end());
        }
    }
}

impl Notes for PostgresEngine {
    fn get(&self, name: &str) -> Result<Option<Note>, EngineError> {
        let (pool, name) = (Arc::clone(&self.pool), name.to_owned());
        self.wait(async move { notes::get(&pool, &name).await })
    }

    fn put(&self, name: &str, expected: u64, bytes: &[u8]) -> Result<Option<u64>, EngineError> {
        let (pool, name, bytes) = (Arc::clone(&self.pool), name.to_owned(), bytes.to_vec());
        self.wait(async move { notes::put(&pool, &name, expected, &bytes).await })
    }
}
