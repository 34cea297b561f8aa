//! The handle's part in second vectors: which units wait, what is told of those that wait no longer,
//! and the vector of what an ATTUNE asks about.

use quipu_core::outline::Texts;
use std::{io, sync::Arc};

use quipu_log::EngineError;
use quipu_recall::Embedder;
use quipu_wire::akashik::{AttunePayload, UnitStatus};

use tokio::sync::oneshot;

use crate::{
    base::{
        failure::with_causes,
        limits::{ENRICH_BATCH_UNITS, QUERY_EMBED_WAIT},
    },
    enrich::{EnrichmentProgress, Waiting, Work, is_wanted, purge_file},
    field::{Field, enrich_later},
    read::attune::query,
};
use quipu_core::{UnitId, event::UnitBody, rules::Action};

impl Field {
    /// Starts to fetch second vectors. Nobody waits for this thread: a model may take long to answer,
    /// and what it answers after the Field was closed is not kept.
    pub(crate) fn start_enriching(self: &Arc<Self>) -> Result<(), EngineError> {
        let Some(enriching) = self.enriching.clone() else { return Ok(()) };
        let field = Arc::downgrade(self);
        let thread = std::thread::Builder::new()
            .name(format!("enrich-{}", self.name))
            .spawn(move || enrich_later::run(&enriching, &field));
        thread.map(|_| ()).map_err(|source| EngineError::Io {
            action: format!("start the enriching of field {}", self.name),
            source: source.into(),
        })
    }

    /// How far the vectors of the configured model have come; none where no model is configured.
    #[must_use]
    pub fn enrichment(&self) -> Option<EnrichmentProgress> {
        let enriching = self.enriching.as_ref()?;
        let published = self.view.read();
        let wanted = (0..published.state.units.next_ordinal())
            .filter(|unit| is_wanted(&published, *unit))
            .count();
        let done = published.index.second().map_or(0, quipu_recall::Vectors::len);
        Some(EnrichmentProgress {
            model: enriching.embedder().model_id().to_owned(),
            done: u64::try_from(done.min(wanted)).unwrap_or(u64::MAX),
            of: u64::try_from(wanted).unwrap_or(u64::MAX),
            failure: enriching.failure(),
        })
    }

    /// Whether a unit that is recorded now would have to wait for its vector.
    pub(crate) fn is_enrichment_failing(&self) -> bool {
        self.enriching.as_ref().is_some_and(|enriching| enriching.failure().is_some())
    }

    /// The next units without a vector, with their texts.
    pub(crate) fn without_vector(&self, work: &mut Work) -> Vec<Waiting> {
        let places: Vec<_> = {
            let published = self.view.read();
            let units = work.next(&published, ENRICH_BATCH_UNITS);
            let place = |ordinal| {
                let unit = published.state.units.details(ordinal)?;
                Some((ordinal, unit.id, unit.position, unit.event))
            };
            units.into_iter().filter_map(place).collect()
        };
        let mut waiting = Vec::new();
        for (ordinal, id, position, event) in places {
            let text = match self.bodies.load::<UnitBody>(position, event) {
                Ok(body) => body.map(|body| body.content).unwrap_or_default(),
                Err(error) => {
                    tracing::warn!(unit = %id, error = with_causes(&error), "no text to embed");
                    String::new()
                }
            };
            if text.trim().is_empty() {
                work.refuse(ordinal);
            } else {
                waiting.push(Waiting { ordinal, id, text });
            }
        }
        waiting
    }

    /// Tells the log of units that waited for a vector and have it now.
    pub(crate) fn release(&self, units: Vec<u32>) {
        let waiting: Vec<u32> = {
            let state = &self.view.read().state;
            let waits = |unit: &u32| {
                state.units.flags(*unit).is_some_and(|f| f.status == UnitStatus::PendingEnrichment)
            };
            units.into_iter().filter(waits).collect()
        };
        if waiting.is_empty() {
            return;
        }
        let queued = self.enqueue(self.system(0), Action::NoteEnriched(waiting));
        let noted = queued.map(|(answer, _)| answer.blocking_recv());
        if let Err(error) | Ok(Ok(Err(error))) = noted {
            tracing::warn!(field = %self.name, %error, "units stay in the status pending_enrichment");
        }
    }

    /// The same for all units, after a failure or a restart.
    pub(crate) fn release_waiting(&self) {
        let ready = {
            let published = self.view.read();
            let Some(second) = published.index.second() else { return };
            (0..published.state.units.next_ordinal()).filter(|unit| second.has(*unit)).collect()
        };
        self.release(ready);
    }

    /// Takes the vectors of purged units out of their file. They are out of the index already.
    pub(crate) fn forget_vectors(&self, units: &[UnitId]) -> io::Result<()> {
        let Some(path) = &self.vectors else { return Ok(()) };
        let gone = units.iter().copied().collect();
        match &self.enriching {
            Some(enriching) => enriching.purge(path, &gone),
            None => purge_file(path, &gone),
        }
    }

    pub(crate) fn report_progress(&self) {
        if let Some(EnrichmentProgress { model, done, of, .. }) = self.enrichment() {
            tracing::info!(field = %self.name, model, done, of, "vectors of the configured model");
        }
    }

    /// The second model's vector of what an ATTUNE asks about.
    pub(crate) async fn second_vector_of_hint(&self, payload: &AttunePayload) -> Option<Vec<f32>> {
        self.enriching.as_ref()?;
        let text = query::meant(&self.view.read().state, payload)?;
        self.second_vector(&text).await
    }

    /// The second model's vector of a text that is asked about. None where there is no such model, or
    /// nothing to compare with, or the model fails, is busy or takes too long: the built-in one is
    /// always there.
    async fn second_vector(&self, text: &str) -> Option<Vec<f32>> {
        let enriching =
            self.enriching.as_ref().filter(|enriching| enriching.failure().is_none())?;
        if text.trim().is_empty() || self.view.read().index.second().is_none() {
            return None;
        }
        if let Some(known) = enriching.query_vectors.get(text) {
            return Some(known);
        }
        let place = enriching.query_vectors.permit()?;
        let (enriching, text) = (Arc::clone(enriching), text.to_owned());
        let (reply, answer) = oneshot::channel();
        // A thread of its own, because a server that stops does not wait for it.
        let asking = std::thread::Builder::new().name("embed-hint".to_owned()).spawn(move || {
            let _place = place;
            if let Some(vector) = embed_one(enriching.embedder().as_ref(), &text) {
                enriching.query_vectors.remember(text, vector.clone());
                reply.send(vector).ok();
            }
        });
        asking.ok()?;
        tokio::time::timeout(QUERY_EMBED_WAIT, answer).await.ok()?.ok()
    }
}

fn embed_one(embedder: &dyn Embedder, text: &str) -> Option<Vec<f32>> {
    embedder.embed(&[text]).ok()?.pop()
}
