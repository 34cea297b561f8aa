//! DETECT of the handle: lists conflicts, and lets the Field's detector look for new ones. Reading
//! texts and judging them is done away from the writer, a stretch of units at a time.

use std::sync::Arc;

use quipu_log::{Body, EngineError};
use quipu_recall::{Claim, Method};
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{DetectMode, DetectPayload, DetectResponse, DetectedBy, Operation, ScanCoverage},
};

use crate::{
    command::{Action, Message},
    event::{ConflictBody, Event, UnitBody},
    failure::storage_failure,
    field::Field,
    ids::ConflictId,
    limits::{DETECT_CANDIDATES_MAX, DETECT_FOUND_MAX, DETECT_STRETCH_UNITS},
    ops::{
        self,
        detect::{self, Found},
    },
    state::State,
    visibility::{Sight, may_enter},
};

/// A unit's text and what else a detector may know of it, taken out of the state.
struct Witness {
    ordinal: u32,
    position: u64,
    event: u32,
    score: Option<f64>,
    epoch: u64,
}

#[derive(Default)]
struct Look {
    found: Vec<Found>,
    units_scanned: u64,
}

impl Field {
    /// DETECT.
    pub async fn detect(
        self: &Arc<Self>,
        message: Message,
        payload: DetectPayload,
    ) -> Result<DetectResponse, ProtocolError> {
        self.look_and_list(message, payload).await.map_err(|error| error.during(Operation::Detect))
    }

    async fn look_and_list(
        self: &Arc<Self>,
        message: Message,
        payload: DetectPayload,
    ) -> Result<DetectResponse, ProtocolError> {
        self.await_epoch(&message).await?;
        let asked = payload.clone();
        let listing = message.clone();
        let look = self
            .blocking(move |field| {
                let target = {
                    let state = &field.view.read().state;
                    ops::admit(state, &message.agent, message.authority, detect::AUTHORITY)?;
                    let session = message.session.as_deref();
                    may_enter(state, message.speaker(), session).map_err(ops::Refusal::from)?;
                    let sight = Sight::by(state, &message.agent, session, message.authority);
                    field.tick(message.epoch)?;
                    detect::target(state, &sight, &asked)?
                };
                match (asked.mode, target) {
                    (DetectMode::Check, Some(target)) => field.check(target),
                    (DetectMode::Scan, _) => field.scan(),
                    (DetectMode::List | DetectMode::Check, _) => Ok(Look::default()),
                }
            })
            .await?;
        let new_conflicts_found = self.note(look.found).await?;
        let units_scanned = look.units_scanned;
        self.blocking(move |field| {
            let conflicts = {
                let state = &field.view.read().state;
                let (agent, session) = (&listing.agent, listing.session.as_deref());
                let sight = Sight::by(state, agent, session, listing.authority);
                detect::detect(state, &sight, &payload)?
            };
            Ok(DetectResponse {
                status: "ok".to_owned(),
                conflicts: field.complete(conflicts)?,
                scan_coverage: ScanCoverage { units_scanned, new_conflicts_found },
                warnings: Vec::new(),
            })
        })
        .await
    }

    /// Puts what was found into the log, as an observation of the Field's own.
    async fn note(&self, found: Vec<Found>) -> Result<u64, ProtocolError> {
        if found.is_empty() {
            return Ok(0);
        }
        let outcome = self.submit(self.system(0), Action::NoteConflicts(found)).await?;
        let new = |sealed: &&quipu_log::SealedEvent<Event>| {
            matches!(sealed.event, Event::ConflictDetected { .. })
        };
        Ok(u64::try_from(outcome.events.iter().filter(new).count()).unwrap_or(u64::MAX))
    }

    /// Holds one unit against all others that are current.
    fn check(&self, target: u32) -> Result<Look, ProtocolError> {
        let others = {
            let state = &self.view.read().state;
            let all = 0..state.units.next_ordinal();
            all.filter(|&unit| unit != target && detect::is_current(state, unit)).count()
        };
        let mut look =
            Look { found: Vec::new(), units_scanned: u64::try_from(others).unwrap_or(0) };
        self.judge_all(self.pairs_of(target..target.saturating_add(1)), &mut look)?;
        Ok(look)
    }

    /// Holds all units that are current against each other.
    fn scan(&self) -> Result<Look, ProtocolError> {
        let mut look = Look::default();
        let end = self.view.read().state.units.next_ordinal();
        let mut from = 0;
        while from < end && look.found.len() < DETECT_FOUND_MAX {
            let to = from.saturating_add(DETECT_STRETCH_UNITS).min(end);
            let scanned = {
                let state = &self.view.read().state;
                (from..to).filter(|&unit| detect::is_current(state, unit)).count()
            };
            look.units_scanned += u64::try_from(scanned).unwrap_or(0);
            self.judge_all(self.pairs_of(from..to), &mut look)?;
            from = to;
        }
        Ok(look)
    }

    /// The pairs that are worth a judgement: both current, and not known to disagree.
    fn pairs_of(&self, units: std::ops::Range<u32>) -> Vec<(Witness, Witness)> {
        let published = self.view.read();
        let state = &published.state;
        let mut pairs = Vec::new();
        for unit in units.filter(|&unit| detect::is_current(state, unit)) {
            let near = self.detector.candidates(&published.index, unit, DETECT_CANDIDATES_MAX);
            for other in near.into_iter().take(DETECT_CANDIDATES_MAX) {
                let (a, b) = (unit.min(other), unit.max(other));
                let worth = a != b
                    && detect::is_current(state, other)
                    && !state.conflicts.is_pair_open(a, b);
                if let (true, Some(a), Some(b)) = (worth, witness(state, a), witness(state, b)) {
                    pairs.push((a, b));
                }
            }
        }
        pairs
    }

    fn judge_all(
        &self,
        pairs: Vec<(Witness, Witness)>,
        look: &mut Look,
    ) -> Result<(), ProtocolError> {
        for (older, newer) in pairs {
            if look.found.len() >= DETECT_FOUND_MAX {
                return Ok(());
            }
            let known =
                look.found.iter().any(|f| (f.unit, f.other) == (older.ordinal, newer.ordinal));
            if !known {
                look.found.extend(self.judge(&older, &newer)?);
            }
        }
        Ok(())
    }

    fn judge(&self, older: &Witness, newer: &Witness) -> Result<Option<Found>, ProtocolError> {
        let failed = |error: EngineError| storage_failure(&error);
        let text = |unit: &Witness| self.bodies.load::<UnitBody>(unit.position, unit.event);
        let (Some(first), Some(second)) =
            (text(older).map_err(failed)?, text(newer).map_err(failed)?)
        else {
            return Ok(None);
        };
        let verdict = self.detector.judge(&claim(older, &first), &claim(newer, &second));
        let Some(verdict) = verdict else { return Ok(None) };
        let description = ConflictBody { description: verdict.reason };
        let body = Body::new(self.origin.salt(), &description).map_err(|error| {
            ProtocolError::new(ErrorCode::InternalError, format!("a verdict: {error}"))
        })?;
        Ok(Some(Found {
            unit: older.ordinal,
            other: newer.ordinal,
            detected_by: match verdict.method {
                Method::Semantic => DetectedBy::Semantic,
                Method::Logical => DetectedBy::Logical,
                Method::Temporal => DetectedBy::Temporal,
            },
            conflict: ConflictId::from_bits(self.origin.id_bits()),
            body,
        }))
    }
}

fn witness(state: &State, ordinal: u32) -> Option<Witness> {
    let unit = state.units.details(ordinal)?;
    let (position, event, score, epoch) = (unit.position, unit.event, unit.score, unit.epoch);
    Some(Witness { ordinal, position, event, score, epoch })
}

fn claim<'text>(unit: &Witness, text: &'text UnitBody) -> Claim<'text> {
    Claim {
        document: unit.ordinal,
        content: &text.content,
        assumptions: &text.assumptions,
        confidence: unit.score,
        epoch: unit.epoch,
    }
}
