//! What the tests share: a Field in memory with scripted time and ids, callers, and a worker's way through a
//! Task.

use std::{sync::Arc, time::Duration};

use quipu_core::{Message, origin::ScriptedOrigin};
use quipu_field::{Field, FieldOptions};
use quipu_harness::{Caller, Harness, HarnessOptions, WriteRequest};
use quipu_log::{BodyContent, Engine, FieldName, MemoryEngine};
use quipu_replay::receipt::{ReceiptSigner, SecretHashing};
use quipu_wire::{
    akashik::{CompactPayload, CoordinatePayload, RegisterPayload, SessionPayload},
    harn::{
        ClaimTaskRequest, CompleteTaskRequest, RecordDependencyRequest, Sha256, SubmitTaskRequest,
    },
};
use serde_json::{Value, json};

/// A Field over this engine, opened as if for the first time in this process.
pub(crate) fn open(engine: &Arc<dyn Engine>) -> Harness {
    let options = FieldOptions::new(Arc::new(ScriptedOrigin::default()));
    let field = Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap();
    let options = HarnessOptions {
        signer: Some(Arc::new(ReceiptSigner::from_seed("key-1", &[7; 32]))),
        secrets: SecretHashing::Keyed([9; 32]),
        ..HarnessOptions::default()
    };
    Harness::with_options(field, Arc::new(options))
}

pub(crate) fn harness() -> Harness {
    open(&engine())
}

pub(crate) fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

pub(crate) fn caller(agent: &str) -> Caller {
    Caller::new(agent, 7)
}

pub(crate) fn asked(agent: &str) -> WriteRequest {
    WriteRequest { caller: caller(agent), key: None, digest: Sha256::of(b"") }
}

/// Submits a Task for a Persona that somebody else works under.
pub(crate) async fn submit(harness: &Harness, body: Value) -> String {
    let request = SubmitTaskRequest::parse(body, Some("session_default")).unwrap();
    harness.submit_task(&asked("alice"), request).await.unwrap().task.envelope.id
}

pub(crate) async fn persona(harness: &Harness, receipts: &str) -> String {
    let body = json!({
        "name": "worker", "version": "1", "entry_workflow": "main", "description": "works",
        "autonomy_tier": "act_auto", "receipt_policy": receipts,
    });
    put_persona(harness, body).await
}

async fn put_persona(harness: &Harness, body: Value) -> String {
    use quipu_core::{
        DocumentKind, DocumentOwner,
        rules::harn::{DocumentDraft, Expect, HarnCommand},
    };
    let mut body = body;
    let id = "persona_reviewer";
    for (name, value) in [("object", "persona"), ("id", id), ("created_at", ""), ("updated_at", "")]
    {
        body[name] = json!(value);
    }
    body["metadata"] = json!({});
    let draft = DocumentDraft {
        kind: DocumentKind::Persona,
        id: id.to_owned(),
        owner: DocumentOwner::default(),
        expect: Expect::Any,
        body: Some(harness.field().seal(&body).unwrap()),
        quotes: Vec::new(),
    };
    let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
    let before = harness.field().head().position;
    harness.field().harn(message(&format!("persona-{before}"), "alice"), command).await.unwrap();
    id.to_owned()
}

pub(crate) async fn claim(harness: &Harness, task: &str) {
    let request = ClaimTaskRequest::parse(None).unwrap();
    harness.claim_task(&asked("bob"), task, &request).await.unwrap();
}

pub(crate) async fn record(harness: &Harness, task: &str, body: Value) {
    let request = RecordDependencyRequest::parse(body).unwrap();
    harness.record_dependency(&asked("bob"), task, request).await.unwrap();
}

pub(crate) async fn complete(harness: &Harness, task: &str) {
    let request = CompleteTaskRequest::parse(json!({"summary": "done", "output": 42})).unwrap();
    harness.complete_task(&asked("bob"), task, request).await.unwrap();
}

pub(crate) fn message(id: &str, agent: &str) -> Message {
    Message {
        id: id.to_owned(),
        agent: agent.to_owned(),
        session: None,
        epoch: 0,
        authority: 10,
        own_key: true,
        key: None,
    }
}

pub(crate) async fn register(harness: &Harness, agent: &str) {
    let payload = json!({"id": agent, "role": "worker", "interests": []});
    let (payload, _) = RegisterPayload::parse(payload).unwrap();
    harness.field().register(message(&format!("register-{agent}"), agent), payload).await.unwrap();
}

/// COORDINATE by the other protocol.
pub(crate) async fn coordinate(harness: &Harness, id: &str, agent: &str, payload: Value) {
    let (payload, _) = CoordinatePayload::parse(payload).unwrap();
    harness.field().coordinate(message(id, agent), payload).await.unwrap();
}

/// Submits a Task to a Session.
pub(crate) async fn submit_in(
    harness: &Harness,
    agent: &str,
    session: &str,
    body: Value,
) -> String {
    let request = SubmitTaskRequest::parse(body, Some(session)).unwrap();
    harness.submit_task(&asked(agent), request).await.unwrap().task.envelope.id
}

/// A session that only its maker knows of.
pub(crate) async fn private_session(harness: &Harness, agent: &str, id: &str) {
    register(harness, agent).await;
    let payload = json!({"action": "create", "session_id": id,
        "session": {"goal": "g", "policy": {"join": "invite"}}});
    let (payload, _) = SessionPayload::parse(payload).unwrap();
    harness.field().session(message(&format!("session-{id}"), agent), payload).await.unwrap();
}

/// A Persona of this autonomy.
pub(crate) async fn persona_of(harness: &Harness, autonomy: &str) -> String {
    let body = json!({
        "name": "worker", "version": "1", "entry_workflow": "main", "description": "works",
        "autonomy_tier": autonomy, "receipt_policy": "required",
    });
    put_persona(harness, body).await
}

/// COMPACT by the other protocol.
pub(crate) async fn compact(harness: &Harness, id: &str, payload: Value) {
    let (payload, _) = CompactPayload::parse(payload).unwrap();
    harness.field().compact(message(id, "alice"), payload).await.unwrap();
}

/// Waits for what happens in the background.
pub(crate) async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    let waiting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        while !is_so().await {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect(what);
}

/// Every text that the log holds.
pub(crate) fn texts(harness: &Harness) -> String {
    let commits = harness.field().commits(1, 1000).unwrap();
    let bodies = commits.iter().flat_map(|commit| &commit.bodies);
    let texts = bodies.filter_map(|body| match &body.content {
        BodyContent::Present(body) => Some(String::from_utf8_lossy(&body.json).into_owned()),
        BodyContent::Erased => None,
    });
    texts.collect()
}
