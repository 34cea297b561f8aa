//! Owns the one index of a collection: what its documents say, by words and by meaning.
//! The parts answer for themselves; this keeps them about the same documents.

use std::collections::BTreeSet;

use crate::{
    analyze::Analyzed,
    embed::{Embedder, builtin, embedding::Embedding},
    index::{
        lexical::Lexical,
        vectors::{Space, Vectors},
    },
};

/// The words and the vectors of all documents of one collection.
///
/// Ordinals should be dense: memory grows with the highest one.
#[derive(Debug, Clone)]
pub struct Index {
    pub(crate) lexical: Lexical,
    pub(crate) vectors: Vectors,
    pub(crate) second: Option<Vectors>,
    /// The documents that lay down a rule.
    pub(crate) rules: BTreeSet<u32>,
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

impl Index {
    pub fn new() -> Self {
        Self {
            lexical: Lexical::new(),
            vectors: Vectors::new(builtin_space()),
            second: None,
            rules: BTreeSet::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.lexical.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.lexical.is_empty()
    }

    /// Adds a document; `false`, and no change, where the ordinal is taken or is `u32::MAX`.
    pub fn insert(&mut self, ordinal: u32, doc: &Analyzed) -> bool {
        let inserted = self.lexical.insert(ordinal, doc);
        if inserted {
            self.vectors.insert(ordinal, doc.embedding());
            if doc.is_rule() {
                self.rules.insert(ordinal);
            }
        }
        inserted
    }

    /// Takes a document out; `false`, and no change, where the ordinal has none.
    ///
    /// `doc` must be what was inserted. A term that only this document had is forgotten.
    pub fn remove(&mut self, ordinal: u32, doc: &Analyzed) -> bool {
        let removed = self.lexical.remove(ordinal, doc);
        if removed {
            self.forget_meaning(&BTreeSet::from([ordinal]));
        }
        removed
    }

    /// Takes documents out whose text is not known any more: their terms, their vectors, and every
    /// term that only they had.
    pub fn forget(&mut self, ordinals: &BTreeSet<u32>) {
        self.lexical.forget(ordinals);
        self.forget_meaning(ordinals);
    }

    pub const fn lexical(&self) -> &Lexical {
        &self.lexical
    }

    /// The vectors of the built-in model, which every document has unless it says nothing to it.
    pub const fn vectors(&self) -> &Vectors {
        &self.vectors
    }

    /// The vectors of a second model, of those documents whose have arrived.
    pub const fn second(&self) -> Option<&Vectors> {
        self.second.as_ref()
    }

    /// Whether a document lays down a rule that holds from then on, by its words.
    pub fn is_rule(&self, ordinal: u32) -> bool {
        self.rules.contains(&ordinal)
    }

    /// Makes room for the vectors of a second model. Those of another model are dropped.
    pub fn open_second(&mut self, space: Space) {
        if self.second.as_ref().is_none_or(|second| *second.space() != space) {
            self.second = Some(Vectors::new(space));
        }
    }

    /// Drops the second model's vectors.
    pub fn close_second(&mut self) {
        self.second = None;
    }

    /// Adds a document's vectors of the second model; `false` where there is no such model or
    /// document, or it has some already.
    pub fn insert_second(&mut self, ordinal: u32, embedding: &Embedding) -> bool {
        let known = self.lexical.has(ordinal);
        known && self.second.as_mut().is_some_and(|second| second.insert(ordinal, embedding))
    }

    /// Bytes held, within a few percent.
    pub fn memory_bytes(&self) -> usize {
        self.lexical.memory_bytes()
            + self.vectors.memory_bytes()
            + self.second.as_ref().map_or(0, Vectors::memory_bytes)
            // A tree's node is about half full.
            + self.rules.len() * 2 * size_of::<u32>()
    }

    fn forget_meaning(&mut self, ordinals: &BTreeSet<u32>) {
        self.rules.retain(|ordinal| !ordinals.contains(ordinal));
        self.vectors.forget(ordinals);
        if let Some(second) = &mut self.second {
            second.forget(ordinals);
        }
    }
}

pub(crate) fn builtin_space() -> Space {
    let model = builtin();
    Space {
        model: model.model_id().into(),
        dimensions: model.dimensions(),
        centre: model.mean().to_vec(),
    }
}
