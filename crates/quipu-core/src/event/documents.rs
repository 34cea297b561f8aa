//! What the Field keeps for the Harn protocol besides sessions, tasks and units, as it is persisted inside
//! of events: documents (workspaces, messages, receipts, …), notes about tasks, idempotency keys. The words
//! are stable. Free text is in the bodies.

use quipu_wire::{
    Hash,
    harn::{DependencyKind, Visibility},
};
use serde::{Deserialize, Serialize};

/// What a document is. A session's or a task's document holds what only the Harn protocol asks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    Workspace,
    /// A policy under which agents work.
    Persona,
    /// What this protocol knows of a session.
    Session,
    /// What this protocol knows of a task.
    Task,
    Message,
    /// A line of work beside the main one.
    Branch,
    Artifact,
    /// The bytes of artifacts, under their digest.
    Content,
    Receipt,
    /// How a task ended.
    Outcome,
    /// What this protocol knows of a memory unit.
    Memory,
    Vault,
    /// A sealed secret.
    Secret,
    /// A way in for others' events.
    Connector,
    /// An event of others that came in.
    Delivery,
    Quota,
    Skill,
    Policy,
    /// What was once allowed or denied, and is to be remembered.
    PermissionRule,
    /// What was decided about something that somebody wanted to do.
    PermissionDecision,
    /// A question whether something may be done.
    PermissionRequest,
    /// How a replay is done.
    Replay,
    /// That an artifact has the bytes of a digest: its id is the digest, a slash, and the artifact's.
    Holding,
    /// A file of a workspace: its id is the workspace's, a slash, and its path. It says which artifact is its newest version.
    File,
    /// Who looks at a session now, and who of them controls it.
    LiveClients,
}

/// Where a document belongs. No member is ever left out: the state holds this too, and the form in which a snapshot
/// keeps the state has no names by which a missing one would be noticed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentOwner {
    #[serde(default)]
    pub workspace: Option<String>,
    /// Its session, which decides who may know of it.
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub task: Option<String>,
    /// Of a task, the persona that it names: what a persona uses up is counted by it.
    #[serde(default)]
    pub persona: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentChange {
    Created,
    /// It says something else now.
    Updated,
    Removed,
}

/// Something that happened to a task without moving it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The kind of event, by its word in the protocol.
    pub event: String,
    /// Who may see its payload.
    pub visibility: Visibility,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency: Option<NotedDependency>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// What it was elsewhere, if it was brought here from another server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedDependency {
    /// Its key, unique in the task.
    pub key: String,
    pub kind: DependencyKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    pub event_id: String,
    /// Its place in its stream.
    pub sequence: u64,
    /// When it happened, RFC 3339.
    pub at: String,
}

/// The first use of an idempotency key: digests only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyMark {
    /// What the key means: its actor, workspace, method and target.
    pub scope: Hash,
    /// The digest of the body.
    pub digest: Hash,
    /// Until when it is remembered, in milliseconds since 1970.
    pub until_ms: u64,
}
