//! The output of a worker as an Artifact, so that the receipt of its Task names it among what came of it.

use quipu_core::{
    DocumentKind,
    rules::harn::{DocumentDraft, Expect},
};
use quipu_wire::harn::{
    Artifact, ArtifactKind, HarnError, HarnErrorCode, ResourceKind, Visibility,
};
use serde_json::Value;

use crate::{
    Harness,
    task::{
        artifact::{canonical, owned_artifact},
        tasks::TaskView,
    },
};

impl Harness {
    /// The Artifact of an output, and the documents that keep it. An output that is larger than a content may be has none:
    /// it is bound where the Outcome says it.
    ///
    /// # Errors
    /// Where the output has no canonical JSON.
    pub(crate) fn output_artifact(
        &self,
        view: &TaskView,
        output: &Value,
    ) -> Result<Option<(Artifact, Vec<DocumentDraft>)>, HarnError> {
        let id = self.draw(ResourceKind::Artifact);
        let kept = self.keep_for(&id, &canonical(output)?);
        let (digest, kept) = match kept {
            Err(error) if error.code == HarnErrorCode::PayloadTooLarge => return Ok(None),
            kept => kept?,
        };
        let (kind, seen) = (ArtifactKind::Dataset, Visibility::Public);
        let mut artifact = owned_artifact(view.owner(), &id, kind, seen);
        artifact.sha256 = Some(digest.bare());
        let mut drafts = Vec::from(kept);
        let kind = DocumentKind::Artifact;
        drafts.push(self.draft(kind, &id, view.owner(), Expect::New, &artifact)?);
        Ok(Some((artifact, drafts)))
    }
}
