//! What readers see: the state and the index as of the last synced commit. Readers share a lock that
//! is taken only to apply what is already durable (`publication.rs`), so no reader ever waits for
//! storage, and none ever sees what could still be lost.

use std::{
    collections::BTreeSet,
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use quipu_log::{Commit, Damage, DamageKind, Head, Header};
use quipu_recall::Index;
use tokio::sync::watch;

use crate::read::{decoded::Followed, unit_words::UnitWords};
use quipu_core::{
    Event, State,
    apply::{Inconsistent, apply},
};

/// The published half of a Field.
#[derive(Debug)]
pub struct View {
    published: RwLock<Published>,
    /// Whether the index has come up to the state.
    indexed: watch::Sender<Indexed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Indexed {
    Ready,
    /// Not yet; and what the last attempt failed of, if it did.
    Behind(Option<String>),
    Failed(String),
}

/// The state and the index at one position of the log.
#[derive(Debug, Clone)]
pub struct Published {
    pub head: Head,
    pub state: State,
    /// The words of every unit there, by ordinal; of fewer where it is behind.
    pub index: Index,
    /// Where the index is, if it is behind the state.
    pub(crate) unindexed: Option<Unindexed>,
}

/// Where an index is that is behind its state.
#[derive(Debug, Clone)]
pub(crate) struct Unindexed {
    /// The last commit that it has.
    pub(crate) after: Head,
    /// The first unit that it does not have.
    ordinal: u32,
    /// What was purged on the way, taken out at the end: that goes through the whole index.
    purged: BTreeSet<u32>,
}

impl Published {
    /// The beginning: nothing happened yet.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(Head::EMPTY, State::default(), Index::new())
    }

    pub(crate) const fn new(head: Head, state: State, index: Index) -> Self {
        Self { head, state, index, unindexed: None }
    }

    /// Moves on by one commit. `words` are those of the units it recorded, in order. An index that is behind stays so: who
    /// brings it up will come to this commit, too.
    pub(crate) fn advance(
        &mut self,
        commit: &Commit,
        header: &Header<Event>,
        words: &[UnitWords],
    ) -> Result<(), Inconsistent> {
        if self.unindexed.is_some() {
            return self.advance_state(commit.head(), header);
        }
        let first = self.state.units.next_ordinal();
        apply(&mut self.state, header)?;
        self.head = commit.head();
        self.add_to_index(first, words);
        self.forget(&purged_by(&self.state, header));
        Ok(())
    }

    /// Moves the state on by one commit, and leaves the index behind.
    pub(crate) fn advance_state(
        &mut self,
        head: Head,
        header: &Header<Event>,
    ) -> Result<(), Inconsistent> {
        let (after, ordinal) = (self.head, self.state.units.next_ordinal());
        apply(&mut self.state, header)?;
        let behind = || Unindexed { after, ordinal, purged: BTreeSet::new() };
        self.unindexed.get_or_insert_with(behind);
        self.head = head;
        Ok(())
    }

    /// Adds what the next commits recorded to an index that is behind, as far as the state has come. Answers whether it is
    /// behind no more.
    fn catch_up_index(&mut self, page: &[Followed]) -> Result<bool, Damage> {
        let Some(mut behind) = self.unindexed.take() else { return Ok(true) };
        let known = self.head.position;
        for (commit, read) in page.iter().take_while(|(commit, _)| commit.position <= known) {
            behind.ordinal = self.add_to_index(behind.ordinal, &read.words);
            behind.purged.extend(purged_by(&self.state, &read.header));
            behind.after = commit.head();
        }
        if behind.after == self.head {
            self.forget(&behind.purged);
            return Ok(true);
        }
        let is_another = behind.after.position == known;
        self.unindexed = Some(behind);
        if is_another { Err(Damage::new(known, DamageKind::HashMismatch)) } else { Ok(false) }
    }

    /// Adds units to the index from an ordinal on. Answers the ordinal behind.
    fn add_to_index(&mut self, first: u32, words: &[UnitWords]) -> u32 {
        let mut next = first;
        for words in words {
            self.index.insert(next, words.get());
            next += 1;
        }
        next
    }

    fn forget(&mut self, purged: &BTreeSet<u32>) {
        if !purged.is_empty() {
            self.index.forget(purged);
        }
    }
}

/// The units that a commit purged, which the state knows already.
pub(crate) fn purged_by(state: &State, header: &Header<Event>) -> BTreeSet<u32> {
    let purged = header.events.iter().filter_map(|sealed| {
        if let Event::UnitsPurged { units, .. } = &sealed.event { Some(units) } else { None }
    });
    purged.flatten().filter_map(|unit| state.units.find(*unit)).collect()
}

impl View {
    #[must_use]
    pub fn new(published: Published) -> Self {
        let behind = published.unindexed.is_some();
        let indexed = if behind { Indexed::Behind(None) } else { Indexed::Ready };
        Self { published: RwLock::new(published), indexed: watch::Sender::new(indexed) }
    }

    /// Whether units can be found by their words and their meaning.
    pub(crate) fn is_indexed(&self) -> bool {
        matches!(*self.indexed.borrow(), Indexed::Ready)
    }

    pub(crate) fn indexed(&self) -> watch::Receiver<Indexed> {
        self.indexed.subscribe()
    }

    pub(crate) fn set_indexed(&self, indexed: Indexed) {
        self.indexed.send_replace(indexed);
    }

    /// Adds what the next commits recorded to an index that is behind. Answers whether it is behind no more.
    pub(crate) fn index(&self, page: &[Followed]) -> Result<bool, Damage> {
        let indexed = self.publish(|published| published.catch_up_index(page))?;
        if indexed {
            self.set_indexed(Indexed::Ready);
        }
        Ok(indexed)
    }

    /// What is published now. Hold it briefly: the writer waits for it.
    pub fn read(&self) -> RwLockReadGuard<'_, Published> {
        self.published.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes what is durable now.
    pub fn publish<T>(&self, act: impl FnOnce(&mut Published) -> T) -> T {
        act(&mut self.published.write().unwrap_or_else(PoisonError::into_inner))
    }
}
