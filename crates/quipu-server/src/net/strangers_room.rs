//! Room for large bodies of those who have proven nothing yet, such as the sender of a delivery whose signature covers its
//! body. It is another one than that of callers with a key, and no address has all of it.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::Semaphore;

use crate::limits::{STRANGERS_ADDRESS_BYTES_MAX, STRANGERS_BYTES_MAX};

/// The room, in KiB: that of all strangers, and that of each address.
#[derive(Debug)]
pub(crate) struct StrangersRoom {
    pub(crate) all: Arc<Semaphore>,
    by_address: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

impl Default for StrangersRoom {
    fn default() -> Self {
        let all = Arc::new(Semaphore::new(STRANGERS_BYTES_MAX / 1024));
        Self { all, by_address: Mutex::default() }
    }
}

impl StrangersRoom {
    /// The room of an address, which is forgotten when nobody uses it.
    pub(crate) fn of(&self, address: IpAddr) -> Arc<Semaphore> {
        let mut rooms = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.retain(|_, room| room.strong_count() > 0);
        if let Some(room) = rooms.get(&address).and_then(Weak::upgrade) {
            return room;
        }
        let room = Arc::new(Semaphore::new(STRANGERS_ADDRESS_BYTES_MAX / 1024));
        rooms.insert(address, Arc::downgrade(&room));
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_room_as_long_as_it_is_used() {
        let (rooms, address) = (StrangersRoom::default(), IpAddr::from([127, 0, 0, 1]));
        let first = rooms.of(address);
        let held = Arc::clone(&first).try_acquire_many_owned(1024).unwrap();
        assert_eq!(rooms.of(address).available_permits(), first.available_permits());
        drop((first, held));
        let full = STRANGERS_ADDRESS_BYTES_MAX / 1024;
        assert_eq!(rooms.of(address).available_permits(), full);
        assert_eq!(rooms.of(IpAddr::from([127, 0, 0, 2])).available_permits(), full);
        assert_eq!(rooms.by_address.lock().unwrap().len(), 1, "nobody uses the first any more");
    }
}
