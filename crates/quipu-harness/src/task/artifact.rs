//! Artifacts that the server makes for a Task, with content that is kept here.

use quipu_core::DocumentOwner;
use quipu_wire::{
    harn::{
        Artifact, ArtifactKind, ArtifactObject, HarnError, HarnErrorCode, ResourceEnvelope,
        Visibility,
    },
    json::canon,
};
use serde_json::Value;

use crate::document::holding::own_uri;

/// An Artifact of this owner whose content is kept here.
pub(crate) fn owned_artifact(
    owner: DocumentOwner,
    id: &str,
    kind: ArtifactKind,
    visibility: Visibility,
) -> Artifact {
    Artifact {
        object: ArtifactObject::Artifact,
        envelope: ResourceEnvelope::new(id, ""),
        kind,
        mime_type: "application/json".to_owned(),
        uri: Some(own_uri(id)),
        visibility,
        sha256: None,
        workspace_id: owner.workspace,
        session_id: owner.session,
        task_id: owner.task,
        receipt_id: None,
    }
}

/// The canonical JSON of a value, which is what its digest is of.
pub(crate) fn canonical(value: &Value) -> Result<Vec<u8>, HarnError> {
    let refused =
        |error: canon::CanonError| HarnError::new(HarnErrorCode::InvalidRequest, error.to_string());
    canon::to_vec(value).map_err(refused)
}
