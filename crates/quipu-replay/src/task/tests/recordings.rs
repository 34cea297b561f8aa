//! Small recordings in memory, and the source and materials around them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use quipu_wire::harn::{DependencyKind, EventName, Sha256, TaskState, Visibility};

use crate::task::*;

/// Replays events up to the first that cannot be: what was emitted, and what it came to.
pub(crate) fn replay_all(
    plan: &ReplayPlan,
    materials: &dyn Materials,
    events: &[RecordedEvent],
) -> (Vec<ReplayedEvent>, ReplayOutcome) {
    let mut replayer = Replayer::new(plan.clone().into());
    let mut emitted = Vec::new();
    for event in events {
        match replayer.step(event, materials) {
            Ok(replayed) => emitted.extend(replayed),
            Err(missing) => return (emitted, replayer.finish(Some(missing))),
        }
    }
    (emitted, replayer.finish(None))
}

/// A finished Task in memory.
pub(super) struct Recording {
    pub(super) state: TaskState,
    pub(super) events: Vec<RecordedEvent>,
    pub(super) stored: BTreeMap<(ReferenceKind, String), Availability>,
}

pub(super) fn kind_of(key: &str) -> DependencyKind {
    match key.split(':').next() {
        Some("llm") => DependencyKind::LlmProviderResponse,
        Some("mcp") => DependencyKind::McpToolReturn,
        Some("secret") => DependencyKind::SecretValue,
        Some("time") => DependencyKind::Time,
        Some("checkpoint") => DependencyKind::CheckpointValue,
        Some("event") => DependencyKind::EventPayload,
        _ => DependencyKind::HostFact,
    }
}

impl Recording {
    /// A run that was submitted and started.
    pub(super) fn new() -> Self {
        let mut recording =
            Self { state: TaskState::Completed, events: Vec::new(), stored: BTreeMap::new() };
        recording.push("task.submitted");
        recording.push("task.started");
        recording
    }

    /// Appends an event of a kind.
    pub(super) fn push(&mut self, event: &str) -> &mut RecordedEvent {
        let number = self.events.len();
        self.events.push(RecordedEvent {
            event_id: format!("event_{number:04}"),
            event: EventName::parse(event).unwrap(),
            sequence: number as u64,
            at: format!("2026-05-01T08:{:02}:{:02}Z", number / 60 % 60, number % 60),
            previous_event_id: number.checked_sub(1).map(|before| format!("event_{before:04}")),
            payload_sha256: Sha256::of(format!("{event} {number}").as_bytes()),
            visibility: Visibility::Public,
            dependency: None,
            checkpoint_id: None,
            references: Vec::new(),
        });
        self.events.last_mut().unwrap()
    }

    /// Appends an answer.
    pub(super) fn answer(&mut self, key: &str, value: Value) -> &mut RecordedEvent {
        let sha256 = Sha256::of_json(&value).unwrap();
        let event = self.push("agent.tool_result");
        event.dependency = Some(RecordedDependency {
            key: key.to_owned(),
            kind: kind_of(key),
            request_sha256: Some(Sha256::of(key.as_bytes())),
            sha256,
            visibility: Visibility::Internal,
            material: Material::Value(value),
            by_server: false,
        });
        event
    }

    /// Appends a checkpoint.
    pub(super) fn mark(&mut self, id: &str) {
        self.push("vendor.checkpoint.created").checkpoint_id = Some(id.to_owned());
    }

    /// Appends the end.
    pub(super) fn completed(mut self) -> Self {
        self.push("task.completed");
        self
    }

    pub(super) fn dependency_mut(&mut self, key: &str) -> &mut RecordedDependency {
        let mut found = self.events.iter_mut().filter_map(|event| event.dependency.as_mut());
        found.find(|dependency| dependency.key == key).unwrap()
    }

    pub(super) fn dependency_of(&self, key: &str) -> Option<&RecordedDependency> {
        let mut found = self.events.iter().filter_map(|event| event.dependency.as_ref());
        found.find(|dependency| dependency.key == key)
    }

    /// Admits a request and replays it.
    pub(super) fn run(&self, request: Value) -> (Vec<ReplayedEvent>, ReplayOutcome) {
        let plan = self.admit(request).unwrap();
        self.run_plan(&plan)
    }

    pub(super) fn run_plan(&self, plan: &ReplayPlan) -> (Vec<ReplayedEvent>, ReplayOutcome) {
        replay_all(plan, self, &self.events)
    }

    pub(super) fn admit(&self, request: Value) -> Result<ReplayPlan, AdmissionError> {
        let request = quipu_wire::harn::ReplayTaskRequest::parse(Some(request)).unwrap();
        admit(&request, self, ReplayIdentity::of(self.task_id()), HashTrust::Verify)
    }

    fn boundary(&self, wanted: impl Fn(&RecordedEvent) -> bool) -> Option<Boundary> {
        let event =
            self.events.iter().find(|event| event.checkpoint_id.is_some() && wanted(event))?;
        Some(Boundary {
            checkpoint_id: event.checkpoint_id.clone()?,
            event_id: event.event_id.clone(),
            sequence: event.sequence,
        })
    }
}

impl SourceTask for Recording {
    fn task_id(&self) -> &str {
        "task_source_01"
    }

    fn state(&self) -> TaskState {
        self.state
    }

    fn dependency(&self, key: &str) -> Option<DependencySummary> {
        let recorded = |event: &RecordedEvent| {
            event.dependency.as_ref().is_some_and(|dependency| dependency.key == key)
                || event_key(&event.event_id) == key
                || event.checkpoint_id.as_deref().is_some_and(|id| checkpoint_key(id) == key)
        };
        let event = self.events.iter().find(|event| recorded(event))?;
        let (event_id, sequence) = (event.event_id.clone(), event.sequence);
        Some(DependencySummary { event_id, sequence, kind: kind_of(key) })
    }

    fn checkpoint(&self, checkpoint_id: &str) -> Option<Boundary> {
        self.boundary(|event| event.checkpoint_id.as_deref() == Some(checkpoint_id))
    }

    fn checkpoint_at(&self, event_id: &str) -> Option<Boundary> {
        self.boundary(|event| event.event_id == event_id)
    }

    fn artifact(&self, artifact_id: &str) -> Availability {
        self.find(ReferenceKind::Artifact, artifact_id)
    }
}

impl Materials for Recording {
    fn find(&self, kind: ReferenceKind, id: &str) -> Availability {
        let found = self.stored.get(&(kind, id.to_owned())).cloned();
        found.unwrap_or_else(|| Availability::Absent { reason: "it is not stored".to_owned() })
    }
}

/// A run with three answers, a secret, a clock and a checkpoint.
pub(super) fn three_answers() -> Recording {
    let mut recording = Recording::new();
    recording.answer("llm:main:1", json!({"content": "first"}));
    recording.answer("time:now", json!("2026-05-01T08:00:02Z"));
    recording.mark("artifact_mid");
    recording.answer("mcp:github:7", json!([1, 2]));
    recording.answer("secret:token", json!("kept elsewhere"));
    recording.dependency_mut("secret:token").material = Material::HashOnly;
    recording.answer("llm:main:2", json!({"content": "second"}));
    recording.completed()
}
