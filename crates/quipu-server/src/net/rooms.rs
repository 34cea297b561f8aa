//! Room for large bodies, shared out: each of those who send some has a part of it and nobody all of it, so that slow
//! bodies of one make the others wait no longer than their own do. Knows not who they are.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The room, in KiB: that of all, and that of each.
#[derive(Debug)]
pub(crate) struct Rooms<Owner> {
    all: Arc<Semaphore>,
    part_bytes: usize,
    by_owner: Mutex<HashMap<Owner, Weak<Semaphore>>>,
}

/// The room of one of them.
#[derive(Debug)]
pub(crate) struct Room {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// Room that is taken, until this is dropped.
#[derive(Debug)]
pub(crate) struct TakenRoom {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl<Owner: Eq + Hash> Rooms<Owner> {
    pub(crate) fn new(bytes: usize, part_bytes: usize) -> Self {
        let all = Arc::new(Semaphore::new(bytes / 1024));
        Self { all, part_bytes, by_owner: Mutex::default() }
    }

    /// The room of one, which is forgotten when nobody uses it.
    pub(crate) fn of(&self, owner: Owner) -> Room {
        let all = Arc::clone(&self.all);
        let mut rooms = self.by_owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = rooms.get(&owner).and_then(Weak::upgrade) {
            return Room { own, all };
        }
        rooms.retain(|_, room| room.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.part_bytes / 1024));
        rooms.insert(owner, Arc::downgrade(&own));
        Room { own, all }
    }
}

impl Room {
    /// Waits until there is so much room. First in one's own part: whoever has to wait there keeps nobody else from
    /// anything.
    pub(crate) async fn take(&self, kib: u32) -> Option<TakenRoom> {
        let own = Arc::clone(&self.own).acquire_many_owned(kib).await.ok()?;
        let all = Arc::clone(&self.all).acquire_many_owned(kib).await.ok()?;
        Some(TakenRoom { _own: own, _all: all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    async fn gets(room: &Room, kib: u32) -> Option<TakenRoom> {
        tokio::time::timeout(Duration::from_millis(20), room.take(kib)).await.ok().flatten()
    }

    #[tokio::test]
    async fn nobody_takes_more_than_a_part_and_it_is_one_part_as_long_as_it_is_used() {
        let rooms = Rooms::new(8 * 1024, 4 * 1024);
        let held = gets(&rooms.of("a"), 3).await.unwrap();
        assert!(gets(&rooms.of("a"), 2).await.is_none(), "one is left");
        let other = gets(&rooms.of("b"), 4).await.unwrap();
        assert!(gets(&rooms.of("c"), 2).await.is_none(), "one is left of all");
        drop((held, other));
        gets(&rooms.of("a"), 4).await.unwrap();
        rooms.of("d");
        assert_eq!(rooms.by_owner.lock().unwrap().len(), 1, "nobody else uses any");
    }
}
