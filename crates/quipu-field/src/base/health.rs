//! Whether a Field can take writes, and if not, why. `/readyz` answers from it, and every write checks it first.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use crate::base::{error::FieldError, unavailable::Unavailable};

/// See [`Health::fail_on_panic`].
#[derive(Debug)]
pub(crate) struct FailOnPanic<'a> {
    health: &'a Health,
    who: &'static str,
}

impl Drop for FailOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.health.fail(&format!("{} died; the server's own log says why", self.who));
        }
    }
}

/// The health of a Field. Once it failed it stays failed until the Field is opened again.
#[derive(Debug, Default)]
pub struct Health {
    failure: OnceLock<String>,
    checked: AtomicU64,
    to_check: AtomicU64,
}

impl Health {
    /// Stops the Field from taking writes. The first reason stays.
    pub fn fail(&self, reason: &str) {
        if self.failure.set(reason.to_owned()).is_ok() {
            tracing::error!(reason, "the Field takes no more writes until it is opened again");
        }
    }

    /// Why it takes no writes.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Refuses, where the Field takes no writes.
    pub fn check(&self) -> Result<(), FieldError> {
        let reason = |reason: &str| Unavailable::TakesNoWrites { reason: reason.to_owned() };
        self.failure().map_or(Ok(()), |failure| Err(reason(failure).into()))
    }

    /// How far the check of old commits has come in the background: done, and of how many.
    #[must_use]
    pub fn background_check(&self) -> (u64, u64) {
        (self.checked.load(Ordering::Relaxed), self.to_check.load(Ordering::Relaxed))
    }

    /// Notes if this thread dies of a defect of ours before what is answered here is dropped.
    pub(crate) const fn fail_on_panic(&self, who: &'static str) -> FailOnPanic<'_> {
        FailOnPanic { health: self, who }
    }

    pub(crate) fn start_check(&self, to_check: u64) {
        self.to_check.store(to_check, Ordering::Relaxed);
    }

    pub(crate) fn checked(&self, position: u64) {
        self.checked.store(position, Ordering::Relaxed);
    }
}
