//! Checks that an exported Task is what its receipt proves: its event log is the receipt's, and everything else in the
//! document is what the log binds. What differs first is named by its place.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::{
    harn::{
        ArtifactKind, DependencyKind, ExportedArtifact, ExportedEvent, JsonObject, Material,
        MaterialKind, Outcome, Receipt, ResourceKind, Sha256, SubjectKind, TaskExport, Visibility,
    },
    json::{base64, canon},
};
use serde_json::Value;

use super::{
    bound_event::{BOUND, event_binding},
    bound_task::{BoundArtifact, EVENT_LOG_FORM, Members, Run, TaskBinding, artifact_digest},
    materials::artifact_uri,
};

/// The mark of an Artifact whose content was taken away.
const REDACTED: &str = "content_redacted";

/// How much of an exported Task its receipt proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proven {
    /// All of it.
    Everything,
    /// All of it that is left: words of it were erased since.
    WhatIsLeft,
    /// The receipt is of an older form: it proves its own words and the answers that it lists.
    OlderReceipt,
    /// It is whole, but nobody signed the receipt: whoever altered it could have sealed it again.
    Unsigned,
    /// It came without a receipt.
    NoReceipt,
}

impl Proven {
    /// Its name, which does not change.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::WhatIsLeft => "what_is_left",
            Self::OlderReceipt => "older_receipt",
            Self::Unsigned => "unsigned",
            Self::NoReceipt => "no_receipt",
        }
    }
}

/// What is not as its receipt has it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Mismatch {
    /// Where, in the words of the document: `events[3].payload`.
    pub place: String,
    pub problem: String,
}

pub(super) fn mismatch(place: impl Into<String>, problem: impl Into<String>) -> Mismatch {
    Mismatch { place: place.into(), problem: problem.into() }
}

const NOT_PROVEN: &str = "is not what the receipt proves";

/// Compares a document with its receipt, whose own hash is somebody else's to check.
///
/// # Errors
/// The first place that differs.
pub fn check_export(export: &TaskExport) -> Result<Proven, Mismatch> {
    let Some(receipt) = &export.receipt else {
        return match &export.task.receipt_id {
            Some(id) => Err(mismatch("receipt", format!("{id} is missing"))),
            None => Ok(Proven::NoReceipt),
        };
    };
    check_ids(export)?;
    let Some(material) = bound_log(receipt) else {
        check_materials(export, receipt)?;
        return Ok(Proven::OlderReceipt);
    };
    check_names(export, receipt)?;
    let (at, log) = event_log(export, material)?;
    let BoundLog { lines, binding } = BoundLog::read(&log)
        .ok_or_else(|| mismatch(format!("artifacts[{at}].content_base64"), BROKEN))?;
    check_events(&export.events, &lines)?;
    check_materials(export, receipt)?;
    let is_replay = receipt.subject.object == SubjectKind::ReplaySegment;
    let nameless = lines.iter().all(|line| !line.contains_key("id"));
    let run = if is_replay && nameless { Run::Replayed } else { Run::Worked };
    let erased = export.outcome.as_ref().is_some_and(|outcome| is_erased(outcome, receipt));
    check_task(export, run, &binding, erased)?;
    check_artifacts(export, at, &binding, erased)?;
    if receipt.signatures.is_empty() {
        return Ok(Proven::Unsigned);
    }
    Ok(if erased { Proven::WhatIsLeft } else { Proven::Everything })
}

/// The material that binds the whole run, of a receipt that has one.
#[must_use]
pub fn bound_log(receipt: &Receipt) -> Option<&Material> {
    receipt.replay_input.materials.iter().find(|material| {
        let form = material.metadata.as_ref().and_then(|metadata| metadata.get("form"));
        material.kind == MaterialKind::EventLog
            && form.and_then(Value::as_str) == Some(EVENT_LOG_FORM)
    })
}

fn check_ids(export: &TaskExport) -> Result<(), Mismatch> {
    let mut ids = BTreeSet::new();
    for (index, it) in export.artifacts.iter().enumerate() {
        if !ids.insert(&it.artifact.envelope.id) {
            return Err(mismatch(format!("artifacts[{index}].id"), "is there twice"));
        }
    }
    Ok(())
}

/// The answers that a receipt lists are those that the events recorded. That of a replay lists substitutes.
fn check_materials(export: &TaskExport, receipt: &Receipt) -> Result<(), Mismatch> {
    if receipt.subject.object == SubjectKind::ReplaySegment {
        return Ok(());
    }
    let listed = |kind| {
        matches!(
            kind,
            MaterialKind::LlmProviderResponse
                | MaterialKind::McpToolReturn
                | MaterialKind::HostFact
        )
    };
    let materials = receipt.replay_input.materials.iter();
    let mut left: BTreeMap<&str, &Material> = materials
        .filter(|material| listed(material.kind))
        .filter_map(|material| Some((material.id.as_deref()?, material)))
        .collect();
    for (index, event) in export.events.iter().enumerate() {
        let Some(answer) = &event.dependency else { continue };
        let kind = match answer.kind {
            DependencyKind::LlmProviderResponse => MaterialKind::LlmProviderResponse,
            DependencyKind::McpToolReturn => MaterialKind::McpToolReturn,
            DependencyKind::HostFact => MaterialKind::HostFact,
            DependencyKind::SecretValue
            | DependencyKind::Time
            | DependencyKind::ToolResult
            | DependencyKind::EventPayload
            | DependencyKind::CheckpointValue => continue,
        };
        let place = |member: &str| format!("events[{index}].dependency.{member}");
        let Some(material) = left.remove(answer.key.as_str()) else {
            return Err(mismatch(place("key"), "the receipt lists no such answer"));
        };
        if material.kind != kind {
            return Err(mismatch(place("kind"), NOT_PROVEN));
        }
        let own = answer.value.as_ref().and_then(|value| Sha256::of_json(value).ok());
        if material.sha256 != answer.sha256.or(own) {
            return Err(mismatch(place("sha256"), NOT_PROVEN));
        }
        if material.uri != answer.artifact_id.as_deref().map(artifact_uri) {
            return Err(mismatch(place("artifact_id"), NOT_PROVEN));
        }
    }
    match left.into_keys().next() {
        None => Ok(()),
        Some(key) => Err(mismatch(
            "events",
            format!("none recorded the answer under {key}, which is listed"),
        )),
    }
}

/// The event log of the receipt in the document, and which Artifact it is.
fn event_log(export: &TaskExport, material: &Material) -> Result<(usize, Vec<u8>), Mismatch> {
    let is_log = |it: &ExportedArtifact| {
        material.uri.as_deref() == Some(&*artifact_uri(&it.artifact.envelope.id))
    };
    let Some(at) = export.artifacts.iter().position(is_log) else {
        let id = material.id.as_deref().unwrap_or("event log");
        return Err(mismatch("artifacts", format!("the {id} of the receipt is missing")));
    };
    let ExportedArtifact { artifact, content_base64 } = &export.artifacts[at];
    let place = |member: &str| format!("artifacts[{at}].{member}");
    let content = content_base64.as_deref().and_then(base64::decode);
    let content = content.filter(|bytes| material.sha256 == Some(Sha256::of(bytes)));
    let Some(content) = content else {
        return Err(mismatch(place("content_base64"), "is not the event log of the receipt"));
    };
    let digest = material.sha256.as_ref().map(Sha256::bare);
    let id = &artifact.envelope.id;
    let said = [
        ("sha256", artifact.sha256 == digest),
        ("kind", artifact.kind == ArtifactKind::Log),
        ("mime_type", Some(&artifact.mime_type) == material.content_type.as_ref()),
        ("uri", artifact.uri.as_deref() == Some(&*artifact_uri(id))),
        ("visibility", artifact.visibility == Visibility::Public),
        (
            "receipt_id",
            artifact.receipt_id == export.receipt.as_ref().map(|it| it.receipt_id.clone()),
        ),
        ("metadata", artifact.envelope.metadata.is_empty()),
    ];
    match said.iter().find(|(_, holds)| !holds) {
        Some((member, _)) => Err(mismatch(place(member), NOT_PROVEN)),
        None => Ok((at, content)),
    }
}

const BROKEN: &str = "is no event log of the form that the receipt names";

/// An event log that binds its run.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundLog {
    /// The lines that bind an event each.
    pub lines: Vec<JsonObject>,
    pub binding: TaskBinding,
}

impl BoundLog {
    /// Reads a log; nothing where it is none, or one of the form before.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut read = Vec::new();
        for line in lines {
            let Ok(Value::Object(line)) = canon::parse(line) else { return None };
            read.push(JsonObject(line));
        }
        let binding = serde_json::from_value(Value::Object(read.pop()?.0)).ok()?;
        read.retain(|line| bound_in(line).is_some());
        Some(Self { lines: read, binding })
    }
}

fn bound_in(line: &JsonObject) -> Option<&serde_json::Map<String, Value>> {
    line.get("metadata")?.get(BOUND)?.as_object()
}

fn check_events(events: &[ExportedEvent], lines: &[JsonObject]) -> Result<(), Mismatch> {
    for (index, event) in events.iter().enumerate() {
        let Some(line) = lines.get(index) else {
            let problem = "the receipt proves no such event: the run had fewer";
            return Err(mismatch(format!("events[{index}]"), problem));
        };
        if let Some(member) = differing(event, line) {
            return Err(mismatch(format!("events[{index}].{member}"), NOT_PROVEN));
        }
    }
    if lines.len() > events.len() {
        let problem = format!("{} are missing at the end", lines.len() - events.len());
        return Err(mismatch(format!("events[{}]", events.len()), problem));
    }
    Ok(())
}

/// The first member in which an event is not what its line says.
fn differing(event: &ExportedEvent, line: &JsonObject) -> Option<String> {
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    // Those of a replay have ids and numbers of the server that replayed.
    if line.contains_key("id") {
        if text("id") != Some(&*event.id) {
            return Some("id".to_owned());
        }
        if line.get("sequence").and_then(Value::as_u64) != Some(event.sequence) {
            return Some("sequence".to_owned());
        }
    }
    if text("event") != Some(event.event.as_str()) {
        return Some("event".to_owned());
    }
    if text("created_at") != Some(&*event.created_at) {
        return Some("created_at".to_owned());
    }
    let Ok(bound) = event_binding(event) else { return Some("payload".to_owned()) };
    let proven = bound_in(line)?;
    if let Some(answer) = &event.dependency
        && let (Some(value), Some(digest)) = (&answer.value, answer.sha256)
        && Sha256::of_json(value) != Ok(digest)
    {
        return Some("dependency.value".to_owned());
    }
    let member = first_difference(&bound.0, proven)?;
    let inner = |map: &serde_json::Map<String, Value>| map.get(&member)?.as_object().cloned();
    match (inner(&bound.0), inner(proven)) {
        (Some(one), Some(other)) => {
            let own = first_difference(&one, &other).unwrap_or_default();
            Some(format!("{member}.{own}"))
        }
        _ => Some(member),
    }
}

fn first_difference(
    one: &serde_json::Map<String, Value>,
    other: &serde_json::Map<String, Value>,
) -> Option<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().find(|name| one.get(*name) != other.get(*name)).cloned()
}

/// Whether an Outcome is the descriptor that is left of one whose words were erased: it says how the Task ended, and nothing
/// else.
fn is_erased(outcome: &Outcome, receipt: &Receipt) -> bool {
    let metadata = &outcome.envelope.metadata;
    metadata.len() == 1
        && metadata.get("redacted").and_then(Value::as_str) == Some("erased")
        && outcome.summary == "(erased)"
        && outcome.status == receipt.lifecycle.final_state
        && outcome.messages.is_empty()
        && outcome.artifacts.is_empty()
        && outcome.handoffs.is_empty()
        && outcome.failure.is_none()
        && outcome.cost.is_empty()
        && outcome.metrics.is_empty()
}

fn check_task(
    export: &TaskExport,
    run: Run,
    proven: &TaskBinding,
    erased: bool,
) -> Result<(), Mismatch> {
    let own = TaskBinding::of(run, &export.task, export.outcome.as_ref(), std::iter::empty());
    let own = own.map_err(|error| mismatch("task", error.to_string()))?;
    compare("task", &own.task, &proven.task)?;
    match (&own.outcome, &proven.outcome) {
        (Some(_), Some(_)) if erased => Ok(()),
        (None, None) => Ok(()),
        (Some(own), Some(proven)) => compare("outcome", own, proven),
        (Some(_), None) => Err(mismatch("outcome", "the receipt proves none")),
        (None, Some(_)) => Err(mismatch("outcome", "is missing")),
    }
}

fn compare(of: &str, own: &Members, proven: &Members) -> Result<(), Mismatch> {
    let names: BTreeSet<&String> = own.keys().chain(proven.keys()).collect();
    match names.into_iter().find(|name| own.get(*name) != proven.get(*name)) {
        Some(name) => Err(mismatch(format!("{of}.{name}"), NOT_PROVEN)),
        None => Ok(()),
    }
}

fn check_artifacts(
    export: &TaskExport,
    log: usize,
    proven: &TaskBinding,
    erased: bool,
) -> Result<(), Mismatch> {
    let mut left: BTreeSet<&String> = proven.artifacts.keys().collect();
    for (index, it) in export.artifacts.iter().enumerate() {
        check_belongs(export, index, it)?;
        let before = index.checked_sub(1).map(|before| &export.artifacts[before].artifact);
        if before.is_some_and(|before| before.envelope.id > it.artifact.envelope.id) {
            return Err(mismatch(format!("artifacts[{index}].id"), "is out of order"));
        }
        if index == log {
            continue;
        }
        let id = &it.artifact.envelope.id;
        let Some(bound) = proven.artifacts.get(id) else {
            let problem = "the receipt proves no such Artifact";
            return Err(mismatch(format!("artifacts[{index}].id"), problem));
        };
        left.remove(id);
        let bound = BoundArtifact { content: bound.content && !erased, ..*bound };
        check_artifact(it, bound).map_err(|member| {
            let place = match member {
                "" => format!("artifacts[{index}]"),
                member => format!("artifacts[{index}].{member}"),
            };
            mismatch(place, NOT_PROVEN)
        })?;
    }
    match left.into_iter().next() {
        Some(id) => Err(mismatch("artifacts", format!("{id} is missing"))),
        None => Ok(()),
    }
}

/// An Artifact of the document is its Task's.
fn check_belongs(export: &TaskExport, index: usize, it: &ExportedArtifact) -> Result<(), Mismatch> {
    let task = &export.task;
    let named = [
        ("task_id", &it.artifact.task_id, &task.envelope.id),
        ("session_id", &it.artifact.session_id, &task.session_id),
        ("workspace_id", &it.artifact.workspace_id, &task.workspace_id),
    ];
    let other = |(_, own, of): &&(&str, &Option<String>, &String)| {
        own.as_ref().is_some_and(|own| own != *of)
    };
    match named.iter().find(other) {
        Some((member, ..)) => {
            Err(mismatch(format!("artifacts[{index}].{member}"), "must be the task's"))
        }
        None => Ok(()),
    }
}

fn check_artifact(it: &ExportedArtifact, bound: BoundArtifact) -> Result<(), &'static str> {
    let ExportedArtifact { artifact, content_base64 } = it;
    // Its content was taken away since: what is left says so, and nothing can be read of it.
    if artifact.envelope.metadata.contains_key(REDACTED) && content_base64.is_none() {
        return Ok(());
    }
    if artifact_digest(artifact) != Ok(bound.sha256) {
        return Err("");
    }
    let Some(text) = content_base64 else {
        return if bound.content { Err("content_base64") } else { Ok(()) };
    };
    let digest = base64::decode(text).map(|bytes| Sha256::of(&bytes).bare());
    let is_own = digest.is_some() && digest == artifact.sha256;
    if is_own { Ok(()) } else { Err("content_base64") }
}

/// The documents name each other, and were written down when the receipt was issued.
fn check_names(export: &TaskExport, receipt: &Receipt) -> Result<(), Mismatch> {
    let task = &export.task;
    let mut named = vec![
        ("task.id", Some(&task.envelope.id), &receipt.identifiers.task_id),
        ("task.receipt_id", task.receipt_id.as_ref(), &receipt.receipt_id),
        ("receipt.subject.id", Some(&receipt.subject.id), &receipt.identifiers.task_id),
    ];
    if let Some(outcome) = &export.outcome {
        let envelope = &outcome.envelope;
        named.extend([
            ("outcome.task_id", Some(&outcome.task_id), &task.envelope.id),
            ("outcome.receipt_id", outcome.receipt_id.as_ref(), &receipt.receipt_id),
            ("outcome.created_at", Some(&envelope.created_at), &receipt.issued_at),
            ("outcome.updated_at", Some(&envelope.updated_at), &receipt.issued_at),
        ]);
    }
    if let Some((place, ..)) = named.into_iter().find(|(_, own, proven)| *own != Some(*proven)) {
        return Err(mismatch(place, NOT_PROVEN));
    }
    let Some(outcome) = &export.outcome else { return Ok(()) };
    let (id, of_task) = (&outcome.envelope.id, &task.envelope.id);
    let rest = ResourceKind::Task.rest_of(of_task).unwrap_or(of_task);
    if ResourceKind::Outcome.rest_of(id) != Some(rest) {
        return Err(mismatch("outcome.id", "must be named after the task"));
    }
    if task.outcome_id.as_ref() != Some(id) {
        return Err(mismatch("task.outcome_id", NOT_PROVEN));
    }
    Ok(())
}
