//! A run of an agent is recorded, replayed exactly, and replayed with another answer of the model. None
//! of the replays asks the model.
//!
//! Run it without a server, or name one: `cargo run --example replay -- http://127.0.0.1:7070`.

use std::{collections::BTreeMap, error::Error, io::Write as _};

use quipu_client::{
    ClientError, Dependency, Field, Harn,
    harn_types::{
        AutonomyTier, CompleteTaskRequest, CreatePersonaRequest, DependencyAnswer, DependencyKind,
        JsonObject, MessageInput, ReceiptPolicy, ReplayMode, ReplayOverride, ReplayTaskRequest,
        SubmitTaskRequest, TaskInput, TaskState, VerifyReceiptRequest, Visibility,
    },
};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let field = match std::env::args().nth(1) {
        Some(url) => Field::connect(url).build()?,
        None => Field::in_memory().await?,
    };
    let told = tell(&field).await?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "the run: {}; its receipt holds: {}",
        told.events.join(", "),
        told.receipt_holds
    )?;
    writeln!(out, "the exact replay is {}", told.exact)?;
    writeln!(out, "the other replay had another answer under {}", told.changed.join(", "))?;
    field.close().await;
    Ok(())
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Told {
    /// The kinds of the run's events.
    pub(crate) events: Vec<String>,
    /// Whether the run's receipt holds.
    pub(crate) receipt_holds: bool,
    /// How the exact replay ended.
    pub(crate) exact: TaskState,
    /// The keys whose answers the other replay changed.
    pub(crate) changed: Vec<String>,
}

pub(crate) async fn tell(field: &Field) -> Result<Told, ClientError> {
    let harn = field.harn().speaking_as("pricer")?;
    let task = run(&harn).await?;
    let mut events = Vec::new();
    let mut stream = harn.task_events(&task);
    while let Some(event) = stream.next().await {
        events.push(event?.event.to_string());
    }
    let receipts = harn.task_receipts(&task).await?;
    let mut receipt_holds = !receipts.data.is_empty();
    for receipt in &receipts.data {
        let found =
            harn.verify_receipt(&receipt.envelope.id, &VerifyReceiptRequest::default()).await?;
        receipt_holds &= found.valid;
    }
    let exact = ended(&harn, &task, &ReplayTaskRequest::default()).await?;
    let other = ended(&harn, &task, &what_if()).await?;
    let changed = harn.divergence(&other).await?.dependencies;
    Ok(Told {
        events,
        receipt_holds,
        exact: harn.task(&exact).await?.status,
        changed: changed.into_iter().map(|changed| changed.key).collect(),
    })
}

/// A recorded run: one question to a model, and what came of it.
async fn run(harn: &Harn) -> Result<String, ClientError> {
    // Without a Persona the Field would answer the Task itself.
    let persona = CreatePersonaRequest {
        module_ref: None,
        name: "pricer".to_owned(),
        version: "1".to_owned(),
        entry_workflow: "replay.rs".to_owned(),
        description: "Prices deals".to_owned(),
        autonomy_tier: AutonomyTier::ActAuto,
        receipt_policy: ReceiptPolicy::Required,
        metadata: JsonObject::default(),
    };
    let persona = harn.create_persona(&persona).await?;
    let input = TaskInput::Message(MessageInput::user("Price the deal"));
    let task = SubmitTaskRequest {
        persona_id: Some(persona.envelope.id),
        ..SubmitTaskRequest::new("session_default", input)
    };
    let task = harn.submit_task(&task).await?;
    let task = task.envelope.id;
    harn.claim(&task).await?;
    let request = json!({"prompt": "What is the deal worth?"});
    let dependency = Dependency {
        key: "llm:main:1",
        kind: DependencyKind::LlmProviderResponse,
        request: Some(&request),
        // Here a model would be asked.
        answer: DependencyAnswer::Value(json!({"text": "1200"})),
        visibility: None,
    };
    harn.record_dependency(&task, &dependency).await?;
    let done = CompleteTaskRequest {
        summary: "Priced at 1200".to_owned(),
        output: Some(json!({"price": 1200})),
        artifacts: Vec::new(),
    };
    harn.complete_task(&task, &done).await?;
    Ok(task)
}

/// The same run, had the model said something else.
fn what_if() -> ReplayTaskRequest {
    let other = ReplayOverride {
        kind: DependencyKind::LlmProviderResponse,
        event_id: None,
        target: None,
        value: Some(json!({"text": "900"})),
        artifact_id: None,
        sha256: None,
        visibility: Visibility::Internal,
        reason: Some("a lower estimate".to_owned()),
    };
    ReplayTaskRequest {
        mode: ReplayMode::WithOverrides,
        overrides: BTreeMap::from([("llm:main:1".to_owned(), other)]),
        ..ReplayTaskRequest::default()
    }
}

/// Replays a Task and waits for its end; gives the replay's id.
async fn ended(
    harn: &Harn,
    task: &str,
    request: &ReplayTaskRequest,
) -> Result<String, ClientError> {
    let replay = harn.replay_task(task, request).await?.envelope.id;
    let mut events = harn.task_events(&replay);
    while let Some(event) = events.next().await {
        event?;
    }
    Ok(replay)
}
