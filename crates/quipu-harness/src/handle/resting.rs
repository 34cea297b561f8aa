//! A Harness that does not hold its Field, so that a Field which nobody uses can be put away. What all of a
//! Field's Harnesses must agree on is kept, for when it is opened again.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use quipu_field::{Field, TaskMoved};
use tokio::{sync::Mutex, time::timeout};

use crate::{
    Harness, HarnessOptions,
    handle::{given_inputs::GivenInputs, held_secrets::HeldSecrets, replayed_cache::ReplayedCache},
};

/// How long what a log that is away did not take is left alone.
const RETRY: Duration = Duration::from_secs(2);

/// A Harness without its Field.
#[derive(Debug, Clone)]
pub struct Resting {
    field: Weak<Field>,
    options: Arc<HarnessOptions>,
    issuing: Arc<Mutex<()>>,
    changing: Arc<Mutex<()>>,
    held: HeldSecrets,
    inputs: GivenInputs,
    replayed: ReplayedCache,
}

impl Resting {
    /// The Harness, if its Field is still there.
    #[must_use]
    pub fn wake(&self) -> Option<Harness> {
        self.field.upgrade().map(|field| self.wake_with(field))
    }

    /// The Harness with its Field, which may have been opened anew.
    #[must_use]
    pub fn wake_with(&self, field: Arc<Field>) -> Harness {
        Harness {
            field,
            options: Arc::clone(&self.options),
            issuing: Arc::clone(&self.issuing),
            changing: Arc::clone(&self.changing),
            held: self.held.clone(),
            inputs: self.inputs.clone(),
            replayed: self.replayed.clone(),
        }
    }

    /// Whether this is the Field that it left.
    #[must_use]
    pub fn is_of(&self, field: &Arc<Field>) -> bool {
        std::ptr::eq(self.field.as_ptr(), Arc::as_ptr(field))
    }
}

impl Harness {
    /// The same without the Field.
    #[must_use]
    pub fn rest(&self) -> Resting {
        Resting {
            field: Arc::downgrade(&self.field),
            options: Arc::clone(&self.options),
            issuing: Arc::clone(&self.issuing),
            changing: Arc::clone(&self.changing),
            held: self.held.clone(),
            inputs: self.inputs.clone(),
            replayed: self.replayed.clone(),
        }
    }

    /// Lets go of the Field until a task was made or moved, or `again` until it is worth another try. None where the Field
    /// was closed meanwhile.
    pub(crate) async fn rest_until(self, moved: TaskMoved, again: bool) -> Option<Self> {
        let resting = self.rest();
        drop(self);
        let open = if again {
            timeout(RETRY, moved.wait()).await.unwrap_or(true)
        } else {
            moved.wait().await
        };
        if open { resting.wake() } else { None }
    }
}
