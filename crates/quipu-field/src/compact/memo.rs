//! What a model wrote for recent COMPACTs. One that is tried and then carried out says the same both times, and the
//! model is asked once.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use quipu_wire::Hash;

use crate::base::limits::SYNTHESES_WRITTEN_MAX;

/// Texts by the notes that they were written from, newest last.
#[derive(Debug, Default)]
pub(crate) struct Memo(Mutex<VecDeque<(Hash, String)>>);

impl Memo {
    /// What was written from these notes.
    pub(super) fn get(&self, notes: &str) -> Option<String> {
        let asked = Hash::of(notes.as_bytes());
        let kept = self.lock();
        kept.iter().find(|(notes, _)| *notes == asked).map(|(_, text)| text.clone())
    }

    /// Keeps a text, and lets the oldest go where there are many.
    pub(super) fn keep(&self, notes: &str, text: &str) {
        let mut kept = self.lock();
        if kept.len() >= 2 * SYNTHESES_WRITTEN_MAX {
            kept.pop_front();
        }
        kept.push_back((Hash::of(notes.as_bytes()), text.to_owned()));
    }

    /// Drops everything, because some of it may repeat what was erased.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Hash, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
