//! A module that prices deals, and its way through a Task.

use quipu_harness::{Recorded, WriteRequest};
use quipu_wire::harn::{
    CreatePersonaRequest, HarnError, HarnTask, Persona, RecordDependencyRequest,
    RegisterArtifactRequest, SubmitTaskRequest, TaskState,
};
use serde_json::{Value, json};

use crate::{
    replay::runs::{World, asked, caller},
    support::eventually,
};

/// Asks for the time, a tool and a model; who is of the lowest tier is for somebody else to decide.
pub(crate) const PRICING: &str = r#"
pub fn price(harness: Harness, input: any) {
  const at = harness.clock.now_ms()
  const found = harness.tools.invoke("crm", {customer: input.customer})
  if found.tier == "tin" {
    const boss = harness.tools.invoke("boss", {customer: input.customer})
    return {by: boss.name}
  }
  const said = harness.llm.call("Offer to a customer of tier " + found.tier)
  return {tier: found.tier, word: said.text, timed: at > 0}
}
"#;

pub(crate) const CAPABILITIES: [&str; 3] = ["clock.now_ms", "tools.invoke", "llm.call"];

/// A caller of this authority.
pub(crate) fn asked_with(agent: &str, authority: u8) -> WriteRequest {
    let mut asked = asked(agent);
    asked.caller.authority = authority;
    asked
}

pub(crate) fn persona(artifact: &str) -> Value {
    json!({
        "module_ref": "harn://acme/pricing@1", "name": "pricing", "version": "1",
        "entry_workflow": "price", "description": "prices deals", "autonomy_tier": "act_auto",
        "receipt_policy": "required",
        "metadata": {"module_artifact_id": artifact, "capabilities": CAPABILITIES},
    })
}

impl World {
    /// A world with a runner of modules.
    pub(crate) async fn with_modules() -> Self {
        let world = Self::new().await;
        world.run_modules();
        world
    }

    pub(crate) fn run_modules(&self) {
        tokio::spawn(self.harness.clone().run_module_tasks());
    }

    pub(crate) async fn source(&self, mime_type: &str, source: &str) -> String {
        let body = json!({"kind": "file", "mime_type": mime_type, "visibility": "public"});
        let request = RegisterArtifactRequest::parse(body).unwrap();
        let made = self.harness.register_artifact(&asked("boss"), request).await.unwrap();
        let (id, bytes) = (made.envelope.id, source.as_bytes().to_vec());
        if !bytes.is_empty() {
            self.harness.put_artifact_content(&asked("boss"), &id, bytes).await.unwrap();
        }
        id
    }

    pub(crate) async fn install(
        &self,
        asked: &WriteRequest,
        body: Value,
    ) -> Result<Persona, HarnError> {
        let request = CreatePersonaRequest::parse(body).unwrap();
        self.harness.create_persona(asked, request).await
    }

    /// Submits a Task to a module.
    pub(crate) async fn submit_to(&self, source: &str, input: Value) -> String {
        let artifact = self.source("text/x-harn", source).await;
        let persona = self.install(&asked("boss"), persona(&artifact)).await.unwrap();
        let body = json!({"session_id": "session_default", "persona_id": persona.envelope.id,
            "input": input});
        let request = SubmitTaskRequest::parse(body, None).unwrap();
        self.harness.submit_task(&asked("carol"), request).await.unwrap().task.envelope.id
    }

    /// The Task once it stands there.
    pub(crate) async fn until(&self, task: &str, state: TaskState) -> HarnTask {
        let stands = async || self.harness.task_state(&caller("boss"), task) == Some(state);
        eventually("the Task stands there", stands).await;
        self.harness.task(&caller("boss"), task).await.unwrap()
    }

    /// What the module waits for.
    pub(crate) async fn asks(&self, task: &str) -> Value {
        self.until(task, TaskState::InputRequired).await;
        let events = self.events(task).await;
        let asks = events.iter().rev().find_map(|event| event.payload.get("asks").cloned());
        asks.expect("a Task that waits says for what")
    }

    /// Waits until the module asks for this.
    pub(crate) async fn until_asks(&self, task: &str, key: &str) {
        eventually(key, async || self.asks(task).await["key"] == key).await;
    }

    pub(crate) async fn answer_as(
        &self,
        asked: &WriteRequest,
        task: &str,
        body: Value,
    ) -> Result<Recorded, HarnError> {
        let request = RecordDependencyRequest::parse(body).map_err(HarnError::from)?;
        self.harness.record_dependency(asked, task, request).await
    }

    /// Answers what the module waits for, as somebody with little authority.
    pub(crate) async fn answer(&self, task: &str, value: Value) -> String {
        let asks = self.asks(task).await;
        let body = json!({"key": asks["key"], "kind": asks["kind"], "value": value});
        self.answer_as(&asked_with("bob", 4), task, body).await.unwrap();
        asks["key"].as_str().unwrap().to_owned()
    }

    /// A whole run, up to its receipt.
    pub(crate) async fn priced(&self) -> String {
        let task = self.submit_to(PRICING, json!({"customer": "Acme"})).await;
        self.answer(&task, json!({"tier": "gold"})).await;
        self.until_asks(&task, "llm:main:1").await;
        self.answer(&task, json!("a hundred")).await;
        self.until(&task, TaskState::Completed).await;
        task
    }

    pub(crate) async fn output(&self, task: &HarnTask) -> Value {
        let id = task.outcome_id.as_ref().unwrap();
        let outcome = self.harness.outcome(&caller("boss"), id).await.unwrap();
        outcome.envelope.metadata.get("output").cloned().unwrap_or_default()
    }
}
