//! The Fields of one server: opened on first use, each once, all closed together.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use quipu_log::{Engine, EngineError, FieldName};
use tokio::sync::OnceCell;

use crate::{failure::with_causes, field::Field, field_options::FieldOptions, origin::Origin};

type Slot = Arc<OnceCell<Arc<Field>>>;

/// All Fields over one engine.
#[derive(Debug)]
pub struct Fields {
    engine: Arc<dyn Engine>,
    /// What each is opened with, but for its own directory.
    template: FieldOptions,
    directory: Option<PathBuf>,
    open: Mutex<BTreeMap<FieldName, Slot>>,
    /// Why Fields could not be opened, the last time it was tried.
    failed: Mutex<BTreeMap<FieldName, String>>,
}

impl Fields {
    /// The Fields of an engine, opened with the defaults.
    #[must_use]
    pub fn new(
        engine: Arc<dyn Engine>,
        origin: Arc<dyn Origin>,
        directory: Option<PathBuf>,
    ) -> Self {
        Self::with_options(engine, FieldOptions::new(origin), directory)
    }

    /// The Fields of an engine. With a directory, each keeps its snapshots in
    /// `<directory>/<name>/snapshots`, what proofs need in `<directory>/<name>/proofs`, and the vectors of a
    /// configured model in `<directory>/<name>/vectors`.
    #[must_use]
    pub fn with_options(
        engine: Arc<dyn Engine>,
        template: FieldOptions,
        directory: Option<PathBuf>,
    ) -> Self {
        Self { engine, template, directory, open: Mutex::default(), failed: Mutex::default() }
    }

    /// The Field of that name, opened if it is not open, made if there is none.
    pub async fn open(&self, name: &FieldName) -> Result<Arc<Field>, EngineError> {
        let slot = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(open.entry(name.clone()).or_default())
        };
        let field = slot
            .get_or_try_init(|| async {
                let (engine, name) = (Arc::clone(&self.engine), name.clone());
                let options = self.options(&name);
                let opened =
                    tokio::task::spawn_blocking(move || Field::open(engine, name, options)).await;
                opened.unwrap_or_else(|error| {
                    let action = "open the field".to_owned();
                    Err(EngineError::Io { action, source: error.into() })
                })
            })
            .await;
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match field {
            Ok(field) => {
                failed.remove(name);
                Ok(Arc::clone(field))
            }
            Err(error) => {
                failed.insert(name.clone(), with_causes(&error));
                Err(error)
            }
        }
    }

    fn options(&self, name: &FieldName) -> FieldOptions {
        let within = |part: &str| {
            self.directory.as_ref().map(|directory| directory.join(name.to_string()).join(part))
        };
        FieldOptions {
            snapshots: within("snapshots"),
            proofs: within("proofs"),
            vectors: within("vectors"),
            ..self.template.clone()
        }
    }

    /// The Field of that name if there is one: open already, or with a log.
    pub async fn find(&self, name: &FieldName) -> Result<Option<Arc<Field>>, EngineError> {
        if let Some(field) = self.opened().into_iter().find(|field| field.name() == name) {
            return Ok(Some(field));
        }
        if self.engine.head(name)? == quipu_log::Head::EMPTY {
            return Ok(None);
        }
        self.open(name).await.map(Some)
    }

    /// Whether other nodes may serve them too.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.engine.is_shared()
    }

    /// The Fields that are open now.
    #[must_use]
    pub fn opened(&self) -> Vec<Arc<Field>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.values().filter_map(|slot| slot.get().map(Arc::clone)).collect()
    }

    /// The Fields that could not be opened when it was last tried, and why.
    #[must_use]
    pub fn failed(&self) -> Vec<(FieldName, String)> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.iter().map(|(name, reason)| (name.clone(), reason.clone())).collect()
    }

    /// Closes all of them in order.
    pub async fn close(&self) {
        for field in self.opened() {
            field.close().await;
        }
    }
}
