//! The state as a whole, and its hash.

use quipu_wire::hash::{Hash, Hasher};
use serde::{Deserialize, Serialize};

use crate::ids::UnitId;

use super::{
    AgentTable, Backing, BallotKeys, ConflictTable, DocumentEntry, DocumentTable, EndingTable,
    HandoffTable, HintTable, IdempotencyTable, LeastAuthority, MessageWindow, Names, RecentTraces,
    Replacers, SessionCopies, SessionTable, StreamTable, SubscriptionTable, TaskTable, TextTable,
    UnitKeys, UnitTable, WorkTable,
};

/// Everything that decides what an operation does. Holds no free text that can be erased.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// The last commit applied.
    pub position: u64,
    pub epoch: u64,
    /// Whether that commit closed the Field in order.
    pub closed: bool,
    pub names: Names,
    pub agents: AgentTable,
    pub units: UnitTable,
    pub conflicts: ConflictTable,
    pub messages: MessageWindow,
    pub sessions: SessionTable,
    pub tasks: TaskTable,
    pub handoffs: HandoffTable,
    /// Whether units are visible across sessions. How the Field was opened, and no part of the log:
    /// it decides what is seen, never what is applied.
    #[serde(skip)]
    pub cross_session: bool,
    /// The position of the last purge, 0 if there was none. No snapshot from before it may stay.
    pub last_purge: u64,
    pub subscriptions: SubscriptionTable,
    /// What was said of units besides their own texts.
    pub texts: TextTable,
    /// The units that agents were last shown by ATTUNE, where that is traced.
    pub recent_traces: RecentTraces,
    pub hints: HintTable,
    /// The documents of the Harn protocol.
    pub documents: DocumentTable,
    /// Which commits tell of which task and session.
    pub streams: StreamTable,
    /// The idempotency keys of the last day.
    pub idempotency: IdempotencyTable,
    /// The endings of tasks that have no receipt yet.
    pub endings: EndingTable,
    /// With which authority units were recorded, and what that was too little for.
    #[serde(skip)]
    pub backing: Backing,
    /// Which authority units of a type take.
    #[serde(skip)]
    pub least_authority: LeastAuthority,
    /// Through which keys units were recorded.
    #[serde(skip)]
    pub unit_keys: UnitKeys,
    /// Which sessions are copies of others.
    #[serde(skip)]
    pub copies: SessionCopies,
    /// Through which keys for any agent ballots were cast.
    #[serde(skip)]
    pub ballot_keys: BallotKeys,
    /// Who is to find which task, and how often it is tried.
    #[serde(skip)]
    pub work: WorkTable,
    /// What replaced what others recorded, by who did it. It follows from the rest.
    #[serde(skip)]
    pub replacers: Replacers,
}

impl State {
    #[must_use]
    pub fn is_purged(&self, unit: UnitId) -> bool {
        let flags = self.units.find(unit).and_then(|ordinal| self.units.flags(ordinal));
        flags.is_some_and(|flags| flags.purged)
    }

    /// Whether a purge takes away what a document says, also where the log has it for a moment yet.
    #[must_use]
    pub fn has_purged_words(&self, document: &DocumentEntry) -> bool {
        document.quotes.iter().filter(|unit| self.is_purged(**unit)).any(|unit| {
            let ordinal = self.units.find(*unit);
            ordinal.is_some_and(|ordinal| self.texts.of(ordinal).contains(&document.at))
        })
    }

    /// The hash of the state: equal states have equal hashes, on every machine.
    #[must_use]
    pub fn hash(&self) -> Hash {
        let mut hasher = Hasher::new();
        postcard::to_io(self, &mut hasher).expect("a hasher takes every byte");
        hasher.update(&self.later_bytes().expect("a vector takes every byte"));
        hasher.finish()
    }

    /// The state as bytes, whose hash is its own. What later versions added is behind the rest, and only where
    /// something is in it, so that a log of before has the state and the hash that it had.
    ///
    /// # Errors
    /// Where a part cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        let mut bytes = postcard::to_stdvec(self)?;
        bytes.extend(self.later_bytes()?);
        Ok(bytes)
    }

    /// The state of these bytes.
    ///
    /// # Errors
    /// Where they are not those of a state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, postcard::Error> {
        let (mut state, rest): (Self, _) = postcard::take_from_bytes(bytes)?;
        if !rest.is_empty() {
            let (later, rest) = postcard::take_from_bytes(rest)?;
            (state.backing, state.least_authority) = later;
            if !rest.is_empty() {
                let (keys, rest) = postcard::take_from_bytes(rest)?;
                state.unit_keys = keys;
                if !rest.is_empty() {
                    let (third, rest) = postcard::take_from_bytes(rest)?;
                    (state.copies, state.ballot_keys) = third;
                    if !rest.is_empty() {
                        state.work = postcard::from_bytes(rest)?;
                        state.work.follow(&state.tasks);
                    }
                }
            }
        }
        state.replacers = Replacers::rebuilt(&state);
        Ok(state)
    }

    /// The parts that later versions added, in the order of their coming, up to the last in which something is.
    fn later_bytes(&self) -> Result<Vec<u8>, postcard::Error> {
        let fourth = !self.work.is_empty();
        let third = fourth || !self.copies.is_empty() || !self.ballot_keys.is_empty();
        let second = third || !self.unit_keys.is_empty();
        let first = second || !self.backing.is_empty() || !self.least_authority.is_empty();
        let mut bytes = Vec::new();
        if first {
            bytes.extend(postcard::to_stdvec(&(&self.backing, &self.least_authority))?);
        }
        if second {
            bytes.extend(postcard::to_stdvec(&self.unit_keys)?);
        }
        if third {
            bytes.extend(postcard::to_stdvec(&(&self.copies, &self.ballot_keys))?);
        }
        if fourth {
            bytes.extend(postcard::to_stdvec(&self.work)?);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_later_comes_back_where_nothing_came_before_it() {
        let mut state = State::default();
        let plain = state.to_bytes().unwrap();
        let (copy, original) = (state.names.intern("copy"), state.names.intern("original"));
        state.copies.copied(copy, original);
        let back = State::from_bytes(&state.to_bytes().unwrap()).unwrap();
        assert_eq!((&back.copies, back.hash()), (&state.copies, state.hash()));
        assert!(State::from_bytes(&plain).unwrap().copies.is_empty());
    }

    #[test]
    fn copies_of_copies_are_followed_to_the_first_and_never_around() {
        let mut state = State::default();
        let [a, b, c] = ["a", "b", "c"].map(|id| state.names.intern(id));
        state.copies.copied(b, a);
        state.copies.copied(c, b);
        assert_eq!(state.copies.originals(c).collect::<Vec<_>>(), [b, a]);
        state.copies.copied(a, c);
        assert!(state.copies.originals(c).count() <= 3);
    }
}
