//! The recent commits, ready for subscribers. A thread of its own follows the log behind the writer, makes
//! each commit ready once, keeps the recent ones, and wakes whoever waits. While nobody listens it is not
//! even woken: the first to listen brings up to date what was announced. What is not here any more is
//! read from the log again.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use quipu_log::{Engine, EngineError, FieldName, StoredHeader};
use serde::de::IgnoredAny;

use super::{
    heads::{Announced, Heads, Listening},
    notices::Entity,
    prepared::{Prepared, PreparedNotice, prepare},
};
use crate::{
    base::{
        failure::with_causes,
        limits::{PUSH_PAGE, PUSH_TAIL_BYTES},
        turns::Turns,
    },
    read::{bodies::Bodies, view::View},
};
use quipu_wire::akashik::SubscriptionEvent;

use quipu_core::{
    State,
    visibility::{Speaker, may_enter, may_see},
};

/// The recent commits of a Field.
#[derive(Debug)]
pub(crate) struct Tail {
    engine: Arc<dyn Engine>,
    field: FieldName,
    view: Arc<View>,
    bodies: Bodies,
    published: Mutex<Published>,
    moved: Condvar,
    recent: Mutex<Recent>,
    heads: Arc<Heads>,
    /// The turns of whoever reads this Field.
    pub(crate) turns: Arc<Turns>,
}

#[derive(Debug)]
struct Published {
    position: u64,
    closed: bool,
    /// Whether the thread follows. If not, what was announced is behind, and nobody waits for it.
    followed: bool,
}

/// Commits that follow each other without a gap.
#[derive(Debug, Default)]
struct Recent {
    commits: VecDeque<Arc<Prepared>>,
    bytes: usize,
}

/// The writer's end of the tail. The thread behind it stops when it is dropped.
#[derive(Debug)]
pub(crate) struct TailFeed(Arc<Tail>);

impl TailFeed {
    pub(crate) const fn new(tail: Arc<Tail>) -> Self {
        Self(tail)
    }

    /// Says that everything up to here is durable and published.
    pub(crate) fn published(&self, position: u64) {
        let mut published = lock(&self.0.published);
        published.position = position;
        let followed = published.followed;
        drop(published);
        // Waking a thread costs the writer as much as a small commit, so it is done only where it is of use.
        if followed {
            self.0.moved.notify_one();
        }
    }
}

impl Drop for TailFeed {
    fn drop(&mut self) {
        lock(&self.0.published).closed = true;
        self.0.moved.notify_one();
    }
}

/// The session that a notice belongs to. A task's is its own, wherever that is said which moves it; that of an offer is
/// where it was made, for a name that need not be a task's.
fn session_of<'a>(state: &'a State, notice: &'a PreparedNotice) -> Option<&'a str> {
    let within = notice.session.as_deref();
    let is_offer = notice.notice.event == SubscriptionEvent::HandoffIncoming;
    match &notice.notice.entity {
        Entity::Task(task) if !is_offer => {
            state.tasks.get(task).map_or(within, |task| task.session.as_deref())
        }
        Entity::Task(_)
        | Entity::Session(_)
        | Entity::Unit(_)
        | Entity::Conflict(_)
        | Entity::Agent(_) => within,
    }
}

impl Tail {
    /// Whether an agent may learn what a notice says, by its role and authority now.
    pub(super) fn may_notify(&self, speaker: Speaker<'_>, notice: &PreparedNotice) -> bool {
        let state = &self.view.read().state;
        let sees = |unit: u32| {
            // What belongs to no session is seen by all, and there are many to ask for.
            let Some(session) = state.units.session_of(unit) else { return true };
            may_see(state, speaker, Some(state.names.text(session)), unit)
        };
        match &notice.notice.entity {
            Entity::Unit(unit) => state.units.find(*unit).is_some_and(sees),
            Entity::Conflict(conflict) => state
                .conflicts
                .get(*conflict)
                .is_some_and(|entry| sees(entry.unit_a) && sees(entry.unit_b)),
            Entity::Agent(_) => true,
            Entity::Task(_) | Entity::Session(_) => {
                may_enter(state, speaker, session_of(state, notice)).is_ok()
            }
        }
    }

    /// A tail that starts behind the last durable commit.
    pub(crate) fn new(
        engine: Arc<dyn Engine>,
        field: FieldName,
        view: Arc<View>,
        position: u64,
        turns: Option<Arc<Turns>>,
    ) -> Self {
        Self {
            turns: turns.unwrap_or_else(|| Turns::of_machine(engine.is_shared())),
            bodies: Bodies::new(Arc::clone(&engine), field.clone()),
            engine,
            field,
            view,
            published: Mutex::new(Published { position, closed: false, followed: false }),
            moved: Condvar::new(),
            recent: Mutex::default(),
            heads: Arc::new(Heads::new(position)),
        }
    }

    /// Learns of every move of the head. It never runs ahead of what is durable.
    pub(super) fn listen(&self) -> Listening {
        let mut published = lock(&self.published);
        // Nobody else waits for what happened before, so nobody misses it.
        if !self.heads.has_listeners() {
            published.followed = true;
            self.heads.announce(published.position);
        }
        self.heads.listen()
    }

    pub(crate) fn has_listeners(&self) -> bool {
        self.heads.has_listeners()
    }

    /// Waits until something behind a position is announced, or there will be no more.
    pub(crate) async fn beyond(&self, position: u64) -> Announced {
        let listening = self.listen();
        poll_fn(|cx| {
            let announced = listening.poll(cx, position.saturating_add(1));
            let there = announced.position > position || announced.closed;
            if there { Poll::Ready(announced) } else { Poll::Pending }
        })
        .await
    }

    /// The last commit that is durable. The head may be a little behind.
    pub(crate) fn durable(&self) -> u64 {
        lock(&self.published).position
    }

    /// Follows the writer until it is gone.
    pub(crate) fn run(&self) {
        while let Some((reached, position)) = self.next() {
            let reached = self.advance(reached, position);
            self.heads.announce(reached);
        }
        self.heads.close();
    }

    /// Waits for commits that somebody listens for: behind the first position, up to the second.
    fn next(&self) -> Option<(u64, u64)> {
        let mut published = lock(&self.published);
        loop {
            if published.followed && !self.heads.has_listeners() {
                published.followed = false;
                *lock(&self.recent) = Recent::default();
            }
            let reached = self.heads.announced().position;
            if published.followed && published.position > reached {
                return Some((reached, published.position));
            }
            if published.closed {
                return None;
            }
            published = self.moved.wait(published).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes the next commits ready. What cannot be read is left to the subscribers, who learn why.
    fn advance(&self, reached: u64, position: u64) -> u64 {
        match self.load(reached + 1, position) {
            Ok(page) => {
                let last = page.last().map_or(position, |commit| commit.position);
                lock(&self.recent).extend(page);
                last
            }
            Err(error) => {
                tracing::error!(field = %self.field, error = with_causes(&error), "push failed");
                *lock(&self.recent) = Recent::default();
                position
            }
        }
    }

    /// The commits from a position on that are still here, at most a page; none if it is not here.
    pub(crate) fn recent(&self, from: u64) -> Vec<Arc<Prepared>> {
        let recent = lock(&self.recent);
        let first = recent.commits.front().map_or(u64::MAX, |commit| commit.position);
        let skip = from.checked_sub(first).and_then(|skip| usize::try_from(skip).ok());
        let Some(skip) = skip.filter(|skip| *skip < recent.commits.len()) else {
            return Vec::new();
        };
        recent.commits.range(skip..).take(PUSH_PAGE).map(Arc::clone).collect()
    }

    /// Reads a page of commits from the log, none behind `last`. Blocks.
    pub(crate) fn load(&self, from: u64, last: u64) -> Result<Vec<Arc<Prepared>>, EngineError> {
        let commits = self.engine.read(&self.field, from, PUSH_PAGE)?;
        commits
            .iter()
            .filter(|commit| commit.position <= last)
            .map(|commit| prepare(commit, &self.view, &self.bodies).map(Arc::new))
            .collect()
    }

    /// The position and the time of each commit of a page of the log. Blocks.
    pub(crate) fn times(&self, from: u64, limit: usize) -> Result<Vec<(u64, u64)>, EngineError> {
        let headers = self.engine.read_headers(&self.field, from, limit)?;
        let time = |header: &StoredHeader| {
            let header = header.decode::<IgnoredAny>()?;
            Ok((header.position, header.time_ms))
        };
        headers.iter().map(time).collect()
    }
}

impl Recent {
    fn extend(&mut self, page: Vec<Arc<Prepared>>) {
        let follows = self.commits.back().map(|commit| commit.position + 1);
        let begins = page.first().map(|commit| commit.position);
        if follows != begins {
            *self = Self::default();
        }
        for commit in page {
            self.bytes += commit.bytes;
            self.commits.push_back(commit);
        }
        while self.bytes > PUSH_TAIL_BYTES
            && let Some(oldest) = self.commits.pop_front()
        {
            self.bytes -= oldest.bytes;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
