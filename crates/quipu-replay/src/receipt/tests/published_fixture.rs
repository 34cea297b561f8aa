//! The published replay, from request to receipt, with a twin of its module really run. Its files are not here: their
//! facts are, as inputs of our own, and the digests of the canonical bytes that must come out. Hashes in it are placeholders, so the request
//! runs in the mode that believes declared hashes, and the chain's placeholders are put in.

use serde_json::{Value, json};

use quipu_wire::harn::{
    AutonomyTier, DependencyKind, EventName, FinalArtifact, Identifiers, IssuerKind, JsonObject,
    ModelRef, ModelRoute, OutcomeStatus, Receipt, ReplayTaskRequest, Sha256, TaskState, Trust,
    Visibility,
};

use super::facts::digest;
use crate::{
    module::{Module, ModuleEnd, ModuleReplay, Policy, Recorded, SnapshotKey, replay_module},
    receipt::*,
    task::{
        Availability, Boundary, DependencySummary, HashTrust, Material, Materials,
        RecordedDependency, RecordedEvent, ReferenceKind, ReplayIdentity, ReplayOutcome,
        ReplayPlan, SourceTask, admit, tests::recordings::replay_all,
    },
};

const SUFFIX: &str = "01JZ6Y2ZKMB8H8DMXBGXR1FPGS";

struct Published {
    task_id: String,
    events: Vec<RecordedEvent>,
}

impl Published {
    /// The log that the published request needs: a clock reading, a model's answer, and the life of the Task.
    fn new() -> Self {
        let dependency = |key: &str, kind, before| {
            Some(RecordedDependency {
                key: key.to_owned(),
                kind,
                request_sha256: None,
                sha256: digest(before),
                visibility: Visibility::Internal,
                material: Material::HashOnly,
                by_server: false,
            })
        };
        let time = dependency("time:started_at", DependencyKind::Time, '2');
        let answer = dependency("llm:main:1", DependencyKind::LlmProviderResponse, '1');
        let rows = [
            ("event_01JZ6FFF", "task.submitted", "10", None),
            ("event_01JZ7000", "task.started", "12", time),
            ("event_01JZ7001", "agent.message", "20", answer),
            ("event_01JZ7002", "task.completed", "73", None),
        ];
        let events =
            rows.into_iter().zip(0..).map(|((id, event, second, dependency), sequence)| {
                let at = match second {
                    "73" => "2026-04-25T19:17:33Z".to_owned(),
                    second => format!("2026-04-25T19:16:{second}Z"),
                };
                RecordedEvent {
                    event_id: id.to_owned(),
                    event: EventName::parse(event).unwrap(),
                    sequence,
                    at,
                    previous_event_id: None,
                    payload_sha256: Sha256::of(id.as_bytes()),
                    visibility: Visibility::Public,
                    dependency,
                    checkpoint_id: None,
                    references: Vec::new(),
                }
            });
        Self { task_id: format!("task_source_{SUFFIX}"), events: events.collect() }
    }
}

impl SourceTask for Published {
    fn task_id(&self) -> &str {
        &self.task_id
    }

    fn state(&self) -> TaskState {
        TaskState::Completed
    }

    fn dependency(&self, key: &str) -> Option<DependencySummary> {
        self.events.iter().find_map(|event| {
            let found = event.dependency.as_ref().filter(|dependency| dependency.key == key)?;
            let (event_id, sequence) = (event.event_id.clone(), event.sequence);
            Some(DependencySummary { event_id, sequence, kind: found.kind })
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

impl Materials for Published {
    fn find(&self, _: ReferenceKind, _: &str) -> Availability {
        Availability::Absent { reason: "there are none".to_owned() }
    }
}

impl Recorded for Published {
    fn dependency(&self, key: &str) -> Option<RecordedDependency> {
        let mut recorded = self.events.iter().filter_map(|event| event.dependency.as_ref());
        recorded.find(|dependency| dependency.key == key).cloned()
    }

    fn artifact(&self, _: &str) -> Option<Value> {
        None
    }

    fn secret(&self, _: &RecordedDependency) -> Option<Value> {
        None
    }
}

/// Runs a module against what the replay has. The published one asks nothing.
fn run_module(source: &Published, plan: &ReplayPlan, module: &str) -> ModuleReplay {
    let module = Module::compile(module, "entry").unwrap();
    let policy = Policy::new(["llm.call"], SnapshotKey([3; 32])).unwrap();
    replay_module(&module, &policy, &json!({"message": "hi"}), plan, source).unwrap()
}

fn request() -> ReplayTaskRequest {
    let content = json!({"role": "assistant", "content": "approved"});
    let body = json!({
    "mode": "with_overrides",
    "reason": "byte-deterministic replay conformance",
    "override": {
        "time:started_at": {
            "kind": "time", "event_id": "event_01JZ7000", "target": "started_at",
            "value": "2026-04-25T19:16:14Z", "sha256": digest('b'), "visibility": "internal",
            "reason": "pin replay clock"},
        "llm:main:1": {
            "kind": "llm_provider_response", "event_id": "event_01JZ7001", "target": "main",
            "value": {"id": "chatcmpl_fixture_1", "choices": [{"message": content}]},
            "sha256": digest('a'), "visibility": "receipt_only",
            "reason": "agents-protocol replay conformance fixture"},
    }});
    ReplayTaskRequest::parse(Some(body)).unwrap()
}

fn configured(outcome: &ReplayOutcome) -> ReplayFacts {
    let text = str::to_owned;
    let run = RunFacts {
        receipt_id: ReplayIdentity::receipt_id("receipt_01JZ6Y3B5K0QJ9GM61VZKX7P6G"),
        issuer: IssuerFacts {
            id: text("harness_conformance"),
            kind: IssuerKind::Harness,
            name: Some(text("Harn replay conformance")),
            public_key_id: None,
        },
        identifiers: Identifiers {
            tenant_id: None,
            persona_ref: None,
            workspace_ref: text("workspace_replay_fixture"),
            session_id: text("session_replay_fixture"),
            task_id: outcome.replay_task_id.clone(),
            branch_id: None,
            trace_id: Some(text("trace_replay_fixture")),
        },
        trust: Trust {
            start_tier: AutonomyTier::ActAuto,
            end_tier: AutonomyTier::ActAuto,
            policy_ref: Some(text("policy_replay_conformance")),
        },
        model_route: Some(ModelRoute {
            chosen_model: ModelRef {
                provider: text("fixture"),
                model: text("replay-fixture"),
                version: None,
                reason: None,
            },
            alternatives_considered: Vec::new(),
            route_policy_reason: text("chosen when it was recorded"),
        }),
        event_log: Some(EventLogFact {
            id: text("event_log_source_task"),
            uri: text("artifact://artifact_event_log_source_task"),
            sha256: digest('c'),
            binds: false,
        }),
        own_log: None,
        final_artifacts: vec![FinalArtifact {
            artifact_id: text("artifact_replay_output"),
            kind: text("dataset"),
            uri: Some(text("artifact://artifact_replay_output")),
            sha256: Some(digest('d')),
        }],
        previous_receipt_hash: Some(digest('e')),
        merkle_root: Some(digest('f')),
        metadata: JsonObject::with("source", "agents-protocol-replay-conformance-fixture"),
    };
    ReplayFacts { run, secrets: SecretHashing::Omit, source_failure: None }
}

fn replayed() -> (ReplayPlan, ReplayOutcome, Receipt) {
    let source = Published::new();
    let identity = ReplayIdentity::of(source.task_id());
    let plan = admit(&request(), &source, identity, HashTrust::Declared).unwrap();
    let (_, outcome) = replay_all(&plan, &source, &source.events);
    let ran = run_module(&source, &plan, include_str!("../../../fixtures/replay-twin.harn"));
    let output = json!({"message": "hi", "verdict": "approved"});
    let sha256 = Sha256::of_json(&output).unwrap();
    assert_eq!(ran.end, ModuleEnd::Completed { value: output, sha256 });
    let outcome = ran.settle(outcome);
    let receipt = issue_replay(configured(&outcome), &plan, &outcome).unwrap();
    (plan, outcome, receipt)
}

#[test]
fn the_published_replay_gives_the_published_receipt_byte_for_byte() {
    let (_, outcome, mut receipt) = replayed();
    assert_eq!(outcome.first_unavailable, None);
    let value = serde_json::to_value(&receipt).unwrap();
    let preimage = preimage(&value).unwrap();
    assert_eq!(preimage.len(), 2991, "{}", String::from_utf8_lossy(&preimage));
    let expected = "c665e22ccc7b42cd3d910b2c0767a1709bd4e135c9be159816c19a917aea9d04";
    assert_eq!(Sha256::of(&preimage).bare(), expected);
    assert_eq!(receipt.chain.receipt_hash.unwrap().bare(), expected);
    receipt.chain.receipt_hash = Some(digest('f'));
    let whole = canonical_bytes(&receipt).unwrap();
    assert_eq!(whole.len(), 3096);
    let expected = "3bdee34bfba86d6eff057d999e54492c7dcdeb138a51ff3474dd955421cc633f";
    assert_eq!(Sha256::of(&whole).bare(), expected);
}

#[test]
fn twice_gives_the_same_bytes_and_the_receipt_holds() {
    let (_, _, one) = replayed();
    let (_, _, other) = replayed();
    assert_eq!(canonical_bytes(&one), canonical_bytes(&other));
    super::facts::assert_valid(&one);
}

#[test]
fn a_module_that_asks_the_model_is_given_the_published_override() {
    let source = Published::new();
    let identity = ReplayIdentity::of(source.task_id());
    let plan = admit(&request(), &source, identity, HashTrust::Declared).unwrap();
    let asks =
        "pub fn entry(harness: Harness, input: any) {\n return harness.llm.call(\"q\").text\n}";
    let ModuleEnd::Completed { value, .. } = run_module(&source, &plan, asks).end else {
        panic!("the module did not complete")
    };
    assert_eq!(value, "approved");
}

#[test]
fn a_module_that_asks_for_more_than_was_recorded_fails_the_receipt_by_name() {
    let source = Published::new();
    let identity = ReplayIdentity::of(source.task_id());
    let plan = admit(&request(), &source, identity, HashTrust::Declared).unwrap();
    let (_, outcome) = replay_all(&plan, &source, &source.events);
    let asks = "pub fn entry(harness: Harness, input: any) {\n const a = harness.llm.call(\"q\")\n return harness.llm.call(a.text).text\n}";
    let outcome = run_module(&source, &plan, asks).settle(outcome);
    let receipt = issue_replay(configured(&outcome), &plan, &outcome).unwrap();
    assert_eq!(receipt.lifecycle.final_state, OutcomeStatus::Failed);
    let failure = serde_json::to_string(&receipt.lifecycle.failure).unwrap();
    assert!(failure.contains("llm:main:2 is unavailable: it was never recorded"), "{failure}");
    super::facts::assert_valid(&receipt);
}

#[test]
fn by_default_the_published_placeholders_are_refused() {
    let source = Published::new();
    let identity = ReplayIdentity::of(source.task_id());
    let refused = admit(&request(), &source, identity, HashTrust::Verify).unwrap_err();
    assert!(refused.to_string().starts_with("override.llm:main:1.sha256"), "{refused}");
    assert!(
        refused
            .to_string()
            .contains("f6b0ea0e0508850baa308f6d4c2ad5b897612b548911185bfe3d426a136cd8b9")
    );
}
