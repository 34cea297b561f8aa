//! The Harn protocol: Tasks as whoever submits them and whoever works on them sees them, their replay,
//! their events and their receipts.

use hyper::{
    HeaderMap,
    body::Bytes,
    header::{HeaderName, HeaderValue},
};
use quipu_wire::harn::{
    AppendEventRequest, Artifact, CancelTaskRequest, ClaimNextRequest, ClaimTaskRequest,
    CompleteTaskRequest, CreatePersonaRequest, CreateSessionRequest, CreateWorkspaceRequest,
    DependencyAnswer, DependencyEntry, DependencyKind, Divergence, Event, FailTaskRequest,
    HarnSession, HarnTask, HarnVersion, HeartbeatRequest, LEASE_MS_DEFAULT, LIST_LIMIT_MAX,
    LeaseResource, List, Persona, ReceiptResource, ReceiptVerification, RecordCheckpointRequest,
    RecordedDependencyResource, ReplayTaskRequest, ResolveAnswer, ResolvedDependency,
    SubmitTaskRequest, VerifyReceiptRequest, Visibility, Workspace,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    error::ClientError,
    handle::{
        field::{Field, header_value, understand},
        following::Following,
        harn_events::{self, Events},
    },
    ids::message_id,
    net::path::segment,
};

const AGENT: HeaderName = HeaderName::from_static("akashik-agent");
const VERSION: HeaderName = HeaderName::from_static("harn-agents-protocol-version");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A Field by the Harn protocol. Every write goes out under an idempotency key of its own, drawn once.
#[derive(Debug, Clone)]
pub struct Harn {
    field: Field,
    headers: HeaderMap,
}

/// One answer that the work on a Task consumed. The server keeps only the digest of the request, so
/// this is what is sent and not what is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency<'d> {
    pub key: &'d str,
    pub kind: DependencyKind,
    /// What was asked, by which a replay finds out that it asks something else.
    pub request: Option<&'d Value>,
    pub answer: DependencyAnswer,
    /// Who may see it; the server's default if absent.
    pub visibility: Option<Visibility>,
}

/// The body of a dependency, recorded or asked for.
#[derive(Serialize)]
struct DependencyBody<'d> {
    key: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<DependencyKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'d Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'d Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_id: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<Visibility>,
}

impl Harn {
    pub(crate) fn new(field: Field) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION, HeaderValue::from_static(HarnVersion::DEFAULT.as_str()));
        Self { field, headers }
    }

    /// The same, speaking as an agent, where the key may.
    pub fn speaking_as(&self, agent: &str) -> Result<Self, ClientError> {
        let mut harn = self.clone();
        harn.headers.insert(AGENT, header_value("the agent's id", agent)?);
        Ok(harn)
    }

    pub async fn create_workspace(
        &self,
        request: &CreateWorkspaceRequest,
    ) -> Result<Workspace, ClientError> {
        self.post("/v1/workspaces", request).await
    }

    /// Makes a Persona. A Task that names none is answered by the Field itself.
    pub async fn create_persona(
        &self,
        request: &CreatePersonaRequest,
    ) -> Result<Persona, ClientError> {
        self.post("/v1/personas", request).await
    }

    pub async fn create_session(
        &self,
        request: &CreateSessionRequest,
    ) -> Result<HarnSession, ClientError> {
        self.post("/v1/sessions", request).await
    }

    pub async fn submit_task(&self, request: &SubmitTaskRequest) -> Result<HarnTask, ClientError> {
        self.post("/v1/tasks", request).await
    }

    pub async fn task(&self, task: &str) -> Result<HarnTask, ClientError> {
        self.get(&of_task(task, "")).await
    }

    pub async fn cancel_task(
        &self,
        task: &str,
        request: &CancelTaskRequest,
    ) -> Result<HarnTask, ClientError> {
        self.post(&of_task(task, "/cancel"), request).await
    }

    /// Claims a Task to work on it, or renews the claim, for the default lease.
    pub async fn claim(&self, task: &str) -> Result<HarnTask, ClientError> {
        let request = ClaimTaskRequest { lease_ms: LEASE_MS_DEFAULT, agent_id: None };
        self.claim_for(task, &request).await
    }

    /// Claims a Task, or renews the claim.
    pub async fn claim_for(
        &self,
        task: &str,
        request: &ClaimTaskRequest,
    ) -> Result<HarnTask, ClientError> {
        self.post(&of_task(task, "/claim"), request).await
    }

    /// Takes the oldest Task that is due and that nobody has; nothing where there is none.
    pub async fn claim_next(
        &self,
        request: &ClaimNextRequest,
    ) -> Result<Option<HarnTask>, ClientError> {
        let answer = self.send("/v1/tasks/claim", request).await?;
        if answer.is_empty() { Ok(None) } else { understand(&answer).map(Some) }
    }

    /// Makes the lease of a Task that the caller has last longer. It never takes a Task.
    pub async fn heartbeat(
        &self,
        task: &str,
        request: &HeartbeatRequest,
    ) -> Result<LeaseResource, ClientError> {
        self.post(&of_task(task, "/heartbeat"), request).await
    }

    /// A page of the answers that a Task recorded so far, behind the one under a key.
    pub async fn dependencies(
        &self,
        task: &str,
        after_key: Option<&str>,
    ) -> Result<List<DependencyEntry>, ClientError> {
        let after = after_key.map(|key| format!("&after_key={}", segment(key)));
        let query = format!("/dependencies?limit={LIST_LIMIT_MAX}{}", after.unwrap_or_default());
        self.get(&of_task(task, &query)).await
    }

    /// A page of Tasks. What is asked for is by the names of the query: `status`, `queue`, `parent_task_id`, ….
    pub async fn tasks(
        &self,
        filter: &[(&str, &str)],
        cursor: Option<&str>,
    ) -> Result<List<HarnTask>, ClientError> {
        let mut path = format!("/v1/tasks?limit={LIST_LIMIT_MAX}");
        let cursor = cursor.map(|cursor| ("cursor", cursor));
        for (name, value) in filter.iter().copied().chain(cursor) {
            path = format!("{path}&{}={}", segment(name), segment(value));
        }
        self.get(&path).await
    }

    /// Says that something happened in the work on a Task.
    pub async fn append_event(
        &self,
        task: &str,
        request: &AppendEventRequest,
    ) -> Result<Event, ClientError> {
        self.post(&of_task(task, "/events"), request).await
    }

    /// Records an answer that the work consumed, so that the Task can be replayed.
    pub async fn record_dependency(
        &self,
        task: &str,
        dependency: &Dependency<'_>,
    ) -> Result<RecordedDependencyResource, ClientError> {
        let (value, artifact_id) = match &dependency.answer {
            DependencyAnswer::Value(value) => (Some(value), None),
            DependencyAnswer::Artifact(id) => (None, Some(id.as_str())),
        };
        let body = DependencyBody {
            key: dependency.key,
            kind: Some(dependency.kind),
            request: dependency.request,
            value,
            artifact_id,
            visibility: dependency.visibility,
        };
        self.post(&of_task(task, "/dependencies"), &body).await
    }

    /// Asks a replay Task for the recorded or substituted answer under a key, before what would be
    /// asked live.
    pub async fn resolve_dependency(
        &self,
        task: &str,
        key: &str,
        request: Option<&Value>,
    ) -> Result<ResolvedDependency, ClientError> {
        self.ask(task, key, request).await
    }

    /// Asks a Task, be it a replay or a run that goes on, for the answer under a key. A run that recorded none says so.
    pub async fn resolve(
        &self,
        task: &str,
        key: &str,
        request: Option<&Value>,
    ) -> Result<ResolveAnswer, ClientError> {
        self.ask(task, key, request).await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        task: &str,
        key: &str,
        request: Option<&Value>,
    ) -> Result<T, ClientError> {
        let body = DependencyBody {
            key,
            kind: None,
            request,
            value: None,
            artifact_id: None,
            visibility: None,
        };
        self.post(&of_task(task, "/dependencies/resolve"), &body).await
    }

    /// Records a boundary from which a replay can begin.
    pub async fn record_checkpoint(
        &self,
        task: &str,
        request: &RecordCheckpointRequest,
    ) -> Result<Artifact, ClientError> {
        self.post(&of_task(task, "/checkpoints"), request).await
    }

    pub async fn complete_task(
        &self,
        task: &str,
        request: &CompleteTaskRequest,
    ) -> Result<HarnTask, ClientError> {
        self.post(&of_task(task, "/complete"), request).await
    }

    pub async fn fail_task(
        &self,
        task: &str,
        request: &FailTaskRequest,
    ) -> Result<HarnTask, ClientError> {
        self.post(&of_task(task, "/fail"), request).await
    }

    /// Replays a Task, exactly or with other answers. What comes back is the Task of the replay.
    pub async fn replay_task(
        &self,
        task: &str,
        request: &ReplayTaskRequest,
    ) -> Result<HarnTask, ClientError> {
        self.post(&of_task(task, "/replay"), request).await
    }

    /// How a replay differs from its source.
    pub async fn divergence(&self, task: &str) -> Result<Divergence, ClientError> {
        self.get(&of_task(task, "/divergence")).await
    }

    /// The Receipts of a Task, oldest first.
    pub async fn task_receipts(&self, task: &str) -> Result<List<ReceiptResource>, ClientError> {
        self.get(&of_task(task, "/receipts")).await
    }

    pub async fn receipt(&self, receipt: &str) -> Result<ReceiptResource, ClientError> {
        self.get(&format!("/v1/receipts/{}", segment(receipt))).await
    }

    pub async fn verify_receipt(
        &self,
        receipt: &str,
        request: &VerifyReceiptRequest,
    ) -> Result<ReceiptVerification, ClientError> {
        self.post(&format!("/v1/receipts/{}/verify", segment(receipt)), request).await
    }

    /// The Events of a Task from its beginning, as they happen, until it has ended.
    #[must_use]
    pub fn task_events(&self, task: &str) -> Events {
        self.task_events_after(task, None)
    }

    #[must_use]
    pub fn task_events_after(&self, task: &str, event: Option<&str>) -> Events {
        harn_events::of_task(self.following(of_task(task, "/stream"), event))
    }

    /// The Events of everything, as they happen, behind one that was seen or from the beginning.
    #[must_use]
    pub fn events(&self, after: Option<&str>) -> Events {
        harn_events::of_everything(self.following("/v1/events/stream".to_owned(), after))
    }

    fn following(&self, path: String, after: Option<&str>) -> Following {
        let after = after.map(str::to_owned);
        Following::new(self.field.clone(), path, self.headers.clone(), after)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        understand(&self.field.get(path, &self.headers).await?)
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        understand(&self.send(path, body).await?)
    }

    async fn send(&self, path: &str, body: &impl Serialize) -> Result<Bytes, ClientError> {
        let mut headers = self.headers.clone();
        headers.insert(IDEMPOTENCY_KEY, header_value("the idempotency key", &message_id())?);
        let body = serde_json::to_vec(body).map_err(ClientError::Payload)?;
        self.field.post(path, &headers, Bytes::from(body)).await
    }
}

fn of_task(task: &str, rest: &str) -> String {
    format!("/v1/tasks/{}{rest}", segment(task))
}
