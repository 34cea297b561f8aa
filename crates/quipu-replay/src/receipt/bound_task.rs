//! What the last line of an event log binds: the Task, its Outcome and its Artifacts, member by member.

use std::collections::BTreeMap;

use quipu_wire::{
    harn::{Artifact, HarnTask, Outcome, Sha256},
    json::canon::{self, CanonError},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a receipt names the form of the event log whose last line is a [`TaskBinding`].
pub const EVENT_LOG_FORM: &str = "quipu-event-log-2";

/// Members that say when this or that server wrote a document down, and nothing of the run.
const WRITTEN_DOWN: [&str; 2] = ["created_at", "updated_at"];
/// Of an Artifact, where it belongs: to the Task, as whoever takes it in sees to.
const BELONGS_TO: [&str; 3] = ["workspace_id", "session_id", "task_id"];
/// Of a replay in process, what its receipt does not depend on: which one it is, who asked for it, when, and where.
const OF_ONE_REPLAY: [&str; 14] = [
    "id",
    "outcome_id",
    "receipt_id",
    "created_at",
    "updated_at",
    "started_at",
    "completed_at",
    "canceled_at",
    "created_by",
    "assigned_agent_id",
    "workspace_id",
    "session_id",
    "branch_id",
    "metadata",
];

/// The same of its Outcome.
const OUTCOME_OF_ONE_REPLAY: [&str; 5] =
    ["id", "task_id", "receipt_id", "created_at", "updated_at"];

/// The word in `object` of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskBindingObject {
    TaskBinding,
}

/// Digests by the names of members.
pub type Members = BTreeMap<String, Sha256>;

/// The last line of an event log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskBinding {
    pub object: TaskBindingObject,
    pub task: Members,
    pub outcome: Option<Members>,
    /// By their ids, without the event log itself.
    pub artifacts: BTreeMap<String, BoundArtifact>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundArtifact {
    /// The digest of what is said of it.
    pub sha256: Sha256,
    /// Whether its content was kept.
    pub content: bool,
}

/// Whether a run was worked on, or replayed by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    Worked,
    Replayed,
}

impl TaskBinding {
    /// Binds a Task as an export has it; the Artifacts come with whether their content is kept.
    ///
    /// # Errors
    /// Where something has no canonical JSON.
    pub fn of<'a>(
        run: Run,
        task: &HarnTask,
        outcome: Option<&Outcome>,
        artifacts: impl Iterator<Item = (&'a Artifact, bool)>,
    ) -> Result<Self, CanonError> {
        let free: &[&str] = match run {
            Run::Worked => &[],
            Run::Replayed => &OF_ONE_REPLAY,
        };
        let bound = |(artifact, content): (&Artifact, bool)| {
            let sha256 = artifact_digest(artifact)?;
            Ok((artifact.envelope.id.clone(), BoundArtifact { sha256, content }))
        };
        Ok(Self {
            object: TaskBindingObject::TaskBinding,
            task: members(value_of(task), free)?,
            outcome: outcome.map(|outcome| outcome_members(outcome, run)).transpose()?,
            artifacts: artifacts.map(bound).collect::<Result<_, CanonError>>()?,
        })
    }

    /// The line as it stands in the log.
    ///
    /// # Errors
    /// Never, as texts and digests have a canonical form.
    pub fn line(&self) -> Result<Vec<u8>, CanonError> {
        let mut line = canon::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// The digest of what is said of an Artifact.
pub(super) fn artifact_digest(artifact: &Artifact) -> Result<Sha256, CanonError> {
    let mut value = value_of(artifact);
    drop_members(&mut value, &WRITTEN_DOWN);
    drop_members(&mut value, &BELONGS_TO);
    Sha256::of_json(&value)
}

fn outcome_members(outcome: &Outcome, run: Run) -> Result<Members, CanonError> {
    let mut value = value_of(outcome);
    let artifacts = value.get_mut("artifacts").and_then(Value::as_array_mut);
    for artifact in artifacts.into_iter().flatten() {
        drop_members(artifact, &WRITTEN_DOWN);
        if run == Run::Replayed {
            drop_members(artifact, &BELONGS_TO);
        }
    }
    match run {
        Run::Worked => members(value, &WRITTEN_DOWN),
        Run::Replayed => members(value, &OUTCOME_OF_ONE_REPLAY),
    }
}

/// The digest of each member; what is in `metadata`, each by itself.
fn members(value: Value, free: &[&str]) -> Result<Members, CanonError> {
    let Value::Object(object) = value else { return Ok(Members::new()) };
    let mut digests = Members::new();
    for (name, value) in object {
        if free.contains(&name.as_str()) {
            continue;
        }
        if let Value::Object(inner) = &value
            && name == "metadata"
        {
            for (own, value) in inner {
                digests.insert(format!("{name}.{own}"), Sha256::of_json(value)?);
            }
        } else {
            digests.insert(name, Sha256::of_json(&value)?);
        }
    }
    Ok(digests)
}

fn drop_members(value: &mut Value, names: &[&str]) {
    if let Value::Object(object) = value {
        object.retain(|name, _| !names.contains(&name.as_str()));
    }
}

fn value_of(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}
