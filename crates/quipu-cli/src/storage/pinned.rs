//! An engine seen at one moment: whatever is appended meanwhile is left out, so that a command that
//! reads a whole log beside a running server comes to an end and can say what it read.
//! Also counts what passes through. Writes nothing.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use quipu_log::{BodyAddress, BodyContent, Commit, Engine, EngineError, Erasure, FieldName, Head};

/// One field of an engine, up to the head that it had at first.
#[derive(Debug)]
pub(crate) struct Pinned {
    engine: Arc<dyn Engine>,
    field: FieldName,
    head: Head,
    counted: AtomicU64,
    erased: Mutex<Vec<BodyAddress>>,
}

impl Pinned {
    /// Fixes a field at the head that it has now.
    pub(crate) fn new(engine: Arc<dyn Engine>, field: &FieldName) -> Result<Self, EngineError> {
        let head = engine.head(field)?;
        let (counted, erased) = (AtomicU64::new(0), Mutex::default());
        Ok(Self { engine, field: field.clone(), head, counted, erased })
    }

    pub(crate) const fn pinned_head(&self) -> Head {
        self.head
    }

    /// The erased bodies that were met, each once, in order.
    pub(crate) fn erased(&self) -> Vec<BodyAddress> {
        self.erased.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A page may be read twice; only what lies behind the last counted commit is new.
    fn count(&self, page: &[Commit]) {
        let counted = self.counted.load(Ordering::Relaxed);
        let fresh = page.iter().filter(|commit| commit.position > counted);
        let erased = fresh.flat_map(|commit| {
            let erased = commit.bodies.iter().filter(|body| body.content == BodyContent::Erased);
            erased.map(|body| BodyAddress { position: commit.position, event: body.event })
        });
        self.erased.lock().unwrap_or_else(PoisonError::into_inner).extend(erased);
        if let Some(last) = page.last() {
            self.counted.store(counted.max(last.position), Ordering::Relaxed);
        }
    }

    fn refuse<T>(&self, what: &str) -> Result<T, EngineError> {
        let action = format!("{what} field {}", self.field);
        Err(EngineError::Io { action, source: "it is open for reading only".into() })
    }
}

impl Engine for Pinned {
    fn fields(&self) -> Result<Vec<FieldName>, EngineError> {
        Ok(vec![self.field.clone()])
    }

    fn head(&self, field: &FieldName) -> Result<Head, EngineError> {
        if *field == self.field { Ok(self.head) } else { Ok(Head::EMPTY) }
    }

    fn append(&self, _: &FieldName, _: &Head, _: &[Commit]) -> Result<Head, EngineError> {
        self.refuse("append to")
    }

    fn read(&self, field: &FieldName, from: u64, limit: usize) -> Result<Vec<Commit>, EngineError> {
        if from > self.head.position {
            return Ok(Vec::new());
        }
        let mut page = self.engine.read(field, from, limit)?;
        page.retain(|commit| commit.position <= self.head.position);
        self.count(&page);
        Ok(page)
    }

    fn follow(
        &self,
        field: &FieldName,
        from: u64,
        _: Duration,
        limit: usize,
    ) -> Result<Vec<Commit>, EngineError> {
        self.read(field, from, limit)
    }

    fn erase(&self, _: &FieldName, _: &[BodyAddress]) -> Result<Erasure, EngineError> {
        self.refuse("erase in")
    }

    fn seal(&self, _: &FieldName) -> Result<Head, EngineError> {
        self.refuse("seal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_log::{Body, Draft, DraftEvent, MemoryEngine, Salt, verify_chain};

    fn append(engine: &MemoryEngine, field: &FieldName) {
        let head = engine.head(field).unwrap();
        let body = Body::new(Salt::from_bytes([7; 16]), "text").unwrap();
        let draft = Draft {
            epoch: head.epoch + 1,
            time_ms: 0,
            actor: "ada".to_owned(),
            session: None,
            request: None,
            events: vec![DraftEvent { event: "said", body: Some(body) }],
        };
        let commit = draft.seal(head.position + 1, head.hash).unwrap();
        engine.append(field, &head, &[commit]).unwrap();
    }

    #[test]
    fn leaves_out_what_comes_later_and_counts_each_erased_body_once() {
        let engine = Arc::new(MemoryEngine::new());
        let field = FieldName::default_field();
        for _ in 0..3 {
            append(&engine, &field);
        }
        engine.erase(&field, &[BodyAddress { position: 2, event: 0 }]).unwrap();
        let pinned = Pinned::new(Arc::clone(&engine) as Arc<dyn Engine>, &field).unwrap();
        append(&engine, &field);
        for _ in 0..2 {
            let head = verify_chain(&pinned, &field, Head::EMPTY, &mut |_| Ok(())).unwrap();
            assert_eq!(head.position, 3);
        }
        assert_eq!(pinned.erased(), [BodyAddress { position: 2, event: 0 }]);
    }

    #[test]
    fn writes_nothing() {
        let engine = Arc::new(MemoryEngine::new());
        let field = FieldName::default_field();
        append(&engine, &field);
        let pinned = Pinned::new(engine, &field).unwrap();
        assert!(pinned.seal(&field).is_err());
        assert!(pinned.erase(&field, &[]).is_err());
        assert!(pinned.append(&field, &pinned.pinned_head(), &[]).is_err());
    }
}
