//! The writer where other nodes append to the same log: it decides on what they wrote, and where one of them was faster it
//! decides the same commands again. `following.rs` reads and shows what they wrote beside it. The engine's
//! compare-and-set decides who was first; nothing here is needed for safety but the check of every commit that
//! another node wrote.

use std::{sync::Arc, thread};

use quipu_log::{Checked, Commit, Damage, DamageKind, EngineError, Head};
use quipu_wire::{ErrorCode, ProtocolError};

use crate::{
    base::{
        failure::{storage_failure, with_causes},
        limits::{
            ANSWER_WAIT, CONFLICTS_MAX, NEWS_MAX, OTHERS_EXPECTED_BATCHES, SETTLE_ATTEMPTS,
            SETTLE_PAUSE, YIELD_WAIT,
        },
        meter::Stopwatch,
    },
    read::decoded::decode,
    write::{
        following::{Following, find_behind, is_behind},
        writer::{Answer, Asked, Batch, Setback, Writer},
    },
};
use quipu_core::{
    apply::apply,
    rules::{Action, Command},
};

/// What a writer knows of the other nodes.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Shows what they wrote.
    following: Arc<Following>,
    /// For how many more batches others are expected to append too.
    expected: u32,
    /// Whether the last append was ours.
    won: bool,
    /// Whether it is our turn, so that nobody else can append.
    turn: bool,
}

impl Shared {
    /// Nothing is known of others yet.
    pub(crate) const fn new(following: Arc<Following>) -> Self {
        Self { following, expected: 0, won: false, turn: false }
    }
}

impl Writer {
    /// Before a batch is decided: where others append too, it is decided on what they wrote. In a row, where
    /// the engine keeps one; else whoever won last leaves the log to the others for a moment, because
    /// it needs less time for its next append than they do.
    pub(crate) fn begin(&mut self) {
        self.keep_up();
        let Some(shared) = &mut self.shared else { return };
        if shared.expected == 0 || self.health.failure().is_some() {
            return;
        }
        shared.expected -= 1;
        let won = shared.won;
        if let Err(error) = self.take_turn(won) {
            self.end_turn();
            tracing::debug!(field = %self.field, error = with_causes(&error), "no turn");
        }
        self.rest_on_view();
    }

    /// Waits for this node's turn, where there are turns, and catches up. Says whether it is our turn now.
    fn take_turn(&mut self, may_yield: bool) -> Result<bool, EngineError> {
        let watch = Stopwatch::start();
        match self.engine.take_turn(&self.field, &self.head)? {
            Some(head) => {
                self.meter.took_turn(watch.elapsed());
                if let Some(shared) = &mut self.shared {
                    shared.turn = true;
                }
                // Most of what others appended meanwhile is shown already.
                self.keep_up();
                if head.position.saturating_sub(self.head.position) <= NEWS_MAX {
                    self.read_news(&head)?;
                }
                if self.head == head {
                    return Ok(true);
                }
                // So far behind that others should not wait for it.
                self.end_turn();
                self.catch_up(head.position)?;
            }
            None if may_yield => {
                let position = self.head.position;
                let reached = self.engine.wait_past(&self.field, position, YIELD_WAIT)?;
                self.catch_up(reached)?;
            }
            None => {}
        }
        Ok(false)
    }

    fn end_turn(&mut self) {
        if let Some(shared) = &mut self.shared
            && shared.turn
        {
            shared.turn = false;
            self.engine.end_turn(&self.field);
        }
    }

    /// Appends. An append whose outcome is unknown is sent again as it is: it says what it follows, so it cannot
    /// happen twice, and the second answer says what became of the first.
    pub(crate) fn append(&mut self, commits: &[Commit]) -> Result<Head, EngineError> {
        let Some(shared) = &mut self.shared else {
            return self.engine.append(&self.field, &self.head, commits);
        };
        let watch = Stopwatch::start();
        shared.turn = false;
        shared.following.begin_append(self.head.position + 1);
        let mut appended = self.engine.append(&self.field, &self.head, commits);
        let mut pause = SETTLE_PAUSE;
        for _ in 1..SETTLE_ATTEMPTS {
            let Err(EngineError::Io { .. }) = &appended else { break };
            if watch.elapsed() > ANSWER_WAIT {
                break;
            }
            thread::park_timeout(pause);
            pause *= 2;
            appended = match self.engine.append(&self.field, &self.head, commits) {
                Err(EngineError::HeadMoved { actual }) => self.find(commits, actual),
                // Nothing was written this time, and nobody knows what was the first time.
                Err(EngineError::Unavailable { action, source }) => {
                    Err(EngineError::Io { action, source })
                }
                other => other,
            };
        }
        if let Some(shared) = &mut self.shared {
            shared.won = appended.is_ok();
        }
        appended
    }

    /// Whether a batch is what moved the head.
    fn find(&self, commits: &[Commit], actual: Head) -> Result<Head, EngineError> {
        let Some(last) = commits.last().map(Commit::head) else {
            return Err(EngineError::HeadMoved { actual });
        };
        let found = self.engine.read(&self.field, last.position, 1)?;
        let ours = found.first().is_some_and(|commit| commit.head() == last);
        if ours { Ok(last) } else { Err(EngineError::HeadMoved { actual }) }
    }

    /// A batch without a commit: what it tells of what is not so rests on the newest state, or is decided again. A turn does
    /// not say what is the newest: where nodes tell each other, one that was cut off has not heard of all.
    pub(crate) fn confirm(&mut self, batch: &Batch) -> Result<(), Setback> {
        let rests = |asked: &Asked| match &asked.answer {
            Answer::Known(outcome) => outcome.position.is_none(),
            Answer::Refused(..) => true,
            Answer::Committed(_) => false,
        };
        let alone = self.shared.is_none() || self.health.failure().is_some();
        if alone || !batch.asked.iter().any(rests) {
            self.end_turn();
            return Ok(());
        }
        // Looked up while others wait, where they do, so that it does not come too late again and again.
        let actual = self.engine.head(&self.field);
        self.end_turn();
        match actual {
            Ok(actual) if actual == self.head => Ok(()),
            Ok(actual) => Err(Setback::Moved(actual)),
            Err(error) => Err(Setback::Failed(storage_failure(&error))),
        }
    }

    /// Another node was faster: back to what is durable, and on to what it wrote.
    pub(crate) fn recover(&mut self, actual: &Head, lost: usize) -> Result<(), ProtocolError> {
        self.end_append();
        let known = self.head;
        self.abandon();
        if let Some(shared) = &mut self.shared {
            shared.expected = OTHERS_EXPECTED_BATCHES;
            shared.won = false;
        }
        if is_behind(actual, &known) {
            let behind = find_behind(self.engine.as_ref(), &self.field, &known);
            if let Some(damage) = behind.map_err(|error| storage_failure(&error))? {
                self.distrust(&damage);
                return self.health.check();
            }
        }
        if lost > CONFLICTS_MAX {
            let what = format!("other nodes were faster {CONFLICTS_MAX} times in a row");
            return Err(ProtocolError::new(ErrorCode::Overloaded, what));
        }
        // A turn can tell an old head, so it is not enough.
        let caught_up = match self.take_turn(false) {
            Ok(in_turn) if !in_turn || self.head.position < actual.position => {
                self.catch_up(actual.position)
            }
            other => other.map(|_| ()),
        };
        self.rest_on_view();
        caught_up.map_err(|error| {
            self.end_turn();
            storage_failure(&error)
        })?;
        self.health.check()
    }

    /// Decides the commands of a batch that came too late once more.
    pub(crate) fn decide_again(&mut self, lost: Batch) -> Batch {
        let mut batch = Batch::default();
        for Asked { command, reply, .. } in lost.asked {
            if let Some(command) = command {
                self.take(command, reply, &mut batch);
            }
        }
        batch
    }

    /// Makes a state that knows of the batch, where there is none and one is needed.
    pub(crate) fn own_state(&mut self, batch: &Batch) {
        if self.shared.is_none() || self.state.is_some() || batch.commits.is_empty() {
            return;
        }
        let mut state = {
            let published = self.view.read();
            // Others were faster already: whatever is decided now comes too late, and is decided again.
            if published.head != self.head {
                return;
            }
            published.state.clone()
        };
        for header in &batch.headers {
            if let Err(wrong) = apply(&mut state, header) {
                self.health.fail(&format!("a decision could not be applied: {wrong}"));
                return;
            }
        }
        self.state = Some(state);
    }

    /// Whether the log need not be told of an epoch that a read brought, because others told it meanwhile.
    pub(crate) fn is_told_already(&self, command: &Command) -> bool {
        let received = command.message.epoch;
        self.shared.is_some()
            && matches!(command.action, Action::AdvanceClock(_))
            && matches!(self.clock.must_log_before_read(received), Ok(false))
    }

    /// Takes note of what was published beside it.
    pub(crate) fn keep_up(&mut self) {
        let Some(shared) = &mut self.shared else { return };
        let missed = self.publication.missed();
        self.time_ms = self.time_ms.max(missed.time_ms);
        if missed.head.position <= self.head.position {
            return;
        }
        shared.expected = OTHERS_EXPECTED_BATCHES;
        let known = self.head.position;
        self.head = missed.head;
        let (Some(state), Some(headers)) = (&mut self.state, missed.headers) else {
            self.state = None;
            return;
        };
        let mut news = headers.iter().filter(|(head, _)| head.position > known);
        // Readers see them applied, so they can be.
        if !news.all(|(_, header)| apply(state, header).is_ok()) {
            self.state = None;
        }
    }

    /// A writer without a state of its own decides on what readers see, and appends behind that.
    pub(crate) fn rest_on_view(&mut self) {
        if self.shared.is_some() && self.state.is_none() {
            let missed = self.publication.missed();
            self.head = missed.head;
            self.time_ms = self.time_ms.max(missed.time_ms);
        }
    }

    /// Waits until what others appended is shown here, up to a position at least, as far as there is something.
    fn catch_up(&mut self, until: u64) -> Result<(), EngineError> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let caught_up = shared.following.catch_up(until);
        if self.health.failure().is_some() {
            self.lose_trust();
        }
        self.keep_up();
        caught_up
    }

    /// Reads what is missing up to a head, so that the next batch can be decided. It is shown meanwhile.
    fn read_news(&mut self, head: &Head) -> Result<(), EngineError> {
        let missing = head.position.saturating_sub(self.head.position);
        let Ok(missing @ 1..) = usize::try_from(missing) else { return Ok(()) };
        let news = self.engine.read(&self.field, self.head.position + 1, missing)?;
        let received = self.apply_news(news);
        let Some(shared) = &mut self.shared else { return Ok(()) };
        shared.expected = OTHERS_EXPECTED_BATCHES;
        let received = shared.following.trusting(received);
        if received.is_err() {
            self.lose_trust();
        }
        // What it decides on then is what readers see.
        if self.state.is_none() {
            received.and_then(|()| self.show_news(self.head.position))
        } else {
            received
        }
    }

    fn apply_news(&mut self, news: Vec<Commit>) -> Result<(), EngineError> {
        let mut followed = Vec::with_capacity(news.len());
        for commit in news {
            let (commit, read) = Checked::new(commit, &decode).follow(&self.head)?;
            if let Some(state) = &mut self.state {
                apply(state, &read.header).map_err(|wrong| {
                    Damage::new(wrong.position, DamageKind::HeaderUnreadable(wrong.what))
                })?;
            }
            self.head = commit.head();
            self.clock.heard(self.head.epoch);
            self.time_ms = self.time_ms.max(read.header.time_ms);
            followed.push((commit, read));
        }
        if let Some(shared) = &self.shared {
            shared.following.hand(followed);
        }
        Ok(())
    }

    /// Waits until what others appended up to a position is shown.
    pub(crate) fn show_news(&self, until: u64) -> Result<(), EngineError> {
        let Some(shared) = &self.shared else { return Ok(()) };
        if self.view.read().head.position >= until {
            return Ok(());
        }
        shared.following.catch_up(until)
    }

    /// What was appended is shown, or was not appended.
    pub(crate) fn end_append(&self) {
        if let Some(shared) = &self.shared {
            shared.following.end_append();
        }
    }

    fn distrust(&mut self, damage: &Damage) {
        if let Some(shared) = &self.shared {
            shared.following.distrust(damage);
        }
        self.lose_trust();
    }

    fn lose_trust(&mut self) {
        self.state = None;
        self.end_turn();
    }
}
