//! Brings the index up to the state of a Field that was opened before its texts were read. A state needs no texts, so a Field
//! that has much to read takes writes and reads by id several times sooner; whoever asks by words or meaning waits until
//! the index is there. The texts are verified here.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use quipu_log::{Checked, Damage, Engine, EngineError, FieldName, Pace, read_ahead};
use quipu_wire::{ErrorCode, ProtocolError};

use crate::{
    failure::with_causes,
    field::Field,
    limits::{ANSWER_WAIT, INDEX_AT_ONCE, INDEX_RETRY},
    publication::Followed,
    restore::{Read, prepare},
    view::View,
};

impl Field {
    /// Starts to read the texts, where the index is behind.
    pub(crate) fn index_in_background(&self) -> Result<(), EngineError> {
        if self.view.is_indexed() {
            return Ok(());
        }
        let indexer = Indexer {
            engine: Arc::clone(&self.engine),
            field: self.name.clone(),
            view: Arc::clone(&self.view),
            stop: Arc::clone(&self.stop),
        };
        let health = Arc::clone(&self.health);
        self.start("index", move || {
            let _guard = health.fail_on_panic("whoever reads the texts");
            if let Err(error) = indexer.run() {
                health.fail(&format!("damage in the log: {}", with_causes(&error)));
            }
        })
    }

    /// The commits whose texts are read, and all of them; nothing where these are the same.
    #[must_use]
    pub fn texts_behind(&self) -> Option<(u64, u64)> {
        let published = self.view.read();
        published.unindexed.map(|behind| (behind.after.position, published.head.position))
    }

    /// Waits until units can be found by their words and their meaning, or says that they cannot yet.
    pub(crate) async fn await_index(&self) -> Result<(), ProtocolError> {
        if self.view.is_indexed() {
            return Ok(());
        }
        // What is damaged is not waited for.
        self.health.check()?;
        let mut indexed = self.view.indexed();
        let waited = tokio::time::timeout(ANSWER_WAIT, indexed.wait_for(|indexed| *indexed)).await;
        if matches!(waited, Ok(Ok(_))) {
            return Ok(());
        }
        self.health.check()?;
        let Some((read, of)) = self.texts_behind() else { return Ok(()) };
        let what = format!("the texts are being read, {read} of {of} commits so far");
        Err(ProtocolError::new(ErrorCode::FieldUnavailable, what))
    }
}

struct Indexer {
    engine: Arc<dyn Engine>,
    field: FieldName,
    view: Arc<View>,
    stop: Arc<AtomicBool>,
}

impl Indexer {
    /// Reads until the index is there, or nobody wants it any more. A log that is away is waited for.
    fn run(&self) -> Result<(), EngineError> {
        while !self.view.is_indexed() && !self.is_stopped() {
            match self.read_on() {
                Ok(()) => {}
                Err(EngineError::Damaged(damage)) if damage == enough() => {}
                Err(error @ (EngineError::Damaged(_) | EngineError::UnknownField { .. })) => {
                    return Err(error);
                }
                Err(error) => {
                    tracing::warn!(field = %self.field, error = with_causes(&error), "cannot read the texts");
                    thread::park_timeout(INDEX_RETRY);
                }
            }
        }
        Ok(())
    }

    fn read_on(&self) -> Result<(), EngineError> {
        let (mut after, until) = {
            let published = self.view.read();
            let Some(behind) = published.unindexed else { return Ok(()) };
            (behind.after, published.head.position)
        };
        let range = (after.position, until);
        let engine = self.engine.as_ref();
        read_ahead(engine, &self.field, range, Pace::Alone, &prepare, &mut |page| {
            let mut followed = Vec::with_capacity(page.len());
            for checked in page {
                let (commit, read) = Checked::<Read>::follow(checked, &after)?;
                after = commit.head();
                followed.push((commit, read));
            }
            self.add(&followed)?;
            Ok(after.position)
        })
    }

    /// Adds what a page recorded, a little at a time: others wait meanwhile.
    fn add(&self, page: &[Followed]) -> Result<(), Damage> {
        for some in page.chunks(INDEX_AT_ONCE) {
            if self.is_stopped() || self.view.index(some)? {
                return Err(enough());
            }
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn enough() -> Damage {
    Damage::storage("read far enough")
}
