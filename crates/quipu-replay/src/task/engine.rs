//! Replays a recording event by event. Holds the plan, the deltas (no more than there are overrides) and a
//! few numbers: nothing that grows with the recording.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use quipu_wire::{
    harn::{DeltaOperation, OutcomeStatus, ReplayEventMetadata, Sha256},
    hash::Hasher,
    json::canon,
};

use super::{
    identity::{ReplayIdentity, checkpoint_key, delta_id, event_key},
    lifecycle::RecordedLifecycle,
    outcome::{AppliedOverride, ReplayOutcome, ReplayedEvent, ReplayedPayload},
    plan::{PlannedOverride, ReplayPlan, Substitute},
    recording::{
        Availability, Material, Materials, RecordedDependency, RecordedEvent, Reference,
        ReferenceKind,
    },
    unavailable::{Unavailable, UnavailableKind},
};
pub struct Replayer {
    plan: Arc<ReplayPlan>,
    /// What was substituted so far, by its key.
    applied: BTreeMap<String, AppliedOverride>,
    lifecycle: RecordedLifecycle,
    log: Hasher,
    emitted: u64,
    /// Id and place of the event before.
    last: Option<(String, u64)>,
    reached_boundary: bool,
}

impl std::fmt::Debug for Replayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replayer").field("plan", &self.plan.identity).finish_non_exhaustive()
    }
}

impl Replayer {
    #[must_use]
    pub fn new(plan: Arc<ReplayPlan>) -> Self {
        Self {
            reached_boundary: plan.boundary.is_none(),
            plan,
            applied: BTreeMap::new(),
            lifecycle: RecordedLifecycle::default(),
            log: Hasher::new(),
            emitted: 0,
            last: None,
        }
    }

    /// Replays the next recorded event; nothing is emitted before the boundary.
    ///
    /// # Errors
    /// What is unavailable. The replay is then over.
    pub fn step(
        &mut self,
        event: &RecordedEvent,
        materials: &dyn Materials,
    ) -> Result<Option<ReplayedEvent>, Unavailable> {
        let plan = Arc::clone(&self.plan);
        self.check_order(event)?;
        self.lifecycle.observe(event);
        self.log.update(&log_line(event));
        if !self.reached_boundary {
            let boundary = plan.boundary.as_ref();
            self.reached_boundary = boundary.is_some_and(|it| it.event_id == event.event_id);
            if self.reached_boundary {
                self.substitute_payload(&plan, event);
            }
            return Ok(None);
        }
        for reference in &event.references {
            let Reference { kind, id, sha256 } = reference;
            check_reference(materials, event, (*kind, id), *sha256)?;
        }
        let (payload, override_key) = match &event.dependency {
            Some(dependency) => self.resolve(&plan, event, dependency, materials)?,
            None => match self.substitute_payload(&plan, event) {
                Some((key, planned)) => (ReplayedPayload::of(planned), Some(key)),
                None => (ReplayedPayload::Recorded { sha256: event.payload_sha256 }, None),
            },
        };
        Ok(Some(self.emit(event, payload, override_key)))
    }

    /// Ends the replay because somebody called it off. What was emitted stays emitted.
    #[must_use]
    pub fn cancel(mut self) -> ReplayOutcome {
        self.lifecycle.final_state = Some(OutcomeStatus::Canceled);
        self.conclude(None)
    }

    /// Ends the replay. An override that met no event fails it, because it would otherwise be lost in silence.
    #[must_use]
    pub fn finish(self, missing: Option<Unavailable>) -> ReplayOutcome {
        let first_unavailable = missing.or_else(|| self.missing_at_end());
        self.conclude(first_unavailable)
    }

    fn conclude(self, first_unavailable: Option<Unavailable>) -> ReplayOutcome {
        let Self { plan, mut lifecycle, .. } = self;
        for (key, planned) in &plan.overrides {
            if let Substitute::Value(Value::String(time)) = &planned.substitute
                && self.applied.contains_key(key.as_str())
            {
                lifecycle.substitute(key, time);
            }
        }
        ReplayOutcome {
            source_task_id: plan.identity.source_task_id.clone(),
            replay_task_id: plan.identity.replay_task_id.clone(),
            mode: plan.mode,
            boundary: plan.boundary.clone(),
            events: self.emitted,
            event_log_sha256: Sha256(self.log.finish()),
            applied: self.applied.into_values().collect(),
            lifecycle,
            request_drift: Vec::new(),
            departures: Vec::new(),
            first_unavailable,
        }
    }

    /// What the recording lacks where it ends here; nothing if it ends as one has to.
    #[must_use]
    pub fn missing_at_end(&self) -> Option<Unavailable> {
        let missing = |kind, id: &str, reason: &str| Unavailable {
            kind,
            id: id.to_owned(),
            override_key: None,
            event_id: None,
            sequence: None,
            reason: reason.to_owned(),
        };
        if let Some(boundary) = self.plan.boundary.as_ref().filter(|_| !self.reached_boundary) {
            let reason = "the recording ends before the checkpoint";
            return Some(missing(UnavailableKind::Event, &boundary.event_id, reason));
        }
        let unmet =
            self.plan.overrides.iter().find(|(key, _)| !self.applied.contains_key(key.as_str()));
        if let Some((key, planned)) = unmet {
            let kind = UnavailableKind::Dependency(planned.kind);
            let reason = "the recording has no event under this key";
            return Some(missing(kind, key, reason).under(key));
        }
        let ended = self.lifecycle.final_state.is_some();
        let last = self.last.as_ref().map_or("task.submitted", |(id, _)| id.as_str());
        let reason = "the recording has no end after this event";
        (!ended).then(|| missing(UnavailableKind::Event, last, reason))
    }

    fn check_order(&mut self, event: &RecordedEvent) -> Result<(), Unavailable> {
        if let Some((last_id, last_sequence)) = &self.last {
            let named = event.previous_event_id.as_ref().filter(|previous| *previous != last_id);
            if let Some(previous) = named {
                let reason = "the recording has a gap before the event that follows it";
                return Err(Unavailable::of_event(event, UnavailableKind::Event, previous, reason));
            }
            if event.sequence <= *last_sequence {
                let reason = "events are out of order";
                let id = &event.event_id;
                return Err(Unavailable::of_event(event, UnavailableKind::Event, id, reason));
            }
        }
        self.last = Some((event.event_id.clone(), event.sequence));
        Ok(())
    }

    /// Picks the override, else the recorded answer, else stops.
    fn resolve<'p>(
        &mut self,
        plan: &'p ReplayPlan,
        event: &RecordedEvent,
        dependency: &RecordedDependency,
        materials: &dyn Materials,
    ) -> Result<(ReplayedPayload, Option<&'p str>), Unavailable> {
        if let Some((key, planned)) = plan.overrides.get_key_value(&dependency.key) {
            let gone = matches!(dependency.material, Material::Gone { .. });
            self.apply(event, (!gone).then_some(dependency.sha256), key, planned);
            return Ok((ReplayedPayload::of(planned), Some(key)));
        }
        let missing = |reason: &str| {
            let kind = UnavailableKind::Dependency(dependency.kind);
            Unavailable::of_event(event, kind, &dependency.key, reason).under(&dependency.key)
        };
        match &dependency.material {
            Material::HashOnly => {}
            Material::Gone { reason } => return Err(missing(reason)),
            Material::Artifact(id) => {
                let reference = (ReferenceKind::Artifact, id.as_str());
                let found = check_reference(materials, event, reference, Some(dependency.sha256));
                found.map_err(|missing| missing.under(&dependency.key))?;
            }
            Material::Value(value) => {
                let found = Sha256::of_json(value).ok();
                if found != Some(dependency.sha256) {
                    return Err(missing("it does not match its recorded hash"));
                }
            }
        }
        Ok((ReplayedPayload::Recorded { sha256: event.payload_sha256 }, None))
    }

    /// Substitutes what an event says, or the state at its checkpoint, where the plan names either.
    fn substitute_payload<'p>(
        &mut self,
        plan: &'p ReplayPlan,
        event: &RecordedEvent,
    ) -> Option<(&'p str, &'p PlannedOverride)> {
        if plan.overrides.is_empty() {
            return None;
        }
        let checkpoint = event.checkpoint_id.as_deref().map(checkpoint_key);
        let (key, planned) = [checkpoint, Some(event_key(&event.event_id))]
            .into_iter()
            .flatten()
            .find_map(|key| plan.overrides.get_key_value(&key))?;
        self.apply(event, Some(event.payload_sha256), key, planned);
        Some((key, planned))
    }

    fn apply(
        &mut self,
        event: &RecordedEvent,
        before: Option<Sha256>,
        key: &str,
        planned: &PlannedOverride,
    ) {
        let operation =
            if before.is_some() { DeltaOperation::Replace } else { DeltaOperation::Add };
        let artifact_id = planned.artifact_id().map(str::to_owned);
        let reason = Some(self.plan.reason_for(planned));
        self.applied.entry(key.to_owned()).or_insert_with(|| AppliedOverride {
            key: key.to_owned(),
            kind: planned.kind,
            event_id: event.event_id.clone(),
            operation,
            before,
            after: planned.sha256,
            artifact_id,
            visibility: planned.visibility,
            reason,
        });
    }

    fn emit(
        &mut self,
        event: &RecordedEvent,
        payload: ReplayedPayload,
        override_key: Option<&str>,
    ) -> ReplayedEvent {
        let (ordinal, identity) = (self.emitted, &self.plan.identity);
        self.emitted += 1;
        ReplayedEvent {
            event_id: identity.event_id(ordinal),
            event: event.event.clone(),
            sequence: ordinal,
            at: event.at.clone(),
            visibility: event.visibility,
            payload,
            replay: ReplayEventMetadata {
                source_task_id: identity.source_task_id.clone(),
                replay_task_id: identity.replay_task_id.clone(),
                original_event_id: Some(event.event_id.clone()),
                replay_cursor: Some(ReplayIdentity::cursor(ordinal)),
                mode: Some(self.plan.mode),
                override_key: override_key.map(str::to_owned),
                receipt_delta_id: override_key.map(delta_id),
            },
        }
    }
}

/// Checks that what an event refers to is still there, and still what was recorded.
fn check_reference(
    materials: &dyn Materials,
    event: &RecordedEvent,
    (kind, id): (ReferenceKind, &str),
    recorded: Option<Sha256>,
) -> Result<(), Unavailable> {
    let reason = match (materials.find(kind, id), recorded) {
        (Availability::Absent { reason }, _) => reason,
        (Availability::Present(Some(found)), Some(recorded)) if found != recorded => {
            "it is no longer what was recorded".to_owned()
        }
        (Availability::Present(_), _) => return Ok(()),
    };
    Err(Unavailable::of_event(event, kind.into(), id, reason))
}

/// One line of the source's event log, as its digest covers it: everything that a replay depends on.
fn log_line(event: &RecordedEvent) -> Vec<u8> {
    let dependency = event.dependency.as_ref();
    let line = (
        &event.event_id,
        event.sequence.to_string(),
        event.event.as_str(),
        &event.at,
        event.payload_sha256,
        dependency.map(|it| (&it.key, it.kind, it.sha256, it.request_sha256)),
        &event.checkpoint_id,
    );
    let mut line = canon::to_vec(&line).expect("texts and digests have a canonical form");
    line.push(b'\n');
    line
}
