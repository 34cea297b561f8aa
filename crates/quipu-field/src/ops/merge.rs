//! MERGE on the handle.

use quipu_core::outline::{ConflictOutline, Texts};
use std::sync::Arc;

use quipu_log::EngineError;
use quipu_wire::akashik::{Conflict, ConflictStrategy, MergePayload, MergeResponse};

use crate::{
    base::error::{FieldError, RequestError},
    field::Field,
};
use quipu_core::{
    Message,
    event::UnitBody,
    ids::ConflictId,
    rules::{
        Action,
        merge::{self, Evidence, MergeCommand},
    },
};

impl Field {
    pub async fn merge(
        self: &Arc<Self>,
        message: Message,
        payload: MergePayload,
    ) -> Result<MergeResponse, FieldError> {
        let evidence = self.evidence(&payload).await?;
        let command = MergeCommand::prepare(&payload, evidence, self.origin.as_ref())
            .map_err(RequestError::Unwritable)?;
        let sender = message.agent.clone();
        let (epoch, events) = if payload.dry_run {
            let decided =
                merge::decide(&self.view.read().state, &message, self.origin.now_ms(), &command)?;
            (self.clock.now(), decided.into_iter().map(|draft| draft.event).collect::<Vec<_>>())
        } else {
            let outcome = self.submit(message, Action::Merge(Box::new(command))).await?;
            let happened = outcome.events.iter().map(|sealed| sealed.event.clone());
            (outcome.epoch, happened.collect())
        };
        self.blocking(move |field| {
            let conflict = field.conflict(&payload.conflict_id)?;
            Ok(merge::respond(epoch, &events, (sender.as_str(), &payload), conflict))
        })
        .await
    }

    fn conflict(&self, id: &str) -> Result<Conflict, FieldError> {
        let missing = || FieldError::Internal(format!("no conflict {id} after MERGE"));
        let outline = {
            let published = self.view.read();
            let state = &published.state;
            let id = ConflictId::parse(id).ok_or_else(missing)?;
            let entry = state.conflicts.get(id).ok_or_else(missing)?;
            ConflictOutline::of(state, entry)
        };
        outline.complete(&self.bodies).map_err(FieldError::from)
    }

    /// What the texts of the two units list as evidence, where the strategy counts it.
    async fn evidence(self: &Arc<Self>, payload: &MergePayload) -> Result<Evidence, FieldError> {
        if payload.strategy != ConflictStrategy::EvidenceCount {
            return Ok(Evidence::default());
        }
        let Some(id) = ConflictId::parse(&payload.conflict_id) else {
            return Ok(Evidence::default());
        };
        self.blocking(move |field| {
            let places = {
                let state = &field.view.read().state;
                let place =
                    |unit| state.units.details(unit).map(|unit| (unit.position, unit.event));
                state.conflicts.get(id).map(|entry| [entry.unit_a, entry.unit_b].map(place))
            };
            let count = |place: Option<(u64, u32)>| -> Result<usize, EngineError> {
                let Some((position, event)) = place else { return Ok(0) };
                let body = field.bodies.load::<UnitBody>(position, event)?;
                Ok(body.map_or(0, |body| body.evidence.len()))
            };
            let [a, b] = places.unwrap_or_default();
            Ok(Evidence { unit_a: count(a)?, unit_b: count(b)? })
        })
        .await
    }
}
