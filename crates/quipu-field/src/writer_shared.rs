//! The writer where other nodes append to the same log: it follows them, and where one of them was faster it
//! catches up and decides the same commands again. The engine's compare-and-set decides who was first; nothing
//! here is needed for safety but the check of every commit that another node wrote.

use std::{sync::Arc, thread, time::Duration};

use quipu_log::{
    Checked, Commit, Damage, DamageKind, Engine, EngineError, FieldName, Head, Pace, Turn,
    read_ahead,
};
use quipu_wire::{ErrorCode, ProtocolError};
use tokio::sync::{oneshot, watch};

use crate::{
    apply::apply,
    bodies::Bodies,
    command::{Action, Command},
    failure::{storage_failure, with_causes},
    limits::{
        BEHIND_LOOKS, BEHIND_PAUSE, CONFLICTS_MAX, OTHERS_EXPECTED_BATCHES, READ_PAGE,
        SETTLE_ATTEMPTS, SETTLE_PAUSE, YIELD_WAIT,
    },
    meter::Stopwatch,
    origin::{Origin, SystemOrigin},
    restore::{Read, prepare},
    writer::{Answer, Asked, Batch, Setback, Writer},
};

/// Somebody who waits until this node has looked for a position, and is told if it could not.
pub(crate) type Look = (u64, oneshot::Sender<Result<(), ProtocolError>>);

/// What a writer knows of the other nodes.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Tells whoever waits for a position how far this node has come.
    pub(crate) reached: Arc<watch::Sender<u64>>,
    /// Keeps the texts of what was published.
    pub(crate) bodies: Arc<Bodies>,
    /// For how many more batches others are expected to append too.
    expected: u32,
    /// Whether the last append was ours.
    won: bool,
    /// Whether it is our turn, so that nobody else can append.
    turn: bool,
}

impl Shared {
    /// Nothing is known of others yet.
    pub(crate) const fn new(reached: Arc<watch::Sender<u64>>, bodies: Arc<Bodies>) -> Self {
        Self { reached, bodies, expected: 0, won: false, turn: false }
    }
}

impl Writer {
    /// Before a batch is decided: where others append too, it is decided on what they wrote. In a row, where
    /// the engine keeps one; else whoever won last leaves the log to the others for a moment, because
    /// it needs less time for its next append than they do.
    pub(crate) fn begin(&mut self) {
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
    }

    /// Waits for this node's turn, where there are turns, and catches up. Says whether it is our turn now.
    fn take_turn(&mut self, may_yield: bool) -> Result<bool, EngineError> {
        let watch = Stopwatch::start();
        match self.engine.take_turn(&self.field, &self.head)? {
            Some(Turn { head, news }) => {
                self.meter.took_turn(watch.elapsed());
                if let Some(shared) = &mut self.shared {
                    shared.turn = true;
                }
                self.receive(news)?;
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
        shared.turn = false;
        let mut appended = self.engine.append(&self.field, &self.head, commits);
        let mut pause = SETTLE_PAUSE;
        for _ in 1..SETTLE_ATTEMPTS {
            let Err(EngineError::Io { .. }) = &appended else { break };
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

    /// A batch without a commit: what it tells of what is not so rests on the newest state, or is decided again.
    pub(crate) fn confirm(&mut self, batch: &Batch) -> Result<(), Setback> {
        let in_turn = self.shared.as_ref().is_none_or(|shared| shared.turn);
        self.end_turn();
        let rests = |asked: &Asked| match &asked.answer {
            Answer::Known(outcome) => outcome.position.is_none(),
            Answer::Refused(..) => true,
            Answer::Committed(_) => false,
        };
        if in_turn || self.health.failure().is_some() || !batch.asked.iter().any(rests) {
            return Ok(());
        }
        match self.engine.head(&self.field) {
            Ok(actual) if actual == self.head => Ok(()),
            Ok(actual) => Err(Setback::Moved(actual)),
            Err(error) => Err(Setback::Failed(storage_failure(&error))),
        }
    }

    /// Another node was faster: back to what is durable, and on to what it wrote.
    pub(crate) fn recover(&mut self, actual: &Head, lost: usize) -> Result<(), ProtocolError> {
        self.abandon();
        if let Some(shared) = &mut self.shared {
            shared.expected = OTHERS_EXPECTED_BATCHES;
            shared.won = false;
        }
        if is_behind(actual, &self.head) {
            let behind = find_behind(self.engine.as_ref(), &self.field, &self.head);
            if let Some(damage) = behind.map_err(|error| storage_failure(&error))? {
                self.distrust(&damage);
                return self.health.check();
            }
        }
        if lost > CONFLICTS_MAX {
            let what = format!("other nodes were faster {CONFLICTS_MAX} times in a row");
            return Err(ProtocolError::new(ErrorCode::Overloaded, what));
        }
        let in_turn = self.take_turn(false);
        let caught_up = match in_turn {
            Ok(false) => self.catch_up(actual.position),
            other => other.map(|_| ()),
        };
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
        let mut state = self.view.read().state.clone();
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

    /// Looks for commits of others, for whoever waits for them.
    pub(crate) fn look_for_others(&mut self, looks: Vec<Look>) {
        for (position, reply) in looks {
            let reached = self.head.position >= position;
            reply.send(if reached { Ok(()) } else { self.look_on(position) }).ok();
        }
    }

    fn look_on(&mut self, until: u64) -> Result<(), ProtocolError> {
        self.health.check()?;
        self.catch_up(until).map_err(|error| {
            tracing::warn!(field = %self.field, error = with_causes(&error), "cannot follow the log");
            storage_failure(&error)
        })
    }

    /// Reads and applies what others appended, up to a position at least, as far as there is something.
    fn catch_up(&mut self, until: u64) -> Result<(), EngineError> {
        let caught_up = self.read_on(until);
        self.trusting(caught_up)
    }

    /// Applies what others appended.
    fn receive(&mut self, news: Vec<Commit>) -> Result<(), EngineError> {
        if news.is_empty() {
            return Ok(());
        }
        let news = news.into_iter().map(|commit| Checked::new(commit, &prepare)).collect();
        let received = self.follow(news);
        self.trusting(received)
    }

    /// A log that is not the one this node knows ends its writing for good.
    fn trusting(&mut self, outcome: Result<(), EngineError>) -> Result<(), EngineError> {
        match &outcome {
            Err(EngineError::Damaged(damage)) => self.distrust(damage),
            Err(EngineError::UnknownField { .. }) => {
                self.distrust(&went_back(&Head::EMPTY, &self.head));
            }
            _ => {}
        }
        outcome
    }

    fn read_on(&mut self, until: u64) -> Result<(), EngineError> {
        while self.head.position < until {
            let page = match self.engine.read(&self.field, self.head.position + 1, READ_PAGE) {
                Err(EngineError::UnknownField { .. }) if self.head == Head::EMPTY => return Ok(()),
                page => page?,
            };
            if page.is_empty() {
                return Ok(());
            }
            let many = page.len() == READ_PAGE;
            self.follow(page.into_iter().map(|commit| Checked::new(commit, &prepare)).collect())?;
            if many {
                self.read_far()?;
            }
        }
        Ok(())
    }

    /// Reads on where there is much to read: other threads read and prepare what comes next.
    fn read_far(&mut self) -> Result<(), EngineError> {
        let (engine, field) = (Arc::clone(&self.engine), self.field.clone());
        let missing = (self.head.position, engine.head(&field)?.position);
        // Whoever asks this node is told of the past until it has come up.
        read_ahead(engine.as_ref(), &field, missing, Pace::Alone, &prepare, &mut |page| {
            self.follow(page)?;
            Ok(self.head.position)
        })
    }

    fn follow(&mut self, page: Vec<Checked<Read>>) -> Result<(), EngineError> {
        let mut head = self.head;
        let (mut commits, mut headers, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for checked in page {
            let (commit, read) = checked.follow(&head)?;
            head = commit.head();
            if let Some(state) = &mut self.state {
                apply(state, &read.header).map_err(|wrong| {
                    Damage::new(wrong.position, DamageKind::HeaderUnreadable(wrong.what))
                })?;
            }
            self.time_ms = self.time_ms.max(read.header.time_ms);
            commits.push(commit);
            headers.push(read.header);
            words.push(read.words);
        }
        self.head = head;
        if let Some(shared) = &mut self.shared {
            shared.expected = OTHERS_EXPECTED_BATCHES;
        }
        self.publish(&commits, &headers, &words);
        // The time goes to the meter alone.
        let now_ms = SystemOrigin.now_ms();
        for header in &headers {
            let lag_ms = now_ms.saturating_sub(header.time_ms);
            self.meter.followed(Duration::from_millis(lag_ms));
        }
        Ok(())
    }

    fn distrust(&mut self, damage: &Damage) {
        self.state = None;
        self.end_turn();
        // A commit that follows the others and cannot be read is no fault of the log.
        let what = if let DamageKind::HeaderUnreadable(_) = damage.kind {
            "the log has a commit that this version cannot read, so a newer version wrote it"
        } else {
            "the log is not the one that this node knows"
        };
        self.health.fail(&format!("{what}: {damage}"));
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
    for _ in 0..BEHIND_LOOKS {
        if !is_behind(&actual, known) {
            return Ok(None);
        }
        thread::park_timeout(BEHIND_PAUSE);
        actual = engine.head(field)?;
    }
    Ok(is_behind(&actual, known).then(|| went_back(&actual, known)))
}

/// Whether a log that ends here cannot be one that had the other head.
fn is_behind(actual: &Head, known: &Head) -> bool {
    actual.position < known.position || (actual.position == known.position && actual != known)
}

/// What is wrong with such a log.
const fn went_back(actual: &Head, known: &Head) -> Damage {
    let (ends_at, acknowledged) = (actual.position, known.position);
    if ends_at < acknowledged {
        Damage::new(ends_at + 1, DamageKind::Truncated { ends_at, acknowledged })
    } else {
        Damage::new(ends_at, DamageKind::HashMismatch)
    }
}
