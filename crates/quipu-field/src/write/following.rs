//! Reads what other nodes appended to the same log, verifies it and publishes it, beside the writer: that may be waiting
//! for its turn to append. What the writer has read itself it hands over, and what it is appending is left to it, so
//! that hardly anything is read and prepared twice.

use std::{
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use quipu_log::{
    Checked, Damage, DamageKind, Engine, EngineError, FieldName, Head, Pace, read_ahead,
};

use crate::{
    base::{
        error::FieldError,
        failure::with_causes,
        limits::{ANSWER_WAIT, APPEND_WAIT, BEHIND_PAUSE, BEHIND_READS, READ_PAGE},
        meter::Meter,
        system_origin::SystemOrigin,
    },
    read::decoded::{Decoded, Followed, prepare},
    write::publication::Publication,
};
use quipu_core::Origin;

/// Follows the log of a Field that other nodes append to.
#[derive(Debug)]
pub(crate) struct Following {
    engine: Arc<dyn Engine>,
    field: FieldName,
    publication: Arc<Publication>,
    meter: Arc<dyn Meter>,
    /// Held by whoever reads.
    reading: Mutex<()>,
    with_writer: Mutex<WithWriter>,
    /// The writer has ended its append, whatever became of it.
    appended: Condvar,
    /// The highest position that somebody waits for.
    sought: AtomicU64,
    /// Held while somebody reads all there is: the others wait without a thread.
    looking: Arc<tokio::sync::Mutex<()>>,
}

/// What is arranged with the writer of this node.
#[derive(Debug, Default)]
struct WithWriter {
    /// What it has read of others.
    handed: Vec<Followed>,
    /// Where the batch begins that it is appending.
    appending: Option<u64>,
}

/// What comes behind what was read.
enum Next {
    /// Nothing that is wanted or there.
    Nothing,
    /// What the writer of this node appends at this position.
    Own(u64),
}

impl Following {
    pub(crate) fn new(
        engine: &Arc<dyn Engine>,
        field: &FieldName,
        publication: &Arc<Publication>,
        meter: &Arc<dyn Meter>,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine: Arc::clone(engine),
            field: field.clone(),
            publication: Arc::clone(publication),
            meter: Arc::clone(meter),
            reading: Mutex::default(),
            with_writer: Mutex::default(),
            appended: Condvar::new(),
            sought: AtomicU64::new(0),
            looking: Arc::default(),
        })
    }

    /// Reads up to a position, away from the threads that serve sockets. Whoever reads further reaches this one too, and
    /// where nobody can read, the follower will.
    pub(crate) fn seek(self: &Arc<Self>, position: u64) {
        let hale = self.publication.health().failure().is_none();
        if hale && self.sought.fetch_max(position, Ordering::Relaxed) < position {
            let following = Arc::clone(self);
            tokio::task::spawn_blocking(move || {
                // Said by the follower, which fails in the same way.
                following.catch_up(position).ok();
                let (done, none) = (Ordering::Relaxed, Ordering::Relaxed);
                following.sought.compare_exchange(position, 0, done, none).ok();
            });
        }
    }

    /// Reads everything that is in the log now, or says why it cannot.
    pub(crate) async fn seek_all(self: &Arc<Self>) -> Result<(), FieldError> {
        let looked = tokio::time::timeout(ANSWER_WAIT, self.catch_up_with_all()).await;
        looked.unwrap_or_else(|_| {
            Err(FieldError::OutcomeUnknown { unknown: "what others did is not known" })
        })
    }

    async fn catch_up_with_all(self: &Arc<Self>) -> Result<(), FieldError> {
        let looking = Arc::clone(&self.looking).lock_owned().await;
        self.publication.health().check()?;
        let following = Arc::clone(self);
        // Held until it has looked, also where nobody waits for that any more: the next one would look beside it.
        let looked = move || {
            let _looking = looking;
            following.catch_up_with_log()
        };
        match tokio::task::spawn_blocking(looked).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::warn!(field = %self.field, error = with_causes(&error), "cannot follow the log");
                Err(FieldError::from(error))
            }
            // It died, and the Field's health says so, or the server stops.
            Err(_) => self.publication.health().check(),
        }
    }

    /// Reads and publishes what others appended, up to a position at least, as far as there is something.
    pub(crate) fn catch_up(&self, until: u64) -> Result<(), EngineError> {
        let _guard = self.publication.health().fail_on_panic("whoever follows the log");
        let mut left_to_writer = true;
        loop {
            let next = {
                let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
                self.trusting(self.read_on(until, left_to_writer))?
            };
            // Nothing is held meanwhile: the writer may wait for what was read here.
            match next {
                Next::Nothing => return Ok(()),
                Next::Own(position) => left_to_writer = self.await_append(position),
            }
        }
    }

    /// Waits until what others appended up to a position is published.
    pub(crate) fn publish_up_to(&self, until: u64) -> Result<(), EngineError> {
        if self.head().position >= until { Ok(()) } else { self.catch_up(until) }
    }

    /// Reads and publishes everything that is in the log now. A log that went back is for the follower to notice, which
    /// checks more than once before it says so.
    fn catch_up_with_log(&self) -> Result<(), EngineError> {
        let head = self.engine.head(&self.field)?;
        self.catch_up(head.position)
    }

    /// The writer has read and verified what others appended.
    pub(crate) fn hand(&self, news: Vec<Followed>) {
        self.with_writer().handed = news;
    }

    pub(crate) fn begin_append(&self, position: u64) {
        self.with_writer().appending = Some(position);
    }

    /// The writer has ended that, and published what came of it.
    pub(crate) fn end_append(&self) {
        let appended = self.with_writer().appending.take();
        if appended.is_some() {
            self.appended.notify_all();
        }
    }

    fn with_writer(&self) -> MutexGuard<'_, WithWriter> {
        self.with_writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A log that is not the one this node knows ends its writing for good.
    pub(crate) fn trusting<T>(&self, outcome: Result<T, EngineError>) -> Result<T, EngineError> {
        match &outcome {
            Err(EngineError::Damaged(damage)) => self.distrust(damage),
            Err(EngineError::UnknownField { .. }) => {
                self.distrust(&went_back(&Head::EMPTY, &self.head()));
            }
            _ => {}
        }
        outcome
    }

    /// Ends this node's writing for good.
    pub(crate) fn distrust(&self, damage: &Damage) {
        // A commit that follows the others and cannot be read is no fault of the log.
        let what = if let DamageKind::HeaderUnreadable(_) = damage.kind {
            "the log has a commit that this version cannot read, so a newer version wrote it"
        } else {
            "the log is not the one that this node knows"
        };
        self.publication.health().fail(&format!("{what}: {damage}"));
    }

    fn head(&self) -> Head {
        self.publication.view().read().head
    }

    fn read_on(&self, until: u64, left_to_writer: bool) -> Result<Next, EngineError> {
        loop {
            let head = self.head();
            if head.position >= until {
                return Ok(Next::Nothing);
            }
            let handed = self.handed_behind(&head);
            if !handed.is_empty() {
                self.publish(handed)?;
                continue;
            }
            let appending = self.with_writer().appending.filter(|_| left_to_writer);
            let room = match appending {
                Some(own) if own == head.position + 1 => return Ok(Next::Own(own)),
                Some(own) if own > head.position => own - head.position - 1,
                // None, or one that is shown already.
                _ => u64::MAX,
            };
            let room = usize::try_from(room).map_or(READ_PAGE, |room| room.min(READ_PAGE));
            let page = match self.engine.read(&self.field, head.position + 1, room) {
                Err(EngineError::UnknownField { .. }) if head == Head::EMPTY => {
                    return Ok(Next::Nothing);
                }
                page => page?,
            };
            if page.is_empty() {
                return Ok(Next::Nothing);
            }
            let many = page.len() == READ_PAGE;
            let page = page.into_iter().map(|commit| Checked::new(commit, &prepare)).collect();
            self.follow(head, page)?;
            if many {
                self.read_far()?;
            }
        }
    }

    /// What the writer has read, where it begins behind this head.
    fn handed_behind(&self, head: &Head) -> Vec<Followed> {
        let mut handed = mem::take(&mut self.with_writer().handed);
        handed.retain(|(commit, _)| commit.position > head.position);
        let follows = handed.first().is_some_and(|(first, _)| first.position == head.position + 1);
        if follows { handed } else { Vec::new() }
    }

    /// Waits until the writer has ended an append, but not for long: its place may be somebody else's by now. Answers
    /// whether it has.
    fn await_append(&self, position: u64) -> bool {
        let arranged = self.with_writer();
        let appends = |arranged: &mut WithWriter| arranged.appending == Some(position);
        let waited = self.appended.wait_timeout_while(arranged, APPEND_WAIT, appends);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Reads on where there is much to read: other threads read and prepare what comes next.
    fn read_far(&self) -> Result<(), EngineError> {
        let mut head = self.head();
        let missing = (head.position, self.engine.head(&self.field)?.position);
        let engine = self.engine.as_ref();
        // Whoever asks this node is told of the past until it has come up.
        read_ahead(engine, &self.field, missing, Pace::Alone, &prepare, &mut |page| {
            head = self.follow(head, page)?;
            Ok(head.position)
        })
    }

    /// Checks that a page follows what is published, and publishes it.
    fn follow(&self, after: Head, page: Vec<Checked<Decoded>>) -> Result<Head, EngineError> {
        let mut head = after;
        let mut followed = Vec::with_capacity(page.len());
        for checked in page {
            let (commit, read) = checked.follow(&head)?;
            head = commit.head();
            followed.push((commit, read));
        }
        self.publish(followed)?;
        Ok(head)
    }

    fn publish(&self, page: Vec<Followed>) -> Result<(), EngineError> {
        let times = self.publication.publish_others(page)?;
        // The time goes to the meter alone.
        let now_ms = SystemOrigin.now_ms();
        for time_ms in times {
            self.meter.followed(Duration::from_millis(now_ms.saturating_sub(time_ms)));
        }
        Ok(())
    }
}

/// What is wrong with a log that does not have a head that it had, if it stays like that: a server of a cluster may
/// be behind the others for a moment.
pub(crate) fn find_behind(
    engine: &dyn Engine,
    field: &FieldName,
    known: &Head,
) -> Result<Option<Damage>, EngineError> {
    let mut actual = engine.head(field)?;
    for _ in 0..BEHIND_READS {
        if !is_behind(&actual, known) {
            return Ok(None);
        }
        thread::park_timeout(BEHIND_PAUSE);
        actual = engine.head(field)?;
    }
    Ok(is_behind(&actual, known).then(|| went_back(&actual, known)))
}

/// Whether a log that ends here cannot be one that had the other head.
pub(crate) fn is_behind(actual: &Head, known: &Head) -> bool {
    actual.position < known.position || (actual.position == known.position && actual != known)
}

const fn went_back(actual: &Head, known: &Head) -> Damage {
    let (ends_at, acknowledged) = (actual.position, known.position);
    if ends_at < acknowledged {
        Damage::new(ends_at + 1, DamageKind::Truncated { ends_at, acknowledged })
    } else {
        Damage::new(ends_at, DamageKind::HashMismatch)
    }
}
