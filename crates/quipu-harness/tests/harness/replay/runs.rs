//! Runs that the tests record, and what they look at.

use std::sync::Arc;

use quipu_core::{
    DocumentKind, DocumentOwner, Message,
    rules::harn::{DocumentDraft, Expect, HarnCommand},
};
use quipu_field::{Field, FieldOptions, SystemOrigin};
use quipu_harness::{Caller, EventScope, Harness, HarnessOptions, ModuleHost, Page, WriteRequest};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_replay::receipt::{ReceiptSigner, SecretHashing};
use quipu_wire::harn::{
    ClaimTaskRequest, CompleteTaskRequest, Event, HarnError, HarnTask, IdempotencyKey, Receipt,
    RecordCheckpointRequest, RecordDependencyRequest, ReplayTaskRequest, ResolveDependencyRequest,
    ResolvedDependency, ResourceKind, Sha256, SubmitTaskRequest,
};
use serde_json::{Value, json};

pub(crate) const PERSONA: &str = "persona_pricer";

/// A Field with a Harness, and the log under it.
pub(crate) struct World {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) harness: Harness,
}

pub(crate) fn options() -> HarnessOptions {
    HarnessOptions {
        signer: Some(Arc::new(ReceiptSigner::from_seed("key_test", &[7; 32]))),
        secrets: SecretHashing::Keyed([9; 32]),
        modules: ModuleHost::InThisProcessWhichTheyCanAbort,
        ..HarnessOptions::default()
    }
}

pub(crate) fn caller(agent: &str) -> Caller {
    Caller::new(agent, 10)
}

pub(crate) fn asked(agent: &str) -> WriteRequest {
    WriteRequest { caller: caller(agent), key: None, digest: Sha256::of(b"") }
}

pub(crate) fn asked_under(agent: &str, key: &str) -> WriteRequest {
    let key = IdempotencyKey::read([key.as_bytes()]).unwrap();
    WriteRequest { key, ..asked(agent) }
}

impl World {
    pub(crate) async fn new() -> Self {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let world = Self { harness: open(&engine), engine };
        world.put_persona().await;
        world
    }

    /// The same log, opened again.
    pub(crate) async fn reopen(self) -> Self {
        self.harness.field().close().await;
        Self { harness: open(&self.engine), engine: self.engine }
    }

    async fn put_persona(&self) {
        let field = self.harness.field();
        let says = json!({
            "object": "persona", "id": PERSONA, "created_at": "", "updated_at": "", "metadata": {},
            "name": "pricer", "version": "1", "entry_workflow": "external", "description": "d",
            "autonomy_tier": "act_auto", "receipt_policy": "required",
        });
        let draft = DocumentDraft {
            kind: DocumentKind::Persona,
            id: PERSONA.to_owned(),
            owner: DocumentOwner::default(),
            expect: Expect::New,
            body: Some(field.seal(&says).unwrap()),
            quotes: Vec::new(),
        };
        let message = Message {
            id: "persona".to_owned(),
            agent: "boss".to_owned(),
            session: None,
            epoch: 0,
            authority: 10,
            own_key: true,
            key: None,
        };
        let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
        field.harn(message, command).await.unwrap();
    }

    pub(crate) async fn submit(&self) -> String {
        let body =
            json!({"session_id": "session_default", "persona_id": PERSONA, "input": "price"});
        let request = SubmitTaskRequest::parse(body, None).unwrap();
        self.harness.submit_task(&asked("boss"), request).await.unwrap().task.envelope.id
    }

    pub(crate) async fn claim(&self, agent: &str, task: &str) -> HarnTask {
        let request = ClaimTaskRequest::parse(None).unwrap();
        self.harness.claim_task(&asked(agent), task, &request).await.unwrap()
    }

    pub(crate) async fn record(&self, task: &str, key: &str, value: Value) {
        let kind = match key.split(':').next() {
            Some("llm") => "llm_provider_response",
            Some("mcp") => "mcp_tool_return",
            Some("secret") => "secret_value",
            Some("time") => "time",
            _ => "host_fact",
        };
        let body = json!({"key": key, "kind": kind, "value": value, "request": {"ask": key}});
        let request = RecordDependencyRequest::parse(body).unwrap();
        self.harness.record_dependency(&asked("worker"), task, request).await.unwrap();
    }

    pub(crate) async fn checkpoint(&self, task: &str, label: &str) -> String {
        let body = json!({"label": label, "state": {"step": label}});
        let request = RecordCheckpointRequest::parse(body).unwrap();
        let made = self.harness.record_checkpoint(&asked("worker"), task, request).await;
        made.unwrap().envelope.id
    }

    pub(crate) async fn complete(&self, agent: &str, task: &str, output: Value) -> HarnTask {
        let body = json!({"summary": "done", "output": output});
        let request = CompleteTaskRequest::parse(body).unwrap();
        self.harness.complete_task(&asked(agent), task, request).await.unwrap();
        self.settled(task).await
    }

    /// A run with a clock, two models' answers, a tool's, a secret and a checkpoint in its middle.
    pub(crate) async fn run(&self) -> (String, String) {
        let task = self.submit().await;
        self.claim("worker", &task).await;
        self.record(&task, "time:started_at", json!("2026-04-25T10:00:00Z")).await;
        self.record(&task, "llm:main:1", json!({"content": "49 dollars"})).await;
        self.record(&task, "mcp:crm:1", json!({"tier": "gold"})).await;
        let checkpoint = self.checkpoint(&task, "after-crm").await;
        self.record(&task, "secret:token", json!("tok-canary")).await;
        self.record(&task, "llm:main:2", json!({"content": "ship it"})).await;
        self.complete("worker", &task, json!({"price": 49})).await;
        (task, checkpoint)
    }

    pub(crate) async fn replay(&self, task: &str, body: Value) -> Result<HarnTask, HarnError> {
        let request = ReplayTaskRequest::parse(Some(body)).map_err(HarnError::from)?;
        self.harness.replay_task(&asked("boss"), task, request).await
    }

    /// Replays and waits for the end.
    pub(crate) async fn replayed(&self, task: &str, body: Value) -> HarnTask {
        let started = self.replay(task, body).await.unwrap();
        assert_eq!(started.parent_task_id.as_deref(), Some(task));
        self.harness.run_replay(&started.envelope.id).await.unwrap();
        self.settled(&started.envelope.id).await
    }

    pub(crate) async fn settled(&self, task: &str) -> HarnTask {
        self.harness.settle_all().await.unwrap();
        self.harness.task(&caller("boss"), task).await.unwrap()
    }

    pub(crate) async fn resolve(
        &self,
        task: &str,
        body: Value,
    ) -> Result<ResolvedDependency, HarnError> {
        let request = ResolveDependencyRequest::parse(body).map_err(HarnError::from)?;
        self.harness.resolve_dependency(&asked("worker"), task, request).await
    }

    pub(crate) async fn receipt(&self, task: &str) -> Receipt {
        let page = Page::first(ResourceKind::Receipt);
        let list = self.harness.task_receipts(&caller("boss"), task, page).await.unwrap();
        let [receipt] = list.data.as_slice() else { panic!("{} receipts", list.data.len()) };
        let payload = receipt.wire.as_ref().unwrap().payload.clone().unwrap();
        serde_json::from_value(Value::Object(payload.0)).unwrap()
    }

    pub(crate) async fn events(&self, task: &str) -> Vec<Event> {
        self.page(task, None, 200).await
    }

    pub(crate) async fn page(&self, task: &str, after: Option<&str>, limit: usize) -> Vec<Event> {
        let scope = EventScope::task(task);
        self.harness.events(&caller("boss"), scope, after, limit).await.unwrap().data
    }
}

fn open(engine: &Arc<dyn Engine>) -> Harness {
    let name = FieldName::default_field();
    let field =
        Field::open(Arc::clone(engine), name, FieldOptions::new(Arc::new(SystemOrigin))).unwrap();
    Harness::with_options(field, Arc::new(options()))
}
