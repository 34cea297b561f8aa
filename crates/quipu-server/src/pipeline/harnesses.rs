//! The Harness of each open Field: one, because whoever issues receipts must agree on which came last. It
//! begins its own work when its Field was opened, and holds the Field only while it works.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use quipu_field::Field;
use quipu_harness::{Harness, HarnessOptions, Resting};
use quipu_log::FieldName;
use tokio::task::JoinSet;

#[derive(Debug)]
pub(crate) struct Harnesses {
    options: Arc<HarnessOptions>,
    by_field: RwLock<BTreeMap<FieldName, Resting>>,
    /// What each does by itself, until its Field is closed.
    runners: Mutex<JoinSet<()>>,
}

impl Harnesses {
    pub(crate) fn new(options: HarnessOptions) -> Self {
        Self { options: Arc::new(options), by_field: RwLock::default(), runners: Mutex::default() }
    }

    /// The Harness of a Field. When the Field was opened, it starts to answer the Field's own Tasks and to
    /// settle what ends.
    pub(crate) fn of(&self, field: &Arc<Field>) -> Harness {
        let known = self.by_field.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(harness) = known.get(field.name()).filter(|known| known.is_of(field)) {
            return harness.wake_with(Arc::clone(field));
        }
        drop(known);
        let mut known = self.by_field.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.get(field.name());
        let harness = before.map_or_else(
            || Harness::with_options(Arc::clone(field), Arc::clone(&self.options)),
            |before| before.wake_with(Arc::clone(field)),
        );
        if before.is_none_or(|before| !before.is_of(field)) {
            known.insert(field.name().clone(), harness.rest());
            self.start(&harness);
        }
        harness
    }

    fn start(&self, harness: &Harness) {
        let mut runners = self.runners.lock().unwrap_or_else(PoisonError::into_inner);
        // Those of Fields that were put away have ended.
        while runners.try_join_next().is_some() {}
        runners.spawn(harness.clone().run_field_tasks());
        runners.spawn(harness.clone().run_module_tasks());
        runners.spawn(harness.clone().run_notary());
        harness.resume_replays();
    }

    /// Ends the modules that run and starts no more: they are run again when their Fields are opened the next time.
    pub(crate) fn stop_modules(&self) {
        self.options.modules.stop();
    }

    /// Waits until all of them have noticed that their Fields are closed: until then they hold them.
    pub(crate) async fn ended(&self) {
        let mut runners =
            std::mem::take(&mut *self.runners.lock().unwrap_or_else(PoisonError::into_inner));
        while runners.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::mpsc, time::Duration};

    use axum::{body::Body, http::Request};
    use quipu_field::{Fields, SystemOrigin};
    use quipu_log::MemoryEngine;

    use crate::{
        observe::metrics::install_metrics, pipeline::state::App, routes::mcp,
        secrets::keys::KeyStore,
    };

    fn app() -> Arc<App> {
        let directory = tempfile::tempdir().unwrap();
        let keys = Arc::new(KeyStore::open(directory.path()).unwrap());
        let engine = Arc::new(MemoryEngine::new());
        let fields = Arc::new(Fields::new(engine, Arc::new(SystemOrigin), None));
        let (push, harn) = (crate::PushOptions::default(), crate::HarnOptions::default());
        Arc::new(App::new(fields, keys, true, install_metrics(), push, &harn).unwrap())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_request_of_the_other_protocol_opens_a_field_while_the_harnesses_are_not_to_be_had() {
        let app = app();
        let (holder, (has, holds), (release, released)) =
            (Arc::clone(&app), mpsc::channel(), mpsc::channel::<()>());
        let holding = std::thread::spawn(move || {
            let _held = holder.harnesses.by_field.write().unwrap();
            has.send(()).unwrap();
            released.recv().unwrap_err();
        });
        holds.recv().unwrap();
        let joining = r#"{"id":"a","role":"r","interests":[],"required_operations":[]}"#;
        let request = Request::post("/v1/register")
            .header("Content-Type", "application/json")
            .header("Quipu-Field", "another")
            .body(Body::from(joining))
            .unwrap();
        let entrance = mcp::entrance(Arc::clone(&app));
        let answering =
            tokio::spawn(async move { entrance.serve(request).await.unwrap().status() });
        let answered = tokio::time::timeout(Duration::from_secs(30), answering).await;
        drop(release);
        holding.join().unwrap();
        assert_eq!(answered.expect("it waited for the Harnesses").unwrap(), 200);
    }
}
