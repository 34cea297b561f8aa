//! RECORD of the handle. What disagrees with the new unit is looked for before it is submitted, so that
//! its conflicts are in the same commit, unless there is no time for it: then the unit waits for the
//! background, and the answer says so.

use std::sync::Arc;

use quipu_wire::akashik::{Mode, RecordPayload, RecordResponse, RecordsPayload, Relation};

use crate::{
    base::error::{FieldError, RequestError},
    detect::{Detected, Subject, Waiting},
    field::Field,
    write::job::Outcome,
};
use quipu_core::{
    Event, Message, UnitId,
    rules::{
        Action,
        record::{self, RecordCommand},
    },
};

impl Field {
    pub async fn record(
        &self,
        message: Message,
        payload: RecordPayload,
    ) -> Result<RecordResponse, FieldError> {
        let _going = self.lookout.record(1);
        // A draft is nobody's claim yet.
        let wanted = self.lookout.is_automatic() && payload.mode == Mode::Committed;
        let looked = if wanted { self.detect_at_once(&message, &payload).await } else { None };
        let mut unit = self.prepare("payload".to_owned(), payload)?;
        let (finished, up_to) =
            looked.as_ref().map_or((false, 0), |looked| (looked.finished, looked.up_to));
        unit.observe(looked.map_or_else(Vec::new, |looked| looked.found));
        unit.is_deferred = wanted && !finished;
        let mut answers =
            self.put_down(message, vec![unit], if finished { up_to } else { 0 }).await?;
        let lost = || FieldError::Internal("an answer was lost".to_owned());
        answers.pop().ok_or_else(lost)
    }

    /// RECORD of several units in one commit: all of them or none, with an answer for each. Whoever sends many
    /// does not wait for each to be looked at: detection is left to the background.
    pub async fn record_all(
        &self,
        message: Message,
        payload: RecordsPayload,
    ) -> Result<Vec<RecordResponse>, FieldError> {
        let _going = self.lookout.record(payload.units.len());
        let automatic = self.lookout.is_automatic();
        let units = payload.units.into_iter().enumerate().map(|(index, unit)| {
            let deferred = automatic && unit.mode == Mode::Committed;
            let mut unit = self.prepare(format!("payload.units[{index}]"), unit)?;
            unit.is_deferred = deferred;
            Ok(unit)
        });
        let units = units.collect::<Result<Vec<_>, FieldError>>()?;
        self.put_down(message, units, 0).await
    }

    fn prepare(&self, path: String, unit: RecordPayload) -> Result<RecordCommand, FieldError> {
        let mut unit = RecordCommand::prepare(path, unit, self.origin.as_ref())
            .map_err(RequestError::Unwritable)?;
        unit.awaits_vector = self.is_enrichment_failing();
        Ok(unit)
    }

    /// Submits units, and leaves those to the background that were not held against all since `looked_up_to`.
    async fn put_down(
        &self,
        message: Message,
        units: Vec<RecordCommand>,
        looked_up_to: u32,
    ) -> Result<Vec<RecordResponse>, FieldError> {
        let (answer, words) = self.enqueue(message, Action::Record(units))?;
        words.iter().for_each(|words| {
            words.get();
        });
        let outcome = self.outcome(answer).await?;
        self.enriching.iter().for_each(|enriching| enriching.wake());
        if self.lookout.is_automatic() {
            self.detect_later(&outcome, looked_up_to);
        }
        Ok(record::respond(outcome.epoch, &outcome.events))
    }

    /// Looks for what disagrees, away from the threads that serve sockets, if there is time for it.
    async fn detect_at_once(&self, message: &Message, payload: &RecordPayload) -> Option<Detected> {
        let permit = self.lookout.at_once()?;
        let subject = subject(message, payload);
        let related = related(&self.view.read().state, &payload.relations);
        let lookout = Arc::clone(&self.lookout);
        let look = tokio::task::spawn_blocking(move || {
            let looked =
                lookout.find_conflicts_quickly(&subject, &|other| !related.contains(&other));
            drop(permit);
            looked
        });
        look.await.ok()
    }

    /// Leaves units to the background, if there is anything that they were not held against.
    fn detect_later(&self, outcome: &Outcome, from: u32) {
        let units = outcome.events.iter().filter_map(|sealed| {
            let Event::UnitRecorded { unit, mode: Mode::Committed, .. } = &sealed.event else {
                return None;
            };
            Some(*unit)
        });
        // Asked of all at once: the lock is the writer's too.
        let waiting: Vec<Waiting> = {
            let published = self.view.read();
            let later =
                |unit: &UnitId| published.state.units.find(*unit).is_some_and(|at| from < at);
            units.filter(later).map(|unit| Waiting { unit, from }).collect()
        };
        self.lookout.defer(waiting);
    }
}

fn subject(message: &Message, payload: &RecordPayload) -> Subject {
    let confidence = payload.confidence.as_ref();
    Subject {
        content: payload.content.clone(),
        assumptions: confidence.map(|c| c.assumptions.clone()).unwrap_or_default(),
        confidence: confidence.and_then(|c| c.score),
        agent: message.agent.clone(),
        session: message.session.clone(),
        authority: message.authority,
        ordinal: None,
        from: 0,
    }
}

/// The units that the author names: what there is between them and the new one has been said.
fn related(state: &quipu_core::State, relations: &[Relation]) -> Vec<u32> {
    let ids = relations.iter().filter_map(|relation| UnitId::parse(&relation.target_id));
    ids.filter_map(|id| state.units.find(id)).collect()
}
