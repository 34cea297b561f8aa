//! The trace of an ATTUNE, which is no operation of the protocol: what an agent was shown is noted in the log, so that a REPLAY of what it
//! recorded afterwards tells what it had in front of it.

use quipu_log::{Body, DraftEvent};
use quipu_wire::{
    akashik::{AttunePayload, AttuneResponse},
    json::canon::CanonError,
};

use super::Refusal;
use crate::{
    event::{Event, HintBody, ReturnedUnit},
    ids::{TraceId, UnitId},
    message::Message,
    origin::Origin,
    rules::Decision,
    state::State,
};

/// What was shown, with everything drawn for its trace.
#[derive(Debug, Clone)]
pub struct TraceCommand {
    id: TraceId,
    role: String,
    as_of: Option<u64>,
    units: Vec<ReturnedUnit>,
    hint: Option<Body>,
}

impl TraceCommand {
    /// Draws an id and seals the hint.
    pub fn prepare(
        payload: &AttunePayload,
        response: &AttuneResponse,
        origin: &dyn Origin,
    ) -> Result<Self, CanonError> {
        let shown = response.record.iter().filter_map(|ranked| {
            let unit = UnitId::parse(ranked.memory_unit.id())?;
            Some(ReturnedUnit { unit, score: ranked.relevance_score })
        });
        let hint = payload.context_hint.as_ref();
        let hint = hint.map(|hint| Body::new(origin.salt(), &HintBody { hint: hint.clone() }));
        Ok(Self {
            id: TraceId::from_bits(origin.id_bits()),
            role: payload.scope.role.clone(),
            as_of: response.as_of_epoch,
            units: shown.collect(),
            hint: hint.transpose()?,
        })
    }

    #[must_use]
    pub const fn id(&self) -> TraceId {
        self.id
    }
}

/// The rule. Who left meanwhile is shown nothing more that matters.
pub fn decide(
    state: &State,
    message: &Message,
    command: &TraceCommand,
) -> Result<Decision, Refusal> {
    if state.agents.live(&message.agent).is_none() {
        return Err(Refusal::AgentNotRegistered { agent: message.agent.clone() });
    }
    let event = Event::AttuneTraced {
        trace: command.id,
        role: command.role.clone(),
        hinted: command.hint.is_some(),
        as_of: command.as_of,
        units: command.units.clone(),
    };
    Ok(vec![DraftEvent { event, body: command.hint.clone() }])
}
