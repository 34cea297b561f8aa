//! Which receipt comes before another. The receipts of a Session follow each other in the order of their
//! issue; a replay's follows its source's and is no link of the Session's chain, so that replaying twice
//! gives the same bytes.

use quipu_core::{DocumentKind, State, state::DocumentEntry};
use quipu_wire::harn::{HarnError, Receipt, Sha256};

use crate::{Harness, handle::failure::harn_error, task::tasks::is_replay};

/// The last receipt of a Session's chain, before an ordinal where one is given.
pub(crate) fn previous_receipt<'s>(
    state: &'s State,
    session: &str,
    before: Option<usize>,
) -> Option<&'s DocumentEntry> {
    let issued = state.documents.of_session(DocumentKind::Receipt, session).rev();
    let mut earlier = issued.filter(|(ordinal, _)| before.is_none_or(|before| *ordinal < before));
    let link = earlier.find(|(_, entry)| {
        let task = entry.owner.task.as_deref();
        !task.is_some_and(|task| is_replay(state, task))
    });
    link.map(|(_, entry)| entry)
}

impl Harness {
    /// The hash of a receipt that was issued. Reads storage.
    pub(crate) fn hash_of(&self, entry: &DocumentEntry) -> Result<Option<Sha256>, HarnError> {
        let receipt =
            self.field.body_at::<Receipt>(entry.at).map_err(|error| harn_error(&error))?;
        Ok(receipt.and_then(|receipt| receipt.chain.receipt_hash))
    }
}
