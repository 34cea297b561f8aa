//! The handle: a Field as this protocol sees it. Cheap to clone; one per request is fine.

use std::sync::Arc;

use quipu_field::Field;
use quipu_wire::harn::{HarnError, ResourceKind};

use crate::{Caller, failure::harn_error};

/// A Field as this protocol sees it.
#[derive(Debug, Clone)]
pub struct Harness {
    pub(crate) field: Arc<Field>,
}

impl Harness {
    /// The view of a Field.
    #[must_use]
    pub const fn new(field: Arc<Field>) -> Self {
        Self { field }
    }

    /// A fresh id of a kind. Ids sort by the time of their making.
    pub(crate) fn draw(&self, kind: ResourceKind) -> String {
        kind.id(&quipu_field::ids::letters(self.field.origin().id_bits()))
    }

    /// Runs what reads storage away from the threads that serve sockets.
    pub(crate) async fn reading<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Self) -> Result<T, HarnError> + Send + 'static,
    ) -> Result<T, HarnError> {
        let harness = self.clone();
        let work = move |_: &Arc<Field>| Ok(read(&harness));
        self.field.blocking(work).await.map_err(|error| harn_error(&error))?
    }

    /// Whether the caller may know of what belongs to a session. What belongs to none, everybody may.
    pub(crate) fn may_know(&self, caller: &Caller, session: Option<&str>) -> bool {
        let Some(id) = session else { return true };
        self.field.with_state(|state| {
            let entry = state.sessions.get(id);
            entry.is_none_or(|entry| {
                quipu_field::visibility::may_know(entry, &caller.agent, caller.authority)
            })
        })
    }
}
