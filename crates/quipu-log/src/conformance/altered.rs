//! For tests of whoever stands on an engine: an engine that is another one, but for what a test alters. Everything
//! else is handed on, here and nowhere else.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    commit::{Commit, Head, StoredHeader},
    engine::{BodyAddress, Engine, EngineError, Erasure},
    field_name::FieldName,
};

/// An engine that hands on what it does not alter. What [`Engine`] makes of `read` and `follow` by itself (bodies
/// alone, waiting) is made of the altered ones. It shares no notes.
pub trait Altered: Send + Sync + fmt::Debug + 'static {
    /// What is altered; it may be another one each time.
    fn inner(&self) -> Arc<dyn Engine>;

    /// Stands for [`Engine::append`].
    ///
    /// # Errors
    /// As there.
    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.inner().append(field, expected, batch)
    }

    /// Stands for [`Engine::read`].
    ///
    /// # Errors
    /// As there.
    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        self.inner().read(field, from, limit)
    }

    /// Stands for [`Engine::read_headers`].
    ///
    /// # Errors
    /// As there.
    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        Ok(Altered::read(self, field, from, limit)?.into_iter().map(StoredHeader::from).collect())
    }

    /// Stands for [`Engine::follow`].
    ///
    /// # Errors
    /// As there.
    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        self.inner().follow(field, from, timeout, limit)
    }

    /// Stands for [`Engine::erase`].
    ///
    /// # Errors
    /// As there.
    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        self.inner().erase(field, bodies)
    }

    /// Stands for [`Engine::take_turn`].
    ///
    /// # Errors
    /// As there.
    fn take_turn(&self, field: &FieldName, known: &Head) -> Result<Option<Head>, EngineError> {
        self.inner().take_turn(field, known)
    }

    /// Stands for [`Engine::end_turn`].
    fn end_turn(&self, field: &FieldName) {
        self.inner().end_turn(field);
    }
}

impl<A: Altered> Engine for A {
    fn fields(&self) -> Result<Vec<FieldName>, EngineError> {
        self.inner().fields()
    }

    fn head(&self, field: &FieldName) -> Result<Head, EngineError> {
        self.inner().head(field)
    }

    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        Altered::append(self, field, expected, batch)
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        Altered::read(self, field, from, limit)
    }

    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        Altered::read_headers(self, field, from, limit)
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        Altered::follow(self, field, from, timeout, limit)
    }

    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        Altered::erase(self, field, bodies)
    }

    fn seal(&self, field: &FieldName) -> Result<Head, EngineError> {
        self.inner().seal(field)
    }

    fn is_sealed(&self, field: &FieldName) -> Result<bool, EngineError> {
        self.inner().is_sealed(field)
    }

    fn receive(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.inner().receive(field, expected, batch)
    }

    fn unseal(&self, field: &FieldName) -> Result<Head, EngineError> {
        self.inner().unseal(field)
    }

    fn is_shared(&self) -> bool {
        self.inner().is_shared()
    }

    fn take_turn(&self, field: &FieldName, known: &Head) -> Result<Option<Head>, EngineError> {
        Altered::take_turn(self, field, known)
    }

    fn end_turn(&self, field: &FieldName) {
        Altered::end_turn(self, field);
    }

    fn release(&self, field: &FieldName) {
        self.inner().release(field);
    }
}
