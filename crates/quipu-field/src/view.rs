//! What readers see: the state and the index as of the last synced commit. Readers share a lock that
//! is taken only to apply what is already durable (`publication.rs`), so no reader ever waits for
//! storage, and none ever sees what could still be lost.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use quipu_log::{Commit, Head, Header};
use quipu_recall::Index;

use crate::{
    apply::{Inconsistent, apply},
    event::Event,
    state::State,
    words::UnitWords,
};

/// The published half of a Field.
#[derive(Debug)]
pub struct View {
    published: RwLock<Published>,
}

/// The state and the index at one position of the log.
#[derive(Debug, Clone)]
pub struct Published {
    /// Where in the log.
    pub head: Head,
    /// The state there.
    pub state: State,
    /// The words of every unit there, by ordinal.
    pub index: Index,
}

impl Published {
    /// The beginning: nothing happened yet.
    #[must_use]
    pub fn empty() -> Self {
        Self { head: Head::EMPTY, state: State::default(), index: Index::new() }
    }

    /// Moves on by one commit. `words` are those of the units it recorded, in order.
    pub fn advance(
        &mut self,
        commit: &Commit,
        header: &Header<Event>,
        words: &[Arc<UnitWords>],
    ) -> Result<(), Inconsistent> {
        let first = self.state.units.next_ordinal();
        apply(&mut self.state, header)?;
        for (ordinal, words) in (first..).zip(words) {
            self.index.insert(ordinal, words.get());
        }
        let purged = purged_by(&self.state, header);
        if !purged.is_empty() {
            self.index.forget(&purged);
        }
        self.head = commit.head();
        Ok(())
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
    /// A view that starts here.
    #[must_use]
    pub fn new(published: Published) -> Self {
        Self { published: RwLock::new(published) }
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
