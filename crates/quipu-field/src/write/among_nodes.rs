//! The writer among other nodes that append to the same log: it decides on what they wrote, and where one of them was faster
//! it decides the same commands again. `following.rs` reads and publishes what they wrote, beside the writer. The engine's
//! compare-and-set decides who was first; nothing here is needed for safety but the check of every commit that
//! another node wrote.

use std::{sync::Arc, thread};

use quipu_core::apply::apply;
use quipu_log::{Checked, Commit, Damage, DamageKind, EngineError, Head};

use crate::{
    base::{
        error::{FieldError, Overload},
        failure::with_causes,
        limits::{
            ANSWER_WAIT, BATCH_COMMANDS_MAX, CONFLICTS_MAX, NEWS_MAX, OTHERS_EXPECTED_BATCHES,
            SETTLE_ATTEMPTS, SETTLE_PAUSE, YIELD_WAIT,
        },
        meter::Stopwatch,
    },
    read::decoded::decode,
    write::{
        batch::Batch,
        following::{Following, find_behind, is_behind},
        log_end::LogEnd,
        neighbours::{Neighbours, Setback},
    },
};

#[derive(Debug)]
pub(crate) struct AmongNodes {
    /// Publishes what they wrote.
    following: Arc<Following>,
    /// For how many more batches others are expected to append too.
    expected: u32,
    /// Whether the last append was ours.
    won: bool,
    /// Whether it is our turn, so that nobody else can append.
    turn: bool,
    /// How often others were faster during this batch.
    lost: usize,
}

impl Neighbours for AmongNodes {
    fn keep_up(&mut self, end: &mut LogEnd) {
        let missed = end.publication.missed();
        end.time_ms = end.time_ms.max(missed.time_ms);
        if missed.head.position <= end.head.position {
            return;
        }
        self.expected = OTHERS_EXPECTED_BATCHES;
        let known = end.head.position;
        end.head = missed.head;
        let (Some(state), Some(headers)) = (&mut end.state, missed.headers) else {
            end.state = None;
            return;
        };
        let mut news = headers.iter().filter(|(head, _)| head.position > known);
        // Readers see them applied, so they can be.
        if !news.all(|(_, header)| apply(state, header).is_ok()) {
            end.state = None;
        }
    }

    /// A batch is decided on what others wrote. In a row, where the engine keeps one; else whoever won last leaves the log
    /// to the others for a moment, because it needs less time for its next append than they do.
    fn begin_batch(&mut self, end: &mut LogEnd) {
        self.lost = 0;
        self.keep_up(end);
        if self.expected == 0 || end.health.failure().is_some() {
            return;
        }
        self.expected -= 1;
        if let Err(error) = self.take_turn(end, self.won) {
            self.end_turn(end);
            tracing::debug!(field = %end.field, error = with_causes(&error), "no turn");
        }
        end.follow_view();
    }

    /// A state that has the batch so far is made when a second command needs it: it is lost with every batch that comes too
    /// late.
    fn batch_limit(&self, _: &LogEnd) -> usize {
        BATCH_COMMANDS_MAX
    }

    fn may_be_overtaken(&self) -> bool {
        true
    }

    fn append(&mut self, end: &mut LogEnd, commits: &[Commit]) -> Result<Head, Setback> {
        let watch = Stopwatch::start();
        let before = end.head.position;
        self.turn = false;
        self.following.begin_append(before + 1);
        let appended = self.append_until_settled(end, commits, &watch);
        self.won = appended.is_ok();
        let setback = match appended {
            Ok(head) => {
                end.meter.appended(commits.len(), watch.elapsed());
                match self.publish_up_to(end, before) {
                    Ok(()) => return Ok(head),
                    // What is durable is found again by whoever follows.
                    Err(setback) => setback,
                }
            }
            Err(EngineError::HeadMoved { actual }) => {
                end.meter.conflicted();
                return Err(self.recover(end, &actual));
            }
            Err(error) => {
                let is_survivable = is_survivable(&error);
                Setback::Failed(end.give_up(error, is_survivable))
            }
        };
        self.following.end_append();
        Err(setback)
    }

    /// An answer that something is not there must rest on the newest state, or is decided again. A turn does not say what is
    /// the newest: where nodes inform each other, one that was cut off has not heard of all.
    fn confirm(&mut self, end: &mut LogEnd, batch: &Batch) -> Result<(), Setback> {
        if end.health.failure().is_none() && batch.rests_on_newest_state() {
            // Looked up while others wait, where they do, so that it does not come too late again and again.
            let actual = end.engine.head(&end.field);
            self.end_turn(end);
            let actual = actual.map_err(|error| Setback::Failed(error.into()))?;
            if actual != end.head {
                return Err(self.recover(end, &actual));
            }
        }
        self.end_turn(end);
        self.publish_up_to(end, end.head.position)
    }

    fn published(&mut self, _: &mut LogEnd) {
        self.following.end_append();
    }
}

impl AmongNodes {
    /// Nothing is known of others yet.
    pub(crate) const fn new(following: Arc<Following>) -> Self {
        Self { following, expected: 0, won: false, turn: false, lost: 0 }
    }

    /// Waits for this node's turn, where there are turns, and catches up. Answers whether it is our turn now.
    fn take_turn(&mut self, end: &mut LogEnd, may_yield: bool) -> Result<bool, EngineError> {
        let watch = Stopwatch::start();
        match end.engine.take_turn(&end.field, &end.head)? {
            Some(head) => {
                end.meter.took_turn(watch.elapsed());
                self.turn = true;
                // Most of what others appended meanwhile is published already.
                self.keep_up(end);
                if head.position.saturating_sub(end.head.position) <= NEWS_MAX {
                    self.read_news(end, &head)?;
                }
                if end.head == head {
                    return Ok(true);
                }
                // So far behind that others should not wait for it.
                self.end_turn(end);
                self.catch_up(end, head.position)?;
            }
            None if may_yield => {
                let reached = end.engine.wait_past(&end.field, end.head.position, YIELD_WAIT)?;
                self.catch_up(end, reached)?;
            }
            None => {}
        }
        Ok(false)
    }

    fn end_turn(&mut self, end: &LogEnd) {
        if self.turn {
            self.turn = false;
            end.engine.end_turn(&end.field);
        }
    }

    /// An append whose outcome is unknown is sent again as it is: it says what it follows, so it cannot happen twice, and
    /// the second answer says what became of the first.
    fn append_until_settled(
        &self,
        end: &LogEnd,
        commits: &[Commit],
        watch: &Stopwatch,
    ) -> Result<Head, EngineError> {
        let mut appended = end.engine.append(&end.field, &end.head, commits);
        let mut pause = SETTLE_PAUSE;
        for _ in 1..SETTLE_ATTEMPTS {
            let Err(EngineError::Io { .. }) = &appended else { break };
            if watch.elapsed() > ANSWER_WAIT {
                break;
            }
            thread::park_timeout(pause);
            pause *= 2;
            appended = match end.engine.append(&end.field, &end.head, commits) {
                Err(EngineError::HeadMoved { actual }) => find_batch(end, commits, actual),
                // Nothing was written this time, and nobody knows what was the first time.
                Err(EngineError::Unavailable { action, source }) => {
                    Err(EngineError::Io { action, source })
                }
                other => other,
            };
        }
        appended
    }

    /// Another node was faster: back to what is durable, and on to what it wrote.
    fn recover(&mut self, end: &mut LogEnd, actual: &Head) -> Setback {
        self.following.end_append();
        self.lost += 1;
        match self.move_on(end, actual) {
            Ok(()) => Setback::Overtaken,
            Err(error) => Setback::Failed(error),
        }
    }

    fn move_on(&mut self, end: &mut LogEnd, actual: &Head) -> Result<(), FieldError> {
        let known = end.head;
        end.abandon();
        self.expected = OTHERS_EXPECTED_BATCHES;
        self.won = false;
        if is_behind(actual, &known) {
            let behind = find_behind(end.engine.as_ref(), &end.field, &known);
            if let Some(damage) = behind? {
                self.following.distrust(&damage);
                self.lose_trust(end);
                return end.health.check();
            }
        }
        if self.lost > CONFLICTS_MAX {
            return Err(Overload::OthersFaster.into());
        }
        // The head that a turn names may be old, so it is not enough.
        let caught_up = match self.take_turn(end, false) {
            Ok(in_turn) if !in_turn || end.head.position < actual.position => {
                self.catch_up(end, actual.position)
            }
            other => other.map(|_| ()),
        };
        end.follow_view();
        caught_up.map_err(|error| {
            self.end_turn(end);
            FieldError::from(error)
        })?;
        end.health.check()
    }

    /// Waits until what others appended is published here, up to a position at least, as far as there is something.
    fn catch_up(&mut self, end: &mut LogEnd, until: u64) -> Result<(), EngineError> {
        let caught_up = self.following.catch_up(until);
        if end.health.failure().is_some() {
            self.lose_trust(end);
        }
        self.keep_up(end);
        caught_up
    }

    /// Reads what is missing up to a head, so that the next batch can be decided. It is published meanwhile.
    fn read_news(&mut self, end: &mut LogEnd, head: &Head) -> Result<(), EngineError> {
        let missing = head.position.saturating_sub(end.head.position);
        let Ok(missing @ 1..) = usize::try_from(missing) else { return Ok(()) };
        let news = end.engine.read(&end.field, end.head.position + 1, missing)?;
        let received = self.apply_news(end, news);
        self.expected = OTHERS_EXPECTED_BATCHES;
        let received = self.following.trusting(received);
        if received.is_err() {
            self.lose_trust(end);
        }
        // What it decides on then is what readers see.
        if end.state.is_none() {
            received.and_then(|()| self.following.publish_up_to(end.head.position))
        } else {
            received
        }
    }

    fn apply_news(&self, end: &mut LogEnd, news: Vec<Commit>) -> Result<(), EngineError> {
        let mut followed = Vec::with_capacity(news.len());
        for commit in news {
            let (commit, decoded) = Checked::new(commit, &decode).follow(&end.head)?;
            if let Some(state) = &mut end.state {
                apply(state, &decoded.header).map_err(|wrong| {
                    Damage::new(wrong.position, DamageKind::HeaderUnreadable(wrong.what))
                })?;
            }
            end.head = commit.head();
            end.clock.observe(end.head.epoch);
            end.time_ms = end.time_ms.max(decoded.header.time_ms);
            followed.push((commit, decoded));
        }
        self.following.hand(followed);
        Ok(())
    }

    /// Waits until what others appended up to a position is published.
    fn publish_up_to(&self, end: &mut LogEnd, until: u64) -> Result<(), Setback> {
        self.following.publish_up_to(until).map_err(|error| {
            end.abandon();
            Setback::Failed(error.into())
        })
    }

    fn lose_trust(&mut self, end: &mut LogEnd) {
        end.state = None;
        self.end_turn(end);
    }
}

/// Whether a batch is what moved the head.
fn find_batch(end: &LogEnd, commits: &[Commit], actual: Head) -> Result<Head, EngineError> {
    let Some(last) = commits.last().map(Commit::head) else {
        return Err(EngineError::HeadMoved { actual });
    };
    let found = end.engine.read(&end.field, last.position, 1)?;
    let is_ours = found.first().is_some_and(|commit| commit.head() == last);
    if is_ours { Ok(last) } else { Err(EngineError::HeadMoved { actual }) }
}

/// Whether the writer may go on after this failure of an append. An unknown outcome is known as soon as the log can be read
/// again: every append says what it follows.
const fn is_survivable(error: &EngineError) -> bool {
    match error {
        EngineError::Full
        | EngineError::Unavailable { .. }
        | EngineError::Io { .. }
        | EngineError::HeadMoved { .. }
        // A copy that is opened takes writes; whoever has a shared log to himself cannot be moved beneath.
        | EngineError::Sealed { .. } => true,
        EngineError::Poisoned { .. }
        | EngineError::Damaged(_)
        | EngineError::UnknownField { .. }
        | EngineError::InvalidBatch { .. } => false,
    }
}
