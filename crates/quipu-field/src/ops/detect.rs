//! DETECT of the handle: lists conflicts, and lets the Field's detector so_far for new ones among what
//! the caller may see. Reading texts and judging them is done away from the writer.

use std::{collections::BTreeSet, ops::Bound, sync::Arc};

use quipu_log::EngineError;
use quipu_wire::akashik::{DetectMode, DetectPayload, DetectResponse, ScanCoverage};

use super::status::listed_before;
use crate::{
    base::{
        asker::nobody_waits,
        error::{FieldError, RequestError},
        limits::DETECT_FOUND_MAX,
    },
    detect::run,
    field::Field,
};
use quipu_core::{
    Event, Message, Sight, State, UnitId,
    rules::{
        self, Action,
        detect::{self, Found},
    },
    visibility::may_read,
};

#[derive(Default)]
struct DetectOutcome {
    found: Vec<Found>,
    units_scanned: u64,
    /// The last unit that a scan came to, if there are more.
    stopped_at: Option<u32>,
}

impl Field {
    pub async fn detect(
        self: &Arc<Self>,
        message: Message,
        payload: DetectPayload,
    ) -> Result<DetectResponse, FieldError> {
        self.await_epoch(&message).await?;
        if payload.mode != DetectMode::List {
            self.await_index().await?;
        }
        let asked = payload.clone();
        let listing = message.clone();
        let so_far = self
            .blocking(move |field| {
                let (target, seen, after) = {
                    let state = &field.view.read().state;
                    rules::admit(state, &message.agent, message.authority, detect::AUTHORITY)?;
                    let session = message.session.as_deref();
                    may_read(state, message.speaker(), session).map_err(rules::Refusal::from)?;
                    let sight = Sight::by(state, &message.agent, session, message.authority);
                    field.tick(message.epoch)?;
                    let all = 0..state.units.next_ordinal();
                    let seen = |&unit: &u32| detect::is_current(state, unit) && sight.sees(unit);
                    let wanted = asked.mode != DetectMode::List;
                    let seen = all.filter(|unit| wanted && seen(unit)).collect::<BTreeSet<u32>>();
                    let cursor = asked.cursor.as_deref().filter(|_| asked.mode == DetectMode::Scan);
                    let after = scanned_before(state, &sight, cursor)?;
                    (detect::target(state, &sight, &asked)?, seen, after)
                };
                match (asked.mode, target) {
                    (DetectMode::Check, Some(target)) => field.check(target, &seen),
                    (DetectMode::Scan, _) => field.scan(&seen, after),
                    (DetectMode::List | DetectMode::Check, _) => Ok(DetectOutcome::default()),
                }
            })
            .await?;
        let new_conflicts_found = self.note(so_far.found).await?;
        let (units_scanned, stopped_at) = (so_far.units_scanned, so_far.stopped_at);
        self.blocking(move |field| {
            let (conflicts, scanned_to) = {
                let state = &field.view.read().state;
                let (agent, session) = (&listing.agent, listing.session.as_deref());
                let sight = Sight::by(state, agent, session, listing.authority);
                let stopped_at = stopped_at.and_then(|unit| state.units.details(unit));
                let scanned_to = stopped_at.map(|unit| unit.id.to_string());
                let after = payload.cursor.as_deref().filter(|_| payload.mode == DetectMode::List);
                let after = listed_before(state, &sight, after)?;
                (detect::detect(state, &sight, &payload, after)?, scanned_to)
            };
            let found = conflicts.len();
            let (conflicts, listed_to) = field.page_of_conflicts(conflicts)?;
            let is_list = payload.mode == DetectMode::List;
            let shown = conflicts.len();
            let cut = (!is_list && listed_to.is_some()).then(|| {
                format!("{shown} of {found} conflicts are shown: list the others with mode list")
            });
            Ok(DetectResponse {
                status: "ok".to_owned(),
                conflicts,
                scan_coverage: ScanCoverage { units_scanned, new_conflicts_found },
                next_cursor: if is_list { listed_to } else { scanned_to },
                warnings: cut.into_iter().collect(),
            })
        })
        .await
    }

    /// How many units wait for detection in the background.
    #[must_use]
    pub fn detection_backlog(&self) -> usize {
        self.lookout.waiting()
    }

    /// Waits until no unit waits for detection in the background any more.
    pub async fn detection_settled(self: &Arc<Self>) -> Result<(), FieldError> {
        self.regardless(|field| {
            field.lookout.settle();
            Ok(())
        })
        .await
    }

    /// Starts what looks at units whose RECORD did not wait for detection.
    pub(crate) fn detect_in_background(&self) -> Result<(), EngineError> {
        if !self.lookout.is_automatic() {
            return Ok(());
        }
        let (lookout, origin) = (Arc::clone(&self.lookout), Arc::clone(&self.origin));
        let jobs = self.jobs.downgrade();
        self.start("detect", move || run(&lookout, &jobs, &|| origin.now_ms()))
    }

    /// Puts what was found into the log, as an observation of the Field's own.
    async fn note(&self, found: Vec<Found>) -> Result<u64, FieldError> {
        if found.is_empty() {
            return Ok(0);
        }
        let outcome = self.submit(self.system(0), Action::NoteConflicts(found)).await?;
        let new = |sealed: &&quipu_log::SealedEvent<Event>| {
            matches!(sealed.event, Event::ConflictDetected { .. })
        };
        Ok(u64::try_from(outcome.events.iter().filter(new).count()).unwrap_or(u64::MAX))
    }

    /// Holds one unit against all others that the caller sees.
    fn check(&self, target: u32, seen: &BTreeSet<u32>) -> Result<DetectOutcome, FieldError> {
        let others = seen.len() - usize::from(seen.contains(&target));
        let mut so_far = DetectOutcome {
            units_scanned: u64::try_from(others).unwrap_or(0),
            ..DetectOutcome::default()
        };
        // What was replaced or withdrawn is in no new conflict.
        if seen.contains(&target) {
            self.hold(target, seen, &mut so_far)?;
        }
        Ok(so_far)
    }

    /// Holds units that the caller sees against each other, from where the scan before stopped, while there is
    /// budget and somebody waits for it. One at least, so that whoever goes on comes to an end.
    fn scan(&self, seen: &BTreeSet<u32>, after: Bound<u32>) -> Result<DetectOutcome, FieldError> {
        let (units_max, until_ms) = self.lookout.scan_budget();
        let (mut so_far, mut compared) = (DetectOutcome::default(), 0);
        let mut units = seen.range((after, Bound::Unbounded)).copied().peekable();
        while let Some(unit) = units.next() {
            compared += 1;
            so_far.units_scanned += 1;
            self.hold(unit, seen, &mut so_far)?;
            let over = so_far.found.len() >= DETECT_FOUND_MAX
                || compared >= units_max
                || nobody_waits()
                || self.lookout.is_past(until_ms);
            if over {
                so_far.stopped_at = units.peek().map(|_| unit);
                break;
            }
        }
        so_far.found.truncate(DETECT_FOUND_MAX);
        Ok(so_far)
    }

    fn hold(
        &self,
        unit: u32,
        seen: &BTreeSet<u32>,
        so_far: &mut DetectOutcome,
    ) -> Result<(), FieldError> {
        let Some(subject) = self.lookout.subject(unit)? else { return Ok(()) };
        let sees = |other| seen.contains(&other);
        let looked = self.lookout.find_conflicts(&subject, &sees, &nobody_waits);
        for finding in looked?.found {
            let twice = |known: &Found| known.unit == finding.other && known.finding.other == unit;
            if !so_far.found.iter().any(twice) {
                so_far.found.push(Found { unit, finding });
            }
        }
        Ok(())
    }
}

/// Behind which unit a scan goes on. Its cursor is a unit that the caller sees.
fn scanned_before(
    state: &State,
    sight: &Sight<'_>,
    cursor: Option<&str>,
) -> Result<Bound<u32>, FieldError> {
    let Some(cursor) = cursor else { return Ok(Bound::Unbounded) };
    let unit = UnitId::parse(cursor).and_then(|id| state.units.find(id));
    let unit = unit.filter(|&unit| sight.sees(unit)).ok_or(RequestError::ScanCursorUnknown)?;
    Ok(Bound::Excluded(unit))
}
