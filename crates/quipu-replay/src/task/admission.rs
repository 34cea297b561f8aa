//! Whether a replay may run at all. Everything that can be decided before the first event is decided here, and
//! each refusal names the parameter. What only shows while it runs fails the replay instead.

use serde_json::Value;

use quipu_wire::{
    harn::{
        DependencyKind, HarnError, HarnErrorCode, ReplayMode, ReplayOverride, ReplayTaskRequest,
        Sha256, TaskState, is_timestamp,
    },
    json::canon::CanonError,
};

use super::{
    identity::ReplayIdentity,
    lifecycle::is_lifecycle_key,
    plan::{Boundary, HashTrust, PlannedOverride, ReplayPlan, Substitute},
    recording::{Availability, DependencySummary},
};

pub trait SourceTask {
    fn task_id(&self) -> &str;
    fn state(&self) -> TaskState;
    fn dependency(&self, key: &str) -> Option<DependencySummary>;
    fn checkpoint(&self, checkpoint_id: &str) -> Option<Boundary>;
    fn checkpoint_at(&self, event_id: &str) -> Option<Boundary>;
    /// Whether an Artifact's bytes are there, with their digest.
    fn artifact(&self, artifact_id: &str) -> Availability;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionError {
    #[error("task {task_id} is {state}; only a finished task can be replayed")]
    NotTerminal { task_id: String, state: TaskState },
    #[error("override.{key}: the source recorded nothing under this key")]
    NothingRecorded { key: String },
    #[error("override.{key}: was recorded before the checkpoint, where nothing is replayed")]
    BeforeCheckpoint { key: String },
    #[error("override.{key}.kind: {given} was given, {recorded} was recorded")]
    KindDiffers { key: String, given: DependencyKind, recorded: DependencyKind },
    #[error("override.{key}.event_id: the key was recorded by {recorded}")]
    EventDiffers { key: String, recorded: String },
    /// The declared hash is not the hash of the substitute. The value itself is not repeated.
    #[error("override.{key}.sha256: {declared} was declared, the substitute has {actual}")]
    HashDiffers { key: String, declared: Sha256, actual: Sha256 },
    #[error("override.{key}.artifact_id: value and artifact are both given and differ")]
    ValueAndArtifact { key: String },
    #[error("override.{key}.artifact_id: {artifact_id} is unavailable: {reason}")]
    ArtifactUnavailable { key: String, artifact_id: String, reason: String },
    #[error("override.{key}.value: must be a time in the form of RFC 3339")]
    NotATime { key: String },
    #[error("override.{key}.value: must be an object, as the payload of an event is")]
    NotAnObject { key: String },
    #[error("override.{key}.target: does not fit the key")]
    TargetDiffers { key: String },
    #[error("override.{key}.value: has no canonical JSON")]
    NotCanonical {
        key: String,
        #[source]
        source: CanonError,
    },
    #[error("{param}: the source has no such checkpoint")]
    CheckpointUnknown { param: &'static str },
    #[error("checkpoint_event_id: is not the event of checkpoint_id")]
    CheckpointsDiffer,
    /// The request says exact and has overrides, or names no checkpoint; strict reading refuses it too.
    #[error("{param}: contradicts mode {mode}")]
    ModeContradicted { param: &'static str, mode: ReplayMode },
}

impl AdmissionError {
    #[must_use]
    pub const fn code(&self) -> HarnErrorCode {
        match self {
            Self::NotTerminal { .. } => HarnErrorCode::Conflict,
            Self::NothingRecorded { .. }
            | Self::BeforeCheckpoint { .. }
            | Self::KindDiffers { .. }
            | Self::EventDiffers { .. }
            | Self::HashDiffers { .. }
            | Self::ValueAndArtifact { .. }
            | Self::ArtifactUnavailable { .. }
            | Self::NotATime { .. }
            | Self::NotAnObject { .. }
            | Self::TargetDiffers { .. }
            | Self::NotCanonical { .. }
            | Self::CheckpointUnknown { .. }
            | Self::CheckpointsDiffer
            | Self::ModeContradicted { .. } => HarnErrorCode::InvalidRequest,
        }
    }
}

impl AdmissionError {
    /// The parameter that is wrong, as the client wrote it.
    #[must_use]
    pub fn param(&self) -> String {
        let of = |key: &str, member: &str| format!("override.{key}{member}");
        match self {
            Self::NotTerminal { .. } => "task_id".to_owned(),
            Self::NothingRecorded { key } | Self::BeforeCheckpoint { key } => of(key, ""),
            Self::KindDiffers { key, .. } => of(key, ".kind"),
            Self::EventDiffers { key, .. } => of(key, ".event_id"),
            Self::HashDiffers { key, .. } => of(key, ".sha256"),
            Self::ValueAndArtifact { key } | Self::ArtifactUnavailable { key, .. } => {
                of(key, ".artifact_id")
            }
            Self::NotATime { key } | Self::NotAnObject { key } | Self::NotCanonical { key, .. } => {
                of(key, ".value")
            }
            Self::TargetDiffers { key } => of(key, ".target"),
            Self::CheckpointUnknown { param } | Self::ModeContradicted { param, .. } => {
                (*param).to_owned()
            }
            Self::CheckpointsDiffer => "checkpoint_event_id".to_owned(),
        }
    }
}

impl From<AdmissionError> for HarnError {
    fn from(error: AdmissionError) -> Self {
        let param = error.param();
        Self::new(error.code(), error.to_string()).at(param)
    }
}

/// Decides whether a replay may run, and how.
///
/// # Errors
/// Why not: see [`AdmissionError`].
pub fn admit(
    request: &ReplayTaskRequest,
    source: &dyn SourceTask,
    identity: ReplayIdentity,
    trust: HashTrust,
) -> Result<ReplayPlan, AdmissionError> {
    let state = source.state();
    if !state.is_terminal() {
        return Err(AdmissionError::NotTerminal { task_id: source.task_id().to_owned(), state });
    }
    if request.mode == ReplayMode::Exact && !request.overrides.is_empty() {
        return Err(AdmissionError::ModeContradicted { param: "override", mode: request.mode });
    }
    let boundary = admit_boundary(request, source)?;
    let mut plan = ReplayPlan::exact(identity);
    plan.mode = request.mode;
    plan.reason.clone_from(&request.reason);
    for (key, given) in &request.overrides {
        let planned = admit_override(key, given, source, boundary.as_ref(), trust)?;
        plan.overrides.insert(key.clone(), planned);
    }
    plan.boundary = boundary;
    Ok(plan)
}

fn admit_boundary(
    request: &ReplayTaskRequest,
    source: &dyn SourceTask,
) -> Result<Option<Boundary>, AdmissionError> {
    if request.mode != ReplayMode::FromCheckpoint {
        return Ok(None);
    }
    let unknown = |param| AdmissionError::CheckpointUnknown { param };
    let by_id = request
        .checkpoint_id
        .as_deref()
        .map(|id| source.checkpoint(id).ok_or_else(|| unknown("checkpoint_id")));
    let by_event = request
        .checkpoint_event_id
        .as_deref()
        .map(|id| source.checkpoint_at(id).ok_or_else(|| unknown("checkpoint_event_id")));
    match (by_id.transpose()?, by_event.transpose()?) {
        (Some(one), Some(other)) if one != other => Err(AdmissionError::CheckpointsDiffer),
        (Some(boundary), _) | (None, Some(boundary)) => Ok(Some(boundary)),
        (None, None) => Err(AdmissionError::ModeContradicted {
            param: "checkpoint_id",
            mode: ReplayMode::FromCheckpoint,
        }),
    }
}

fn admit_override(
    key: &str,
    given: &ReplayOverride,
    source: &dyn SourceTask,
    boundary: Option<&Boundary>,
    trust: HashTrust,
) -> Result<PlannedOverride, AdmissionError> {
    let key_owned = || key.to_owned();
    let recorded = source
        .dependency(key)
        .ok_or_else(|| AdmissionError::NothingRecorded { key: key_owned() })?;
    if recorded.kind != given.kind {
        let (given, recorded) = (given.kind, recorded.kind);
        return Err(AdmissionError::KindDiffers { key: key_owned(), given, recorded });
    }
    if given.event_id.as_ref().is_some_and(|event| *event != recorded.event_id) {
        let recorded = recorded.event_id;
        return Err(AdmissionError::EventDiffers { key: key_owned(), recorded });
    }
    if !given.target.as_deref().is_none_or(|target| is_for(key, target)) {
        return Err(AdmissionError::TargetDiffers { key: key_owned() });
    }
    // The state at the boundary itself is the one thing at or before it that counts.
    let restored = given.kind == DependencyKind::CheckpointValue;
    let counts = |boundary: &Boundary| {
        recorded.sequence > boundary.sequence || restored && recorded.sequence == boundary.sequence
    };
    if !boundary.is_none_or(counts) {
        return Err(AdmissionError::BeforeCheckpoint { key: key_owned() });
    }
    let (substitute, actual) = admit_substitute(key, given, source)?;
    let is_time = |value: &Value| value.as_str().is_some_and(is_timestamp);
    if is_lifecycle_key(key) && !matches!(&substitute, Substitute::Value(value) if is_time(value)) {
        return Err(AdmissionError::NotATime { key: key_owned() });
    }
    if given.kind == DependencyKind::EventPayload
        && matches!(&substitute, Substitute::Value(value) if !value.is_object())
    {
        return Err(AdmissionError::NotAnObject { key: key_owned() });
    }
    let sha256 = match (given.sha256, trust) {
        (Some(declared), HashTrust::Declared) => declared,
        (Some(declared), HashTrust::Verify) if declared != actual => {
            return Err(AdmissionError::HashDiffers { key: key_owned(), declared, actual });
        }
        (Some(_), HashTrust::Verify) | (None, _) => actual,
    };
    let (kind, visibility) = (given.kind, given.visibility);
    Ok(PlannedOverride { kind, substitute, sha256, visibility, reason: given.reason.clone() })
}

/// Whether a key is for a target: what follows its class, or a part of that.
fn is_for(key: &str, target: &str) -> bool {
    key.split_once(':')
        .is_none_or(|(_, rest)| rest == target || rest.split(':').any(|part| part == target))
}

/// The substitute with its true digest.
fn admit_substitute(
    key: &str,
    given: &ReplayOverride,
    source: &dyn SourceTask,
) -> Result<(Substitute, Sha256), AdmissionError> {
    let key_owned = || key.to_owned();
    let of_value = given.value.as_ref().map(|value| {
        let digest = Sha256::of_json(value);
        digest.map_err(|source| AdmissionError::NotCanonical { key: key_owned(), source })
    });
    let of_value = of_value.transpose()?;
    let of_artifact = given.artifact_id.as_ref().map(|id| {
        let unavailable = |reason: String| AdmissionError::ArtifactUnavailable {
            key: key_owned(),
            artifact_id: id.clone(),
            reason,
        };
        match source.artifact(id) {
            Availability::Present(Some(digest)) => Ok(digest),
            Availability::Present(None) => Err(unavailable("it has no digest".to_owned())),
            Availability::Absent { reason } => Err(unavailable(reason)),
        }
    });
    match (&given.value, of_value, &given.artifact_id, of_artifact.transpose()?) {
        (Some(_), Some(value), Some(_), Some(artifact)) if value != artifact => {
            Err(AdmissionError::ValueAndArtifact { key: key_owned() })
        }
        (Some(value), Some(digest), ..) => Ok((Substitute::Value(value.clone()), digest)),
        (None, _, Some(id), Some(digest)) => Ok((Substitute::Artifact(id.clone()), digest)),
        _ => Err(AdmissionError::NothingRecorded { key: key_owned() }),
    }
}
