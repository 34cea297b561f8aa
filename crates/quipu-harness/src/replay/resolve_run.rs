//! `POST /v1/tasks/{task_id}/dependencies/resolve` of a Task that is no replay: the worker that goes on with a run is
//! given what was recorded, so that nothing is paid for twice, and asks outside for the rest.

use quipu_replay::task::{Availability, Materials as _, ReferenceKind};
use quipu_wire::harn::{
    DependencyEntry, HarnError, NoSource, ResolutionSource, ResolveAnswer,
    ResolveDependencyRequest, ResolvedDependency, Sha256, UnresolvedDependency, Withheld,
};

use crate::{Harness, WriteRequest, recording::materials::Kept};

impl Harness {
    /// `POST /v1/tasks/{task_id}/dependencies/resolve`, of a replay or of a run.
    ///
    /// # Errors
    /// 404 where there is no such Task, 409 where the caller does not work on it; of a replay, as
    /// [`Harness::resolve_dependency`] says.
    pub async fn resolve(
        &self,
        write: &WriteRequest,
        task: &str,
        request: ResolveDependencyRequest,
    ) -> Result<ResolveAnswer, HarnError> {
        let view = self.view_task(&write.caller, task)?;
        let id = task.to_owned();
        if self.reading(move |harness| harness.replay_document(&id)).await?.is_some() {
            let resolved = self.resolve_dependency(write, task, request).await?;
            return Ok(ResolveAnswer::Known(resolved));
        }
        self.check_holds(write, &view)?;
        let reach = self.reach(&write.caller, &view);
        let ResolveDependencyRequest { key, request } = request;
        let id = task.to_owned();
        self.reading(move |harness| {
            let Some(mut entry) = harness.recorded_answer(&id, &key, &reach)? else {
                let (kind, sha256, withheld) = (None, None, None);
                let source = NoSource::None;
                let none = UnresolvedDependency { key, source, kind, sha256, withheld };
                return Ok(ResolveAnswer::Unknown(none));
            };
            if entry.artifact_id.as_ref().is_some_and(|id| harness.is_gone(id, entry.sha256)) {
                entry.withheld = Some(Withheld::Erased);
            }
            Ok(resolved(entry, request))
        })
        .await
    }

    /// Whether an Artifact no longer has what was recorded. Reads storage.
    fn is_gone(&self, artifact: &str, recorded: Option<Sha256>) -> bool {
        let kept = Kept { harness: self, caller: None };
        match kept.find(ReferenceKind::Artifact, artifact) {
            Availability::Present(found) => found.is_some() && found != recorded,
            Availability::Absent { .. } => true,
        }
    }
}

fn resolved(entry: DependencyEntry, asked: Option<Sha256>) -> ResolveAnswer {
    let DependencyEntry { key, kind, sha256, request_sha256, value, artifact_id, .. } = entry;
    match (entry.withheld, sha256) {
        (None, Some(sha256)) => ResolveAnswer::Known(ResolvedDependency {
            key,
            source: ResolutionSource::Recorded,
            kind,
            value,
            artifact_id,
            sha256,
            // Where one side says nothing, nothing can be said.
            divergent: matches!((request_sha256, asked), (Some(then), Some(now)) if then != now),
        }),
        (withheld, sha256) => ResolveAnswer::Unknown(UnresolvedDependency {
            key,
            source: NoSource::None,
            kind: Some(kind),
            sha256,
            withheld: withheld.or(Some(Withheld::Erased)),
        }),
    }
}
