//! An event of a recording as an export has it.

use quipu_replay::task::Material;
use quipu_wire::harn::{ExportedDependency, ExportedEvent, Sha256};

use super::worked::Recorded;

pub(crate) fn exported_event(recorded: Recorded) -> ExportedEvent {
    let Recorded { event, payload, .. } = recorded;
    let own = Sha256::of_json(&serde_json::Value::Object(payload.0.clone())).ok();
    let dependency = event.dependency.map(|dependency| {
        let (value, artifact_id) = match dependency.material {
            Material::Value(value) => (Some(value), None),
            Material::Artifact(id) => (None, Some(id)),
            Material::HashOnly | Material::Gone { .. } => (None, None),
        };
        ExportedDependency {
            key: dependency.key,
            kind: dependency.kind,
            sha256: Some(dependency.sha256),
            request_sha256: dependency.request_sha256,
            value,
            artifact_id,
        }
    });
    let digest = event.payload_sha256;
    ExportedEvent {
        id: event.event_id,
        event: event.event,
        sequence: event.sequence,
        created_at: event.at,
        visibility: event.visibility,
        payload,
        sha256: Some(digest).filter(|it| dependency.is_none() && own != Some(*it)),
        dependency,
        checkpoint_id: event.checkpoint_id,
    }
}
