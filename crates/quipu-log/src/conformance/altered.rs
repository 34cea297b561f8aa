//! For tests of code that uses an engine: wraps an engine and alters some of its methods. All other methods are
//! passed on here, in one place.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    commit::{Commit, Head, StoredHeader},
    engine::{BodyAddress, Engine, EngineError, Erasure},
    field_name::FieldName,
};

/// A wrapper around an engine that passes on what it does not alter. The default methods of [`Engine`] for bodies and
/// waiting use the altered methods. It shares no notes.
pub trait Altered: Send + Sync + fmt::Debug + 'static {
    /// The wrapped engine, which may change between calls.
    fn inner(&self) -> Arc<dyn Engine>;

    /// Replaces [`Engine::append`].
    ///
    /// # Errors
    /// As the replaced method.
    fn append(
        &self,
        field: &FieldName,
        expected: &Head,
        batch: &[Commit],
    ) -> Result<Head, EngineError> {
        self.inner().append(field, expected, batch)
    }

    /// Replaces [`Engine::read`].
    ///
    /// # Errors
    /// As the replaced method.
    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        self.inner().read(field, from, limit)
    }

    /// Replaces [`Engine::read_headers`].
    ///
    /// # Errors
    /// As the replaced method.
    fn read_headers(
        &self,
        field: &FieldName,
        from: u64,
        limit: usize,
    ) -> Result<Vec<StoredHeader>, EngineError> {
        Ok(Altered::read(self, field, from, limit)?.into_iter().map(StoredHeader::from).collect())
    }

    /// Replaces [`Engine::follow`].
    ///
    /// # Errors
    /// As the replaced method.
    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        timeout: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        self.inner().follow(field, from, timeout, limit)
    }

    /// Replaces [`Engine::erase`].
    ///
    /// # Errors
    /// As the replaced method.
    fn erase(&self, field: &FieldName, bodies: &[BodyAddress]) -> Result<Erasure, EngineError> {
        self.inner().erase(field, bodies)
    }

    /// Replaces [`Engine::take_turn`].
    ///
    /// # Errors
    /// As the replaced method.
    fn take_turn(&self, field: &FieldName, known: &Head) -> Result<Option<Head>, EngineError> {
        self.inner().take_turn(field, known)
    }

    /// Replaces [`Engine::end_turn`].
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
