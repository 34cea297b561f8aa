//! Where a worker's replay was not what its source was: what it asked for otherwise or not at all, and how it ended.

use std::collections::BTreeMap;

use quipu_replay::task::{Departure, Material, RecordedDependency, ReplayOutcome};
use quipu_wire::harn::{DeltaOperation, DependencyKind, HarnError, Outcome, Sha256};
use serde_json::Value;

use super::document::ReplayDocument;
use crate::Harness;

/// What a worker asked for, by key: the digest of its request, where it said what it asked.
pub(super) type Requests = BTreeMap<String, Option<Sha256>>;

impl Harness {
    /// Compares a worker's run with its source. Reads storage.
    pub(super) fn departures(
        &self,
        document: &ReplayDocument,
        requests: &Requests,
        outcome: &ReplayOutcome,
    ) -> Result<Vec<Departure>, HarnError> {
        let identity = &document.plan.identity;
        let mut found = Vec::new();
        let past = document.plan.boundary.as_ref().map(|boundary| boundary.sequence);
        for recorded in self.recording(&identity.source_task_id)?.until_missing() {
            let event = recorded?.event;
            let Some(answer) = &event.dependency else { continue };
            let is_before = past.is_some_and(|past| event.sequence <= past);
            let is_planned = document.plan.overrides.contains_key(&answer.key);
            if is_before || !(is_planned || is_given(answer)) {
                continue;
            }
            let departure = in_request(answer, requests.get(&answer.key));
            found.extend(departure.map(|it| Departure { event_id: Some(event.event_id), ..it }));
        }
        let source = self.outcome_document(&identity.source_task_id)?;
        let replay = self.outcome_document(&identity.replay_task_id)?;
        found.extend(in_ending(source.as_ref(), replay.as_ref(), outcome));
        Ok(found)
    }
}

/// Whether a worker that replays is given an answer at all.
fn is_given(answer: &RecordedDependency) -> bool {
    let withheld = answer.by_server || answer.kind == DependencyKind::SecretValue;
    !withheld && !matches!(answer.material, Material::HashOnly | Material::Gone { .. })
}

fn in_request(answer: &RecordedDependency, asked: Option<&Option<Sha256>>) -> Option<Departure> {
    let path = format!("/replay_input/materials/{}", answer.key);
    let (operation, path, before, after, reason) = match (asked, answer.request_sha256) {
        (None, _) => {
            let before = Some(answer.sha256).filter(|_| answer.kind != DependencyKind::SecretValue);
            (DeltaOperation::Remove, path, before, None, "the worker never asked for it")
        }
        (Some(Some(now)), Some(then)) if *now != then => {
            let (path, reason) = (path + "/request", "the worker asked something else");
            (DeltaOperation::Replace, path, Some(then), Some(*now), reason)
        }
        (Some(None), Some(then)) => {
            let (path, reason) = (path + "/request", "the worker did not say what it asked");
            (DeltaOperation::Remove, path, Some(then), None, reason)
        }
        (Some(_), _) => return None,
    };
    Some(Departure { path, operation, event_id: None, before, after, reason: reason.to_owned() })
}

fn in_ending(
    source: Option<&Outcome>,
    replay: Option<&Outcome>,
    outcome: &ReplayOutcome,
) -> Vec<Departure> {
    let text = |text: &str| Some(Value::from(text));
    let state = |it: &Outcome| text(it.status.as_str());
    let own_state = outcome.lifecycle.final_state.and_then(|state| text(state.as_str()));
    let output = |it: &Outcome| it.envelope.metadata.get("output").cloned();
    let failure = |it: &Outcome| it.failure.as_ref().and_then(|it| serde_json::to_value(it).ok());
    let ends = [
        ("/lifecycle/final_state", source.and_then(state), own_state, "it ended otherwise"),
        (
            "/lifecycle/failure",
            source.and_then(failure),
            replay.and_then(failure),
            "it failed otherwise",
        ),
        (
            "/final_artifacts",
            source.and_then(output),
            replay.and_then(output),
            "its output is another",
        ),
    ];
    let digest = |value: &Option<Value>| value.as_ref().and_then(|it| Sha256::of_json(it).ok());
    let differing = ends.into_iter().filter(|(_, before, after, _)| before != after);
    let departures = differing.map(|(path, before, after, reason)| Departure {
        path: path.to_owned(),
        operation: match (&before, &after) {
            (None, _) => DeltaOperation::Add,
            (_, None) => DeltaOperation::Remove,
            (Some(_), Some(_)) => DeltaOperation::Replace,
        },
        event_id: None,
        before: digest(&before),
        after: digest(&after),
        reason: reason.to_owned(),
    });
    departures.collect()
}
