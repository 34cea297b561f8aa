//! The state at a checkpoint, as an answer under the checkpoint's key.

use quipu_core::{DocumentKind, rules::harn::FIELD_AGENT};
use quipu_replay::task::{Material, RecordedDependency, RecordedEvent, checkpoint_key};
use quipu_wire::harn::{Artifact, DependencyKind, HarnError, Sha256};

use crate::Harness;

impl Harness {
    /// The event of a checkpoint with the state that was recorded at it. Reads storage.
    pub(crate) fn with_checkpoint_state(
        &self,
        mut event: RecordedEvent,
    ) -> Result<RecordedEvent, HarnError> {
        let Some(id) = event.checkpoint_id.clone() else { return Ok(event) };
        let artifact = self.stored::<Artifact>(DocumentKind::Artifact, &id)?;
        let Some(artifact) = artifact else { return Ok(event) };
        let digest = artifact.sha256.as_deref().and_then(|text| Sha256::parse_bare(text).ok());
        let content = self.bytes_of(&artifact)?.map(|(_, bytes)| bytes);
        let state = content.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let by_server = self.field.with_state(|state| {
            let entry = state.documents.get(DocumentKind::Artifact, &id);
            entry.is_some_and(|entry| entry.created_by == FIELD_AGENT)
        });
        let gone =
            || Material::Gone { reason: "the checkpoint's state is not kept here".to_owned() };
        event.dependency = Some(RecordedDependency {
            key: checkpoint_key(&id),
            kind: DependencyKind::CheckpointValue,
            sha256: digest.unwrap_or(event.payload_sha256),
            request_sha256: None,
            visibility: artifact.visibility,
            material: state.map_or_else(gone, Material::Value),
            by_server,
        });
        Ok(event)
    }
}
