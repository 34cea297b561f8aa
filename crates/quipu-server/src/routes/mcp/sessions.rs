//! Whose each session of MCP is, and how many there are. A session is its key's: with another key it is
//! not to be found. Where there are too many, the one that was used longest ago ends.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use crate::limits::{MCP_SESSIONS_MAX, MCP_SESSIONS_PER_KEY_MAX};

#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    by_id: BTreeMap<String, Session>,
    /// Counts uses.
    clock: u64,
}

#[derive(Debug)]
struct Session {
    key_id: String,
    used: u64,
}

impl Sessions {
    /// Whether a request with this key may use the session. One that is not known here may be asked
    /// for by anybody, and is found nowhere.
    pub(super) fn may_use(&self, id: &str, key_id: &str) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.clock += 1;
        let now = held.clock;
        match held.by_id.get_mut(id) {
            None => true,
            Some(session) if session.key_id == key_id => {
                session.used = now;
                true
            }
            Some(_) => false,
        }
    }

    /// Notes a new session, and says which ones have to end for it.
    pub(super) fn add(&self, id: String, key_id: &str) -> Vec<String> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.clock += 1;
        let used = held.clock;
        held.by_id.insert(id, Session { key_id: key_id.to_owned(), used });
        let mut ended = Vec::new();
        let of_key = held.by_id.values().filter(|session| session.key_id == key_id).count();
        if of_key > MCP_SESSIONS_PER_KEY_MAX {
            ended.extend(held.take_oldest(|session| session.key_id == key_id));
        }
        if held.by_id.len() > MCP_SESSIONS_MAX {
            ended.extend(held.take_oldest(|_| true));
        }
        ended
    }

    pub(super) fn remove(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_id.remove(id);
    }
}

impl Held {
    fn take_oldest(&mut self, counts: impl Fn(&Session) -> bool) -> Option<String> {
        let candidates = self.by_id.iter().filter(|(_, session)| counts(session));
        let oldest = candidates.min_by_key(|(_, session)| session.used)?.0.clone();
        self.by_id.remove(&oldest);
        Some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_its_keys_alone() {
        let sessions = Sessions::default();
        sessions.add("s".to_owned(), "mine");
        assert!(sessions.may_use("s", "mine"));
        assert!(!sessions.may_use("s", "other"));
        sessions.remove("s");
        assert!(sessions.may_use("s", "other"), "what is not there is refused further on");
    }

    #[test]
    fn a_key_with_too_many_loses_the_one_it_used_longest_ago() {
        let sessions = Sessions::default();
        sessions.add("theirs".to_owned(), "other");
        for number in 0..MCP_SESSIONS_PER_KEY_MAX {
            assert_eq!(sessions.add(format!("s{number}"), "mine"), Vec::<String>::new());
        }
        assert!(sessions.may_use("s0", "mine"));
        assert_eq!(sessions.add("one more".to_owned(), "mine"), ["s1"]);
    }
}
