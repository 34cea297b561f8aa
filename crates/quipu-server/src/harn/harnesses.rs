//! The Harness of each open Field: one, because whoever issues receipts must agree on which came last. It
//! begins its own work when its Field is first asked for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use quipu_field::Field;
use quipu_harness::{Harness, HarnessOptions};
use quipu_log::FieldName;
use tokio::task::JoinSet;

/// The Harnesses of all open Fields.
#[derive(Debug)]
pub(crate) struct Harnesses {
    options: Arc<HarnessOptions>,
    by_field: RwLock<BTreeMap<FieldName, Harness>>,
    /// What each does by itself, until its Field is closed.
    runners: Mutex<JoinSet<()>>,
}

impl Harnesses {
    pub(crate) fn new(options: HarnessOptions) -> Self {
        Self { options: Arc::new(options), by_field: RwLock::default(), runners: Mutex::default() }
    }

    /// The Harness of a Field. The first time, it starts to answer the Field's own Tasks and to settle what ends.
    pub(crate) fn of(&self, field: &Arc<Field>) -> Harness {
        let known = self.by_field.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(harness) = known.get(field.name()) {
            return harness.clone();
        }
        drop(known);
        let mut known = self.by_field.write().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let harness = Harness::with_options(Arc::clone(field), Arc::clone(&self.options));
            let mut runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
            runners.spawn(harness.clone().run_field_tasks());
            runners.spawn(harness.clone().run_module_tasks());
            runners.spawn(harness.clone().run_notary());
            harness.resume_replays();
            harness
        };
        known.entry(field.name().clone()).or_insert_with(start).clone()
    }

    /// Waits until all of them have noticed that their Fields are closed: until then they hold them.
    pub(crate) async fn ended(&self) {
        let mut runners =
            std::mem::take(&mut *self.runners.lock().unwrap_or_else(PoisonError::into_inner));
        while runners.join_next().await.is_some() {}
    }
}
