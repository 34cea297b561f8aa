//! Sources, answers and recordings for the tests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use quipu_wire::harn::{DependencyKind, ReplayTaskRequest, Sha256, TaskState, Visibility};

use crate::{
    module::*,
    receipt::SecretHashing,
    task::{
        Availability, Boundary, DependencySummary, HashTrust, Material, Materials,
        RecordedDependency, ReferenceKind, ReplayIdentity, ReplayPlan, SourceTask, admit,
    },
};

/// Asks a model, a clock, a tool and for a secret, and says what it was told.
pub(in crate::module) const ASKS: &str = r#"
pub fn entry(harness: Harness, input: any) {
  const first = harness.llm.call("Is this fine? " + input.text)
  const at = harness.clock.now_ms()
  const token = harness.secrets.read("token")
  const found = harness.tools.invoke("search", {query: first.text, token: token})
  const second = harness.llm.call("And now? " + first.text)
  return {verdict: second.text, at: at, found: found, known: token.len()}
}
"#;

pub(in crate::module) const KEY: SnapshotKey = SnapshotKey([9; 32]);

const GRANTS: [&str; 6] =
    ["llm.call", "clock.now_ms", "clock.timestamp", "secrets.read", "tools.invoke", "random.uuid"];

pub(in crate::module) fn policy() -> Policy {
    Policy::new(GRANTS, KEY).unwrap()
}

pub(in crate::module) fn compiled(source: &str) -> Module {
    Module::compile(source, "entry").unwrap()
}

pub(in crate::module) fn input() -> Value {
    json!({"text": "a plan"})
}

/// A table of answers, and everything that was asked.
#[derive(Clone, Default)]
pub(in crate::module) struct Table {
    pub(in crate::module) answers: BTreeMap<String, Value>,
    pub(in crate::module) asked: Vec<Request>,
}

impl Table {
    pub(in crate::module) fn of(answers: &[(&str, Value)]) -> Self {
        let answers = answers.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        Self { answers: answers.collect(), asked: Vec::new() }
    }

    /// The answers that [`ASKS`] needs.
    pub(in crate::module) fn complete() -> Self {
        Self::of(&[
            ("llm:main:1", json!("mostly")),
            ("time:1", json!(1_777_000_000_000_u64)),
            ("secret:token", json!("s3cret-token")),
            ("host:tools.invoke:1", json!([{"title": "a hit", "score": 2.0}])),
            ("llm:main:2", json!({"text": "approved", "model": "m"})),
        ])
    }

    pub(in crate::module) fn keys(&self) -> Vec<&str> {
        self.asked.iter().map(|request| request.key.as_str()).collect()
    }

    /// What was asked and told, as a recording keeps it: secrets only as keyed hashes.
    pub(in crate::module) fn recording(&self) -> Recording {
        let mut recording = Recording::default();
        for request in &self.asked {
            let value = self.answers[&request.key].clone();
            let secret = request.kind == DependencyKind::SecretValue;
            let (sha256, material) = if secret {
                recording.vault.insert(request.key.clone(), value.clone());
                (recording.hashing().digest(&value).unwrap(), Material::HashOnly)
            } else {
                (Sha256::of_json(&value).unwrap(), Material::Value(value))
            };
            recording.dependencies.push(RecordedDependency {
                key: request.key.clone(),
                kind: request.kind,
                request_sha256: Some(request.sha256),
                sha256,
                visibility: Visibility::Internal,
                material,
                by_server: false,
            });
        }
        recording
    }
}

impl Answers for Table {
    fn answer(&mut self, request: &Request) -> Answer {
        let Some(value) = self.answers.get(&request.key) else { return Answer::Unavailable };
        self.asked.push(request.clone());
        Answer::Value(value.clone())
    }
}

/// A finished Task that ran a module.
#[derive(Clone, Default)]
pub(in crate::module) struct Recording {
    pub(in crate::module) dependencies: Vec<RecordedDependency>,
    pub(in crate::module) vault: BTreeMap<String, Value>,
    pub(in crate::module) artifacts: BTreeMap<String, Value>,
}

impl Recording {
    pub(in crate::module) fn hashing(&self) -> SecretHashing {
        SecretHashing::Keyed([5; 32])
    }

    pub(in crate::module) fn plan(&self, overrides: &Value) -> ReplayPlan {
        let body = json!({"mode": "with_overrides", "override": overrides});
        let request = ReplayTaskRequest::parse(Some(body)).unwrap();
        admit(&request, self, ReplayIdentity::of("task_1"), HashTrust::Verify).unwrap()
    }

    pub(in crate::module) fn replay(&self, source: &str, overrides: &Value) -> ModuleReplay {
        let plan = self.plan(overrides);
        replay_module(&compiled(source), &policy(), &input(), &plan, self).unwrap()
    }

    pub(in crate::module) fn find(&mut self, key: &str) -> &mut RecordedDependency {
        self.dependencies.iter_mut().find(|dependency| dependency.key == key).unwrap()
    }
}

impl SourceTask for Recording {
    fn task_id(&self) -> &str {
        "task_1"
    }

    fn state(&self) -> TaskState {
        TaskState::Completed
    }

    fn dependency(&self, key: &str) -> Option<DependencySummary> {
        let found = self.dependencies.iter().position(|dependency| dependency.key == key)?;
        Some(DependencySummary {
            event_id: format!("event_{found}"),
            sequence: found as u64,
            kind: self.dependencies[found].kind,
        })
    }

    fn checkpoint(&self, _: &str) -> Option<Boundary> {
        None
    }

    fn checkpoint_at(&self, _: &str) -> Option<Boundary> {
        None
    }

    fn artifact(&self, id: &str) -> Availability {
        self.find(ReferenceKind::Artifact, id)
    }
}

impl Materials for Recording {
    fn find(&self, _: ReferenceKind, id: &str) -> Availability {
        match self.artifacts.get(id) {
            Some(value) => Availability::Present(Sha256::of_json(value).ok()),
            None => Availability::Absent { reason: "it is not stored".to_owned() },
        }
    }
}

impl Recorded for Recording {
    fn dependency(&self, key: &str) -> Option<RecordedDependency> {
        self.dependencies.iter().find(|dependency| dependency.key == key).cloned()
    }

    fn artifact(&self, id: &str) -> Option<Value> {
        self.artifacts.get(id).cloned()
    }

    fn secret(&self, recorded: &RecordedDependency) -> Option<Value> {
        let secret = self.vault.get(&recorded.key)?;
        (self.hashing().digest(secret) == Some(recorded.sha256)).then(|| secret.clone())
    }
}

#[track_caller]
pub(in crate::module) fn failed(run: ModuleRun) -> Diagnostic {
    let ModuleRun::Failed { diagnostic } = run else { panic!("did not fail: {run:?}") };
    diagnostic
}

#[track_caller]
pub(in crate::module) fn completed(run: ModuleRun) -> Value {
    let ModuleRun::Completed { value, sha256 } = run else { panic!("did not complete: {run:?}") };
    assert_eq!(sha256, Sha256::of_json(&value).unwrap());
    value
}

#[track_caller]
pub(in crate::module) fn suspended(run: ModuleRun) -> (Request, Vec<u8>) {
    let ModuleRun::Suspended { request, snapshot } = run else {
        panic!("did not suspend: {run:?}")
    };
    (request, snapshot)
}
