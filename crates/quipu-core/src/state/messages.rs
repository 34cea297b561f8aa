//! Which messages were carried out, so that the same message sent twice is done once. Bounded: only
//! the most recent commits are remembered.

use std::collections::{HashMap, VecDeque};

use quipu_wire::Hash;
use serde::{Deserialize, Serialize};

use crate::limits::MESSAGE_WINDOW;

/// The messages of the most recent commits.
#[derive(Debug, Clone, Default)]
pub struct MessageWindow {
    recent: VecDeque<(u128, u64)>,
    by_key: HashMap<u128, u64>,
}

/// Names a message by its sender and its id, in 16 bytes.
fn key(agent: &str, message_id: &str) -> u128 {
    let hash = Hash::of_parts(&[agent.as_bytes(), b"\0", message_id.as_bytes()]);
    let mut bytes = [0; 16];
    for (byte, from) in bytes.iter_mut().zip(hash.as_bytes()) {
        *byte = *from;
    }
    u128::from_be_bytes(bytes)
}

impl MessageWindow {
    /// The commit that carried out a message.
    #[must_use]
    pub fn find(&self, agent: &str, message_id: &str) -> Option<u64> {
        self.by_key.get(&key(agent, message_id)).copied()
    }

    pub fn insert(&mut self, agent: &str, message_id: &str, position: u64) {
        self.push(key(agent, message_id), position);
    }

    fn push(&mut self, key: u128, position: u64) {
        if self.recent.len() == MESSAGE_WINDOW
            && let Some((oldest, _)) = self.recent.pop_front()
        {
            self.by_key.remove(&oldest);
        }
        self.recent.push_back((key, position));
        self.by_key.insert(key, position);
    }
}

impl Serialize for MessageWindow {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.recent)
    }
}

impl<'de> Deserialize<'de> for MessageWindow {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut window = Self::default();
        for (key, position) in Vec::<(u128, u64)>::deserialize(deserializer)? {
            window.push(key, position);
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::MessageWindow;

    #[test]
    fn a_message_is_known_by_its_sender_and_its_id() {
        let mut window = MessageWindow::default();
        window.insert("a", "msg-1", 7);
        assert_eq!(window.find("a", "msg-1"), Some(7));
        assert_eq!(window.find("b", "msg-1"), None);
        assert_eq!(window.find("a", "msg-2"), None);
    }
}
