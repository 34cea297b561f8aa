//! Brings the index up to the state of a Field that was opened before its texts were read. A state needs no texts, so a Field
//! that has much to read takes writes and reads by id several times sooner; whoever asks by words or meaning waits until
//! the index is there. The texts are verified here.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use quipu_log::{Checked, Damage, Engine, EngineError, FieldName, Pace, read_ahead};
use tokio::sync::mpsc;

use crate::{
    base::{
        error::FieldError,
        failure::with_causes,
        limits::{ANSWER_WAIT, INDEX_AT_ONCE, INDEX_LAST_WAIT, INDEX_RETRY, INDEXING_FIELDS_MAX},
        unavailable::Unavailable,
    },
    field::Field,
    read::{
        decoded::{Decoded, Followed, prepare},
        view::{Indexed, View},
    },
    write::job::Job,
};

/// How far the texts of a Field are read that was opened before they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextsBehind {
    /// The commits whose texts are read.
    pub read: u64,
    /// All commits.
    pub of: u64,
    /// Whether the log does not give them at the moment.
    pub failing: bool,
}

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
            jobs: self.jobs.downgrade(),
        };
        let health = Arc::clone(&self.health);
        self.start("index", move || {
            let _guard = health.fail_on_panic("whoever reads the texts");
            let ended = Ended(&indexer.view);
            if let Err(error) = indexer.run() {
                let reason = format!("damage in the log: {}", with_causes(&error));
                health.fail(&reason);
                indexer.view.set_indexed(Indexed::Failed(reason));
            }
            drop(ended);
        })
    }

    /// How far the texts are read; nothing where they all are.
    #[must_use]
    pub fn texts_behind(&self) -> Option<TextsBehind> {
        let published = self.view.read();
        let (read, of) = (published.unindexed.as_ref()?.after.position, published.head.position);
        let failing = !matches!(*self.view.indexed().borrow(), Indexed::Behind(None));
        Some(TextsBehind { read, of, failing })
    }

    /// Waits until units can be found by their words and their meaning, or says that they cannot yet.
    pub(crate) async fn await_index(&self) -> Result<(), FieldError> {
        if self.view.is_indexed() {
            return Ok(());
        }
        let mut told = self.view.indexed();
        let is_over = |told: &Indexed| !matches!(told, Indexed::Behind(_));
        // What it came to is looked at below.
        tokio::time::timeout(ANSWER_WAIT, told.wait_for(is_over)).await.ok();
        let trouble = match &*told.borrow() {
            Indexed::Ready => return Ok(()),
            Indexed::Behind(trouble) => trouble.clone(),
            Indexed::Failed(reason) => Some(reason.clone()),
        };
        let far = self.texts_behind().map(|behind| (behind.read, behind.of));
        let (read, of) = far.unwrap_or_default();
        Err(Unavailable::TextsBehind { read, of, trouble }.into())
    }

    fn reads_for_a_snapshot(&self) -> bool {
        self.snapshotter.is_some() && !self.view.is_indexed()
    }
}

/// Waits for the texts of Fields that are to be closed, if the log gives them, but not for long: without them there is no
/// snapshot, and the next one to open such a Field would have to read them all again.
pub(crate) async fn await_last_texts(fields: &[Arc<Field>]) {
    let reading: Vec<_> = fields.iter().filter(|field| field.reads_for_a_snapshot()).collect();
    if reading.is_empty() {
        return;
    }
    let all = async {
        for field in reading {
            let goes_on = |told: &Indexed| matches!(told, Indexed::Behind(None));
            field.view.indexed().wait_for(|told| !goes_on(told)).await.ok();
        }
    };
    tokio::time::timeout(INDEX_LAST_WAIT, all).await.ok();
}

/// Tells whoever waits, when the thread ends before the index is there.
struct Ended<'a>(&'a View);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if matches!(*self.0.indexed().borrow(), Indexed::Behind(_)) {
            self.0.set_indexed(Indexed::Failed("nobody reads them any more".to_owned()));
        }
    }
}

struct Indexer {
    engine: Arc<dyn Engine>,
    field: FieldName,
    view: Arc<View>,
    stop: Arc<AtomicBool>,
    /// Nobody holds the other end once the Field is gone.
    jobs: mpsc::WeakSender<Job>,
}

impl Indexer {
    /// Reads until the index is there, or nobody wants it any more. A log that is away, or behind what it was, is waited for.
    fn run(&self) -> Result<(), EngineError> {
        while !self.view.is_indexed() && !self.is_stopped() {
            let Some(turn) = Turn::take(&|| self.is_stopped()) else { return Ok(()) };
            let before = self.position();
            let trouble = match self.read_on() {
                Ok(()) => None,
                Err(EngineError::Damaged(damage)) if damage == enough() => None,
                Err(error @ (EngineError::Damaged(_) | EngineError::UnknownField { .. })) => {
                    return Err(error);
                }
                Err(error) => Some(with_causes(&error)),
            };
            if let Some(trouble) = &trouble {
                tracing::warn!(field = %self.field, error = trouble, "cannot read the texts");
            }
            if self.view.is_indexed() {
                return Ok(());
            }
            let stands_still = self.position() == before;
            self.view.set_indexed(Indexed::Behind(trouble));
            drop(turn);
            if stands_still && !self.is_stopped() {
                thread::park_timeout(INDEX_RETRY);
            }
        }
        Ok(())
    }

    fn position(&self) -> Option<u64> {
        self.view.read().unindexed.as_ref().map(|behind| behind.after.position)
    }

    fn read_on(&self) -> Result<(), EngineError> {
        let (mut after, until) = {
            let published = self.view.read();
            let Some(behind) = &published.unindexed else { return Ok(()) };
            (behind.after, published.head.position)
        };
        let range = (after.position, until);
        let engine = self.engine.as_ref();
        read_ahead(engine, &self.field, range, Pace::Alone, &prepare, &mut |page| {
            let mut followed = Vec::with_capacity(page.len());
            for checked in page {
                let (commit, read) = Checked::<Decoded>::follow(checked, &after)?;
                after = commit.head();
                followed.push((commit, read));
            }
            self.add(&followed)?;
            // What came meanwhile may be much, too, and is read ahead again.
            if after.position < until { Ok(after.position) } else { Err(enough().into()) }
        })
    }

    /// Adds what a page recorded, a few units at a time: others wait meanwhile.
    fn add(&self, page: &[Followed]) -> Result<(), Damage> {
        let mut rest = page;
        while !rest.is_empty() {
            let mut units = 0;
            let some = rest.iter().position(|(_, read)| {
                units += read.words.len().max(1);
                units >= INDEX_AT_ONCE
            });
            let (some, behind) = rest.split_at(some.map_or(rest.len(), |last| last + 1));
            if self.is_stopped() || self.view.index(some)? {
                return Err(enough());
            }
            rest = behind;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.jobs.strong_count() == 0
    }
}

fn enough() -> Damage {
    Damage::storage("read far enough")
}

/// The right to read texts: a process that opens many Fields at once does not read all of them at once.
struct Turn;

static READING: Mutex<usize> = Mutex::new(0);
static READ: Condvar = Condvar::new();

impl Turn {
    /// Waits for it; none where nobody wants it any more.
    fn take(is_over: &dyn Fn() -> bool) -> Option<Self> {
        let mut reading = READING.lock().unwrap_or_else(PoisonError::into_inner);
        while *reading >= INDEXING_FIELDS_MAX {
            if is_over() {
                return None;
            }
            let waited = READ.wait_timeout(reading, INDEX_RETRY);
            reading = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *reading += 1;
        Some(Self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *READING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        READ.notify_one();
    }
}
