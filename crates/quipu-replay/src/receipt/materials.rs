//! Recorded answers and substitutes as a receipt names them: materials, deltas, redactions. Digests and
//! references only; never an answer itself.

use quipu_wire::harn::{
    Delta, DependencyKind, JsonObject, Material, MaterialKind, Redaction, Sha256, Visibility,
};

use super::{bound_task::EVENT_LOG_FORM, facts::EventLogFact};
use crate::task::{AppliedOverride, Departure, delta_id, lifecycle_member};

/// An answer that a run consumed, as its receipt needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyFact {
    pub key: String,
    pub kind: DependencyKind,
    /// The digest of the answer; for a secret, a keyed one.
    pub sha256: Sha256,
    pub artifact_id: Option<String>,
    pub visibility: Visibility,
}

/// The kind of material that an answer is; times, secrets and the like are none.
const fn material_kind(kind: DependencyKind) -> Option<MaterialKind> {
    match kind {
        DependencyKind::LlmProviderResponse => Some(MaterialKind::LlmProviderResponse),
        DependencyKind::McpToolReturn => Some(MaterialKind::McpToolReturn),
        DependencyKind::HostFact => Some(MaterialKind::HostFact),
        DependencyKind::SecretValue
        | DependencyKind::Time
        | DependencyKind::ToolResult
        | DependencyKind::EventPayload
        | DependencyKind::CheckpointValue => None,
    }
}

/// Where an Artifact is, as receipts write it.
pub(super) fn artifact_uri(artifact_id: &str) -> String {
    format!("artifact://{artifact_id}")
}

pub(super) fn event_log_material(log: &EventLogFact) -> Material {
    Material {
        kind: MaterialKind::EventLog,
        id: Some(log.id.clone()),
        uri: Some(log.uri.clone()),
        sha256: Some(log.sha256),
        content_type: Some("application/jsonl".to_owned()),
        bytes_base64: None,
        metadata: log.binds.then(|| JsonObject::with("form", EVENT_LOG_FORM)),
    }
}

/// A recorded answer as a material; nothing for those that receipts do not list.
pub(super) fn recorded_material(fact: &DependencyFact) -> Option<Material> {
    material(fact.kind, &fact.key, fact.sha256, fact.artifact_id.as_deref(), "dependency_key")
}

/// A substitute as a material; nothing for those that receipts do not list.
pub(super) fn substituted_material(applied: &AppliedOverride) -> Option<Material> {
    let artifact = applied.artifact_id.as_deref();
    material(applied.kind, &applied.key, applied.after, artifact, "override_key")
}

fn material(
    kind: DependencyKind,
    key: &str,
    sha256: Sha256,
    artifact_id: Option<&str>,
    label: &str,
) -> Option<Material> {
    Some(Material {
        kind: material_kind(kind)?,
        id: Some(key.to_owned()),
        uri: artifact_id.map(artifact_uri),
        sha256: Some(sha256),
        content_type: None,
        bytes_base64: None,
        metadata: Some(JsonObject::with(label, key)),
    })
}

/// What an override replaced: a time of the lifecycle, or a material by its key.
fn delta_path(key: &str) -> String {
    match lifecycle_member(key) {
        Some(member) => format!("/lifecycle/{member}"),
        None => format!("/replay_input/materials/{key}"),
    }
}

/// An applied override as a delta, with the digest of the substitute that may be shown.
pub(super) fn delta(applied: &AppliedOverride, after: Option<Sha256>) -> Delta {
    Delta {
        delta_id: Some(delta_id(&applied.key)),
        operation: applied.operation,
        path: delta_path(&applied.key),
        override_key: Some(applied.key.clone()),
        event_id: Some(applied.event_id.clone()),
        before_sha256: applied.before,
        after_sha256: after,
        artifact_id: applied.artifact_id.clone(),
        reason: applied.reason.clone(),
    }
}

/// Where a worker's run was not its source's, as a delta.
pub(super) fn departure_delta(departure: &Departure) -> Delta {
    let names = departure.path.trim_start_matches("/replay_input/materials/");
    Delta {
        delta_id: Some(delta_id(&format!("departure{}", names.replace('/', ":")))),
        operation: departure.operation,
        path: departure.path.clone(),
        override_key: None,
        event_id: departure.event_id.clone(),
        before_sha256: departure.before,
        after_sha256: departure.after,
        artifact_id: None,
        reason: Some(departure.reason.clone()),
    }
}

/// What a receipt says instead of a secret.
pub(super) fn secret_redaction(key: &str, proof: Option<Sha256>) -> Redaction {
    Redaction {
        field: delta_path(key),
        reason: "secret material is never in a receipt".to_owned(),
        proof_hash: proof,
    }
}
