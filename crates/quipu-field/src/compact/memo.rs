//! What a model wrote for recent COMPACTs, so that one that is tried and then carried out says the same both times and the
//! model is asked once; and which commits were a summarize, so that the log is asked once.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use quipu_wire::Hash;

use crate::base::limits::SYNTHESES_WRITTEN_MAX;

#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Texts by the notes that they were written from, newest last.
    texts: Mutex<VecDeque<(Hash, String)>>,
    /// By position: whether that commit was a summarize. What a commit was never changes.
    commits: Mutex<BTreeMap<u64, bool>>,
}

/// Commits of which it is kept what they were.
const COMMITS_KEPT_MAX: usize = 16_384;

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

    /// Whether a commit was a summarize, if that is known.
    pub(super) fn is_summarize(&self, position: u64) -> Option<bool> {
        self.commits().get(&position).copied()
    }

    pub(super) fn note_summarize(&self, position: u64, is_summarize: bool) {
        let mut commits = self.commits();
        if commits.len() >= COMMITS_KEPT_MAX {
            commits.pop_first();
        }
        commits.insert(position, is_summarize);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Hash, String)>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commits(&self) -> MutexGuard<'_, BTreeMap<u64, bool>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
