//! RECORD of the handle. What disagrees with the new unit is looked for before it is submitted, so that
//! its conflicts are in the same commit, unless there is no time for it: then the unit waits for the
//! background, and the answer says so.

use std::sync::Arc;

use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{Mode, Operation, RecordPayload, RecordResponse, Relation},
};

use crate::{
    command::{Action, Message},
    detecting::{Looked, Subject, Waiting},
    event::Event,
    field::Field,
    ids::UnitId,
    ops::record::{self, RecordCommand},
    writer::Outcome,
};

impl Field {
    /// RECORD.
    pub async fn record(
        &self,
        message: Message,
        payload: RecordPayload,
    ) -> Result<RecordResponse, ProtocolError> {
        let _going = self.lookout.record();
        // A draft is nobody's claim yet.
        let wanted = self.lookout.is_automatic() && payload.mode == Mode::Committed;
        let looked = if wanted { self.look_at_once(&message, &payload).await } else { None };
        let mut command = RecordCommand::prepare(payload, self.origin.as_ref())
            .map_err(|error| ProtocolError::new(ErrorCode::InvalidPayload, error.to_string()))?;
        let (finished, up_to) =
            looked.as_ref().map_or((false, 0), |looked| (looked.finished, looked.up_to));
        command.observe(looked.map_or_else(Vec::new, |looked| looked.found));
        command.awaits_vector = self.is_enrichment_failing();
        command.is_deferred = wanted && !finished;
        let words = Arc::clone(command.words());
        let answer = self.enqueue(message, Action::Record(Box::new(command)))?;
        words.get();
        let outcome = self.outcome(answer).await.map_err(|e| e.during(Operation::Record))?;
        self.enriching.iter().for_each(|enriching| enriching.wake());
        if wanted {
            self.look_later(&outcome, if finished { up_to } else { 0 });
        }
        Ok(record::respond(outcome.epoch, &outcome.events))
    }

    /// Looks for what disagrees, away from the threads that serve sockets, if there is time for it.
    async fn look_at_once(&self, message: &Message, payload: &RecordPayload) -> Option<Looked> {
        let permit = self.lookout.at_once()?;
        let subject = subject(message, payload);
        let related = related(&self.view.read().state, &payload.relations);
        let lookout = Arc::clone(&self.lookout);
        let look = tokio::task::spawn_blocking(move || {
            let looked = lookout.look_quickly(&subject, &|other| !related.contains(&other));
            drop(permit);
            looked
        });
        look.await.ok()
    }

    /// Leaves a unit to the background, if there is anything that it was not held against.
    fn look_later(&self, outcome: &Outcome, from: u32) {
        let recorded = outcome.events.iter().find_map(|sealed| {
            if let Event::UnitRecorded { unit, .. } = &sealed.event { Some(*unit) } else { None }
        });
        let Some(unit) = recorded else { return };
        let ordinal = self.view.read().state.units.find(unit);
        if ordinal.is_some_and(|ordinal| from < ordinal) {
            self.lookout.defer(Waiting { unit, from });
        }
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
fn related(state: &crate::state::State, relations: &[Relation]) -> Vec<u32> {
    let ids = relations.iter().filter_map(|relation| UnitId::parse(&relation.target_id));
    ids.filter_map(|id| state.units.find(id)).collect()
}
