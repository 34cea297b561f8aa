//! Setting which authority units of a type take. Ours, and for the operator alone; it is in the log, because rules ask it.

use quipu_log::{Body, Commit, DraftEvent, Header};
use quipu_wire::{
    akashik::{LeastAuthorityChange, LeastAuthorityPayload, LeastAuthorityRow, Mode},
    json::canon::CanonError,
    limits::AUTHORITY_MAX,
};

use super::{Refusal, admit};
use crate::{
    event::{Event, RetractionBody},
    message::Message,
    origin::Origin,
    rules::Decision,
    state::State,
};

pub const AUTHORITY: u8 = AUTHORITY_MAX;

/// A change of the table with its reason sealed.
#[derive(Debug, Clone)]
pub struct LeastAuthorityCommand {
    rows: Vec<LeastAuthorityRow>,
    reason: Body,
}

impl LeastAuthorityCommand {
    /// Seals the reason before the writer sees it.
    pub fn prepare(
        payload: LeastAuthorityPayload,
        origin: &dyn Origin,
    ) -> Result<Self, CanonError> {
        let text = RetractionBody { purpose: payload.intent.purpose };
        let rows = payload.least.into_iter().flat_map(rows_of).collect();
        Ok(Self { rows, reason: Body::new(origin.salt(), &text)? })
    }
}

fn rows_of(change: LeastAuthorityChange) -> Vec<LeastAuthorityRow> {
    let LeastAuthorityChange { memory_type, mode, authority } = change;
    let modes = mode.map_or_else(|| Mode::ALL.to_vec(), |mode| vec![mode]);
    modes.into_iter().map(|mode| LeastAuthorityRow { memory_type, mode, authority }).collect()
}

pub fn decide(
    state: &State,
    message: &Message,
    command: &LeastAuthorityCommand,
) -> Result<Decision, Refusal> {
    admit(state, &message.agent, message.authority, AUTHORITY)?;
    let event = Event::LeastAuthoritySet { rows: command.rows.clone() };
    Ok(vec![DraftEvent { event, body: Some(command.reason.clone()) }])
}

/// Whether a change says what a commit says.
pub(super) fn is_same(
    command: &LeastAuthorityCommand,
    header: &Header<Event>,
    commit: &Commit,
) -> bool {
    (0u32..).zip(&header.events).any(|(at, sealed)| {
        let Event::LeastAuthoritySet { rows } = &sealed.event else { return false };
        *rows == command.rows && commit.body(at).is_none_or(|body| body.json == command.reason.json)
    })
}
