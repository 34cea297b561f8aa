//! Commits for the suite: deterministic chains with bodies.

use serde_json::json;

use crate::{
    commit::{Body, Commit, Draft, DraftEvent, Head, Salt},
    field_name::FieldName,
};

/// A field name that is known to be good.
///
/// # Panics
/// If it is not.
#[must_use]
pub fn field(name: &str) -> FieldName {
    name.parse().expect("a good field name")
}

/// Makes commits that follow each other.
#[derive(Debug, Clone)]
pub struct Chain {
    head: Head,
    seed: u8,
}

impl Chain {
    /// A chain from an empty log; another seed gives other commits.
    #[must_use]
    pub const fn new(seed: u8) -> Self {
        Self { head: Head::EMPTY, seed }
    }

    /// A chain that goes on from `head`.
    #[must_use]
    pub const fn from(head: Head, seed: u8) -> Self {
        Self { head, seed }
    }

    /// The head that the next commit will follow.
    #[must_use]
    pub const fn head(&self) -> Head {
        self.head
    }

    /// The next commit: two events, of which the first has `text` as its body.
    ///
    /// # Panics
    /// If it cannot be sealed.
    pub fn next_with(&mut self, text: &str) -> Commit {
        let position = self.head.position + 1;
        let salt = Salt::from_bytes([self.seed.wrapping_add(position.to_le_bytes()[0]); 16]);
        let body = Body::new(salt, &json!({ "text": text })).expect("a text has canonical JSON");
        let draft = Draft {
            epoch: self.head.epoch + 1 + u64::from(self.seed % 3),
            time_ms: 1_700_000_000_000 + position,
            actor: format!("agent-{}", self.seed),
            session: Some("s-1".to_owned()),
            request: None,
            events: vec![
                DraftEvent { event: json!({ "kind": "told", "n": position }), body: Some(body) },
                DraftEvent { event: json!({ "kind": "closed" }), body: None },
            ],
        };
        let commit = draft.seal(position, self.head.hash).expect("the draft can be sealed");
        self.head = commit.head();
        commit
    }

    /// The next `count` commits.
    pub fn take(&mut self, count: usize) -> Vec<Commit> {
        (0..count)
            .map(|_| {
                let text = format!("text of {} number {}", self.seed, self.head.position + 1);
                self.next_with(&text)
            })
            .collect()
    }
}
