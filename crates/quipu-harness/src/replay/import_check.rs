//! What is checked of a Task from another server before it is taken: that its document does not contradict itself, and
//! that its Events are not here already.

use std::collections::BTreeSet;

use quipu_core::{DocumentKind, State};
use quipu_replay::{
    receipt::{Finding, Proven, Trusted, check_export, verify},
    task::HashTrust,
};
use quipu_wire::{
    harn::{
        DependencyKind, EventName, ExportedDependency, ExportedEvent, HarnError, HarnErrorCode,
        Receipt, ResourceKind, Sha256, TaskExport, TaskState, is_dependency_key, is_timestamp,
    },
    json::reader::check_id,
};

use crate::{
    Harness,
    receipt::exported::EVENTS_MAX,
    stored::named_after::{rest_of, rest_of_event_log},
};

impl Harness {
    /// Checks that no event names an Artifact that is here already: what a Task brings along is its own.
    fn check_named_artifacts(&self, export: &TaskExport) -> Result<(), HarnError> {
        let is_brought = |id: &str| export.artifacts.iter().any(|it| it.artifact.envelope.id == id);
        let is_here = |id: &str| {
            let taken = |state: &State| state.documents.taken(DocumentKind::Artifact, id).is_some();
            self.field.with_state(taken)
        };
        for (index, event) in export.events.iter().enumerate() {
            let answer = event.dependency.as_ref().and_then(|it| it.artifact_id.as_deref());
            let named = [
                ("dependency.artifact_id", answer),
                ("checkpoint_id", event.checkpoint_id.as_deref()),
            ];
            for (member, id) in named {
                if id.is_some_and(|id| !is_brought(id) && is_here(id)) {
                    let param = format!("events[{index}].{member}");
                    return Err(refused(&param, "must be an Artifact of the document"));
                }
            }
        }
        Ok(())
    }

    /// Checks that nothing takes an id that the end of another Task gets here, or that of the Task itself where it
    /// comes without a receipt: it could never end.
    fn check_ids_of_endings(&self, export: &TaskExport) -> Result<(), HarnError> {
        let own = rest_of(&export.task.envelope.id);
        let receipt = export.receipt.as_ref().map(|receipt| receipt.receipt_id.as_str());
        let logs = export.artifacts.iter().enumerate().filter_map(|(index, it)| {
            let rest = rest_of_event_log(&it.artifact.envelope.id)?;
            Some((format!("artifacts[{index}].id"), rest, receipt.is_some()))
        });
        let receipts = receipt.and_then(|id| ResourceKind::Receipt.rest_of(id));
        let receipts = receipts.map(|rest| ("receipt.receipt_id".to_owned(), rest, true));
        for (param, rest, has_ended) in logs.chain(receipts) {
            let is_own = source_of(rest) == source_of(own);
            let of_other = || self.field.with_state(|state| state.tasks.is_taken(source_of(rest)));
            if (is_own && !has_ended) || (!is_own && of_other()) {
                return Err(refused(&param, "is what the end of a Task of this server is called"));
            }
        }
        Ok(())
    }

    /// Checks a receipt by itself: form, hash, and a signature that is said to be of a key of ours.
    fn check_receipt(&self, receipt: &Receipt) -> Result<(), HarnError> {
        check_id(&receipt.receipt_id).map_err(|problem| refused("receipt.receipt_id", problem))?;
        if self.options.replay_trust == HashTrust::Declared {
            return Ok(());
        }
        let value = serde_json::to_value(receipt).map_err(|error| refused("receipt", error))?;
        let keys = self.options.own_keys();
        let verdict = verify(&value, Trusted { keys: &keys, ..Trusted::default() });
        // That nobody whom we know signed it proves nothing against it.
        let finding = verdict.findings.iter().find(|finding| **finding != Finding::NotSigned);
        finding.map_or(Ok(()), |finding| Err(refused(&finding.place(), finding)))
    }

    /// Checks the document, and says how much of it its receipt proves.
    pub(super) fn check_import(&self, export: &TaskExport) -> Result<Proven, HarnError> {
        let task = &export.task;
        let ids = [
            ("task.id", &task.envelope.id),
            ("task.session_id", &task.session_id),
            ("task.workspace_id", &task.workspace_id),
        ];
        for (param, id) in ids {
            check_id(id).map_err(|problem| refused(param, problem))?;
        }
        if !task.status.is_terminal() {
            return Err(refused("task.status", "must be one that a task ends in"));
        }
        let trusting = self.options.replay_trust == HashTrust::Declared;
        if let Some(receipt) = &export.receipt {
            self.check_receipt(receipt)?;
        }
        let proven = match trusting {
            true => Proven::OlderReceipt,
            false => check_export(export).map_err(|it| refused(&it.place, it.problem))?,
        };
        check_events(export)?;
        self.check_named_artifacts(export)?;
        self.check_ids_of_endings(export)?;
        for (index, event) in export.events.iter().enumerate() {
            if let Some(dependency) = &event.dependency {
                let param = format!("events[{index}].dependency");
                check_dependency(&param, dependency, trusting)?;
            }
        }
        let other = export.outcome.as_ref().filter(|it| it.task_id != task.envelope.id);
        if other.is_some() {
            return Err(refused("outcome.task_id", "must be the task's"));
        }
        let receipt = export.receipt.as_ref();
        if receipt.is_some_and(|it| it.identifiers.task_id != task.envelope.id) {
            return Err(refused("receipt.identifiers.task_id", "must be the task's"));
        }
        let taken = |event: &&ExportedEvent| {
            self.field.with_state(|state| state.streams.imported(&event.id).is_some())
        };
        if let Some(event) = export.events.iter().find(taken) {
            let message = format!("event {} is there already", event.id);
            return Err(HarnError::new(HarnErrorCode::Conflict, message));
        }
        Ok(proven)
    }
}

/// Of the ids of a replay, and of a second one, that of the Task which they replay.
fn source_of(mut rest: &str) -> &str {
    while let Some(source) = rest.strip_prefix("replay_") {
        rest = source;
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    rest.rsplit_once('_').filter(|(_, number)| is_number(number)).map_or(rest, |(source, _)| source)
}

/// The document is refused because of one of its members.
pub(super) fn refused(param: &str, problem: impl std::fmt::Display) -> HarnError {
    HarnError::new(HarnErrorCode::InvalidRequest, format!("{param}: {problem}")).at(param)
}

/// Each id once, numbers that grow, times that are times, and an end that is the Task's.
fn check_events(export: &TaskExport) -> Result<(), HarnError> {
    let events = &export.events;
    if events.len() > EVENTS_MAX {
        return Err(refused("events", format!("must be at most {EVENTS_MAX}")));
    }
    let (mut ids, mut keys, mut last) = (BTreeSet::new(), BTreeSet::new(), None);
    for (index, event) in events.iter().enumerate() {
        let param = |member: &str| format!("events[{index}].{member}");
        check_id(&event.id).map_err(|problem| refused(&param("id"), problem))?;
        let once = ids.insert(event.id.as_str());
        let key = event.dependency.as_ref().map(|dependency| dependency.key.as_str());
        let new =
            [key, event.checkpoint_id.as_deref()].into_iter().flatten().all(|it| keys.insert(it));
        if !once || !new {
            return Err(refused(&param("id"), "its id, key or checkpoint is there twice"));
        }
        if last.is_some_and(|last| event.sequence <= last) {
            return Err(refused(&param("sequence"), "must be more than the one before"));
        }
        if !is_timestamp(&event.created_at) {
            return Err(refused(&param("created_at"), "must be a time in the form of RFC 3339"));
        }
        last = Some(event.sequence);
    }
    let ended = events.iter().rev().find_map(|event| match event.event {
        EventName::Known(kind) => TaskState::ended_by(kind),
        EventName::Vendor(_) => None,
    });
    if ended != export.task.status.outcome() {
        return Err(refused("events", "must end as the task did"));
    }
    Ok(())
}

fn check_dependency(
    param: &str,
    dependency: &ExportedDependency,
    trusting: bool,
) -> Result<(), HarnError> {
    if !is_dependency_key(&dependency.key) {
        return Err(refused(param, "key must be of the form class:rest"));
    }
    let Some(value) = &dependency.value else { return Ok(()) };
    if dependency.kind == DependencyKind::SecretValue {
        return Err(refused(param, "a secret's value must not be in it"));
    }
    let digest = Sha256::of_json(value).map_err(|error| refused(param, error))?;
    if dependency.sha256.is_some_and(|declared| declared != digest) && !trusting {
        return Err(refused(param, "the value is not that of its sha256"));
    }
    Ok(())
}
