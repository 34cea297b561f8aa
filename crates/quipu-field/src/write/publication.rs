//! What becomes visible, and in which order. Whoever publishes goes through here: the writer with what it made durable
//! and, where other nodes append to the same log, whoever read what they wrote. Readers, subscribers and snapshots
//! learn of every commit once and in the order of the log, whoever was faster.
//!
//! Others are followed beside the writer, which may be waiting for its turn to append. What was published without it, it
//! finds here as headers, for a state of its own.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use quipu_log::{Commit, Damage, DamageKind, Head, Header};
use tokio::sync::{mpsc, watch};

use crate::{
    base::{
        health::Health,
        limits::{UNSEEN_MAX, UNSEEN_WAKE_COMMITS},
    },
    push::{Tail, TailFeed},
    read::{
        bodies::Bodies,
        decoded::Followed,
        unit_words::{CommitWords, UnitWords},
        view::View,
    },
    snapshot::schedule::Snapshotter,
    write::{clock::LamportClock, job::Job, task_moves::TaskMoveFeed},
};
use quipu_core::Event;

/// The one way to what readers see.
#[derive(Debug)]
pub(crate) struct Publication {
    view: Arc<View>,
    clock: Arc<LamportClock>,
    health: Arc<Health>,
    order: Mutex<Order>,
    /// Tells whoever waits for a position how far this node has come.
    reached: Arc<watch::Sender<u64>>,
    /// Keeps the texts of what was published, where reading them again is expensive.
    bodies: Arc<Bodies>,
    /// Wakes the writer when much was published without it.
    writer: mpsc::WeakSender<Job>,
}

/// Those who act on what is published.
#[derive(Debug)]
pub(crate) struct Listeners {
    tail: TailFeed,
    task_moves: TaskMoveFeed,
    snapshotter: Option<Snapshotter>,
}

impl Listeners {
    pub(crate) fn new(
        tail: &Arc<Tail>,
        task_moves: TaskMoveFeed,
        snapshotter: Option<&Snapshotter>,
    ) -> Self {
        let tail = TailFeed::new(Arc::clone(tail));
        Self { tail, task_moves, snapshotter: snapshotter.cloned() }
    }
}

/// Held by whoever publishes.
#[derive(Debug)]
struct Order {
    /// None once the writer has ended.
    listeners: Option<Listeners>,
    unseen: Unseen,
    time_ms: u64,
    /// Whether something could not be applied, so that what readers see may be half changed: then it stays as it is.
    broken: bool,
}

/// What was published without the writer.
#[derive(Debug)]
enum Unseen {
    Headers(Vec<(Head, Header<Event>)>),
    /// More than is kept for it.
    TooMuch,
}

/// What the writer missed, and where readers are now.
#[derive(Debug)]
pub(crate) struct Missed {
    /// None where it was too much to be kept.
    pub(crate) headers: Option<Vec<(Head, Header<Event>)>>,
    pub(crate) head: Head,
    /// The time of the last commit of others.
    pub(crate) time_ms: u64,
}

/// Commits with what the state and the index need of them, each at the same place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages<'a> {
    pub(crate) commits: &'a [Commit],
    pub(crate) headers: &'a [Header<Event>],
    pub(crate) words: &'a [CommitWords],
}

impl<'a> Pages<'a> {
    fn behind(self, position: u64) -> Self {
        let known = self.commits.partition_point(|commit| commit.position <= position);
        Self {
            commits: self.commits.get(known..).unwrap_or_default(),
            headers: self.headers.get(known..).unwrap_or_default(),
            words: self.words.get(known..).unwrap_or_default(),
        }
    }

    fn all(self) -> impl Iterator<Item = (&'a Commit, &'a Header<Event>, &'a [UnitWords])> {
        let parts = self.commits.iter().zip(self.headers).zip(self.words);
        parts.map(|((commit, header), words)| (commit, header, words.as_ref()))
    }
}

impl Publication {
    pub(crate) fn new(
        view: &Arc<View>,
        clock: &Arc<LamportClock>,
        health: &Arc<Health>,
        listeners: Listeners,
        reached: &Arc<watch::Sender<u64>>,
        bodies: &Arc<Bodies>,
        writer: &mpsc::Sender<Job>,
    ) -> Arc<Self> {
        let (listeners, unseen) = (Some(listeners), Unseen::Headers(Vec::new()));
        let order = Order { listeners, unseen, time_ms: 0, broken: false };
        let (view, clock, health) = (Arc::clone(view), Arc::clone(clock), Arc::clone(health));
        let (reached, bodies) = (Arc::clone(reached), Arc::clone(bodies));
        let (order, writer) = (Mutex::new(order), writer.downgrade());
        Arc::new(Self { view, clock, health, order, reached, bodies, writer })
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Publishes what the writer made durable.
    pub(crate) fn publish(&self, batch: Pages<'_>) {
        self.find_words(batch);
        let mut order = self.order();
        if let Err(wrong) = self.show(&mut order, batch) {
            self.health.fail(&format!("a durable commit could not be applied: {wrong}"));
        }
    }

    /// Publishes what others made durable, as far as it is not published yet. Answers the times of what was new.
    pub(crate) fn publish_others(&self, page: Vec<Followed>) -> Result<Vec<u64>, Damage> {
        let (mut commits, mut headers, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (commit, read) in page {
            commits.push(commit);
            headers.push(read.header);
            words.push(read.words);
        }
        let page = Pages { commits: &commits, headers: &headers, words: &words };
        self.find_words(page);
        let mut order = self.order();
        let shown = self.show(&mut order, page)?;
        let known = headers.len().saturating_sub(shown);
        let times = headers.iter().skip(known).map(|header| header.time_ms).collect();
        if let Some(last) = headers.last() {
            order.time_ms = order.time_ms.max(last.time_ms);
        }
        let news = commits.iter().map(Commit::head).zip(headers).skip(known);
        if order.unseen.add(news) {
            drop(order);
            self.wake_writer();
        }
        Ok(times)
    }

    /// What was published without the writer since it asked last.
    pub(crate) fn missed(&self) -> Missed {
        let mut order = self.order();
        let unseen = mem::replace(&mut order.unseen, Unseen::Headers(Vec::new()));
        let headers = match unseen {
            Unseen::Headers(headers) => Some(headers),
            Unseen::TooMuch => None,
        };
        Missed { headers, head: self.view.read().head, time_ms: order.time_ms }
    }

    /// The writer has ended: nobody is woken any more.
    pub(crate) fn close(&self) {
        self.order().listeners = None;
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Found before any lock is taken, because others wait for them. What is known already needs none.
    fn find_words(&self, page: Pages<'_>) {
        let known = self.view.read().head.position;
        page.behind(known).words.iter().flat_map(|words| words.iter()).for_each(|words| {
            words.get();
        });
    }

    /// Shows what is behind the last commit that readers see. Answers how many those are.
    fn show(&self, order: &mut Order, page: Pages<'_>) -> Result<usize, Damage> {
        let before = self.view.read().head;
        let page = page.behind(before.position);
        let Some(first) = page.commits.first() else { return Ok(0) };
        if order.broken {
            return Err(Damage::storage("an earlier commit could not be applied"));
        }
        if first.position != before.position + 1 || first.prev != before.hash {
            return Err(Damage::new(first.position, DamageKind::PrevMismatch));
        }
        // Kept before anybody knows of a purge among them, so that what it takes away is not kept after it.
        self.bodies.remember(page.commits);
        let applied = self.view.publish(|published| {
            for (commit, header, words) in page.all() {
                published.advance(commit, header, words)?;
            }
            self.clock.published(published.head.epoch);
            Ok::<_, quipu_core::apply::Inconsistent>(published.head)
        });
        let head = applied.map_err(|wrong| {
            order.broken = true;
            Damage::new(wrong.position, DamageKind::HeaderUnreadable(wrong.what))
        })?;
        if let Some(listeners) = &order.listeners {
            listeners.tail.published(head.position);
            listeners.task_moves.published(page.headers);
            if let Some(snapshotter) = &listeners.snapshotter {
                snapshotter.published(&head);
            }
        }
        self.reached.send_replace(head.position);
        Ok(page.commits.len())
    }

    fn wake_writer(&self) {
        if let Some(writer) = self.writer.upgrade() {
            // One that has no time looks before its next batch.
            writer.try_send(Job::KeepUp).ok();
        }
    }
}

impl Unseen {
    /// Adds what is new. Answers whether the writer should take note now.
    fn add(&mut self, news: impl Iterator<Item = (Head, Header<Event>)>) -> bool {
        let Self::Headers(headers) = self else { return false };
        let before = headers.len() / UNSEEN_WAKE_COMMITS;
        headers.extend(news);
        let after = headers.len() / UNSEEN_WAKE_COMMITS;
        if headers.len() > UNSEEN_MAX {
            *self = Self::TooMuch;
        }
        after > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::Hash;

    fn news(from: u64, count: usize) -> impl Iterator<Item = (Head, Header<Event>)> {
        (from..).take(count).map(|position| {
            let (v, epoch, prev) = (1, position, Hash::ZERO);
            let (actor, session, request) = (String::new(), None, None);
            let header = Header {
                v,
                position,
                epoch,
                time_ms: 0,
                actor,
                session,
                request,
                prev,
                events: Vec::new(),
            };
            (Head { position, epoch, hash: Hash::ZERO }, header)
        })
    }

    #[test]
    fn the_writer_is_woken_now_and_then_and_what_is_kept_for_it_is_bounded() {
        let mut unseen = Unseen::Headers(Vec::new());
        assert!(!unseen.add(news(1, UNSEEN_WAKE_COMMITS - 1)));
        assert!(unseen.add(news(1, 1)), "it has enough to look at");
        assert!(!unseen.add(news(1, 1)), "it was told");
        unseen.add(news(1, UNSEEN_MAX));
        assert!(matches!(unseen, Unseen::TooMuch));
        assert!(!unseen.add(news(1, UNSEEN_WAKE_COMMITS)), "there is nothing to look at any more");
    }
}
