//! Places for streams: how many may be open in all, and how many of them may be one key's. Whoever has as many as one
//! key may have is refused, and others go on opening theirs.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use quipu_wire::{ErrorCode, ProtocolError};

use crate::{limits::KEY_STREAMS_SHARE, secrets::keys::NO_KEY};

#[derive(Debug)]
pub(crate) struct StreamPermits {
    most: usize,
    open: Mutex<HashMap<String, usize>>,
}

/// The place of one stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    places: Arc<StreamPermits>,
    key: String,
}

impl StreamPermits {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// A place for a stream of this key.
    ///
    /// # Errors
    /// Where the key has its part of them, or there is none.
    pub(crate) fn take(self: &Arc<Self>, key: &str) -> Result<StreamPermit, ProtocolError> {
        let of_one = self.of_one_key(key);
        let mut open = self.open();
        if open.values().sum::<usize>() >= self.most {
            let message = format!("{} streams are open already", self.most);
            return Err(ProtocolError::new(ErrorCode::Overloaded, message));
        }
        let own = open.entry(key.to_owned()).or_default();
        if *own >= of_one {
            let message =
                format!("the key {key} has {of_one} streams open already, as many as one may have");
            return Err(ProtocolError::new(ErrorCode::RateLimited, message));
        }
        *own += 1;
        Ok(StreamPermit { places: Arc::clone(self), key: key.to_owned() })
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.open().values().sum()
    }

    /// Where there are no keys, nobody is told apart.
    fn of_one_key(&self, key: &str) -> usize {
        if key == NO_KEY { self.most } else { self.most.div_ceil(KEY_STREAMS_SHARE) }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.places.open();
        let Some(own) = open.get_mut(&self.key) else { return };
        *own -= 1;
        if *own == 0 {
            open.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_has_half_of_the_places_and_others_have_the_rest() {
        let places = StreamPermits::new(4);
        let held = [(); 2].map(|()| places.take("a").unwrap());
        let refused = places.take("a").unwrap_err();
        assert_eq!((refused.code, refused.recoverable), (ErrorCode::RateLimited, true));
        let others = [places.take("b").unwrap(), places.take("c").unwrap()];
        assert_eq!(places.take("d").unwrap_err().code, ErrorCode::Overloaded);
        assert_eq!(places.count(), 4);
        drop(held);
        places.take("d").unwrap();
        drop(others);
        assert!(places.open().is_empty(), "nobody is remembered who has none");
    }

    #[test]
    fn without_keys_all_places_are_anybodys() {
        let places = StreamPermits::new(3);
        let _held = [(); 3].map(|()| places.take(NO_KEY).unwrap());
        assert_eq!(places.take(NO_KEY).unwrap_err().code, ErrorCode::Overloaded);
    }
}
