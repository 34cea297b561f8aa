//! Replays a recorded Task of many events in process, replays a module, and makes and checks receipts: how fast, and
//! whether memory grows with the recording. Nothing is stored and nothing is sent; reading a log is not part of it.

use clap::Args;
use quipu_replay::{
    receipt::{
        DependencyFact, EventLogFact, IssuerFacts, ReceiptSigner, RunFacts, TaskFacts, Trusted,
        canonical_bytes, issue_task, read_document, verify,
    },
    task::{
        Availability, Material, Materials, RecordedDependency, RecordedEvent, ReferenceKind,
        ReplayIdentity, ReplayPlan, Replayer,
    },
};
use quipu_wire::harn::{
    AutonomyTier, BudgetAmount, DependencyKind, EventKind, Identifiers, IssuerKind, JsonObject,
    Lifecycle, OutcomeStatus, Receipt, Sha256, SideEffects, Trust, Visibility,
};
use serde_json::json;

use super::module_replay;
use crate::measure::{
    failure::Failure,
    report::Report,
    server::resident_bytes,
    stopwatch::{Samples, Stopwatch, rate},
};

/// Every so many events one records an answer.
const ANSWER_EVERY: u64 = 10;

/// How often the module is replayed.
const MODULE_REPLAYS: usize = 20;

const TIME: &str = "2026-05-01T08:00:00Z";

#[derive(Debug, Args)]
pub(crate) struct TaskReplayArgs {
    /// How many events the recording has; a tenth of it is replayed first
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,
    /// How many answers the receipt names
    #[arg(long, default_value_t = 1_000)]
    dependencies: usize,
    /// How often a receipt is made and checked
    #[arg(long, default_value_t = 200)]
    receipts: usize,
    /// How many questions the replayed module asks; 256 at most
    #[arg(long, default_value_t = 100)]
    questions: usize,
}

pub(crate) fn run(args: &TaskReplayArgs, report: &mut Report) -> Result<(), Failure> {
    for events in [args.events / 10, args.events] {
        let watch = Stopwatch::start();
        let mut emitted = 0;
        let failed = |missing| Failure::caused("the replay failed", &missing);
        let plan = ReplayPlan::exact(ReplayIdentity::of("task_bench"));
        let mut replayer = Replayer::new(plan.into());
        for number in 0..events {
            let replayed = replayer.step(&event(number, events), &Nothing).map_err(failed)?;
            emitted += usize::from(replayed.is_some());
        }
        let outcome = replayer.finish(None);
        let elapsed = watch.elapsed();
        outcome.first_unavailable.map_or(Ok(()), |missing| Err(failed(missing)))?;
        let what = format!("exact replay of {events} events, made up while replayed");
        report.figure(&what, rate(emitted, elapsed), "events/s");
        report.figure("resident afterwards", resident_bytes("self") / 1e6, "MB");
    }
    module_replay::replays(args.questions, MODULE_REPLAYS, report)?;
    receipts(args, report)
}

fn receipts(args: &TaskReplayArgs, report: &mut Report) -> Result<(), Failure> {
    let signer = ReceiptSigner::from_seed("bench", &[7; 32]);
    let keys = [signer.public().clone()];
    let (mut made, mut checked) = (Samples::default(), Samples::default());
    let mut size = 0;
    for _ in 0..args.receipts {
        let facts = facts(args.dependencies);
        let watch = Stopwatch::start();
        let bytes = sign(facts, &signer)?;
        made.push(watch.elapsed());
        size = bytes.len();
        let watch = Stopwatch::start();
        let (value, _) = read_document(&bytes)
            .map_err(|error| Failure::caused("the receipt cannot be read", &error))?;
        let verdict = verify(&value, Trusted { keys: &keys, ..Trusted::default() });
        checked.push(watch.elapsed());
        if let Some(reason) = verdict.reason() {
            return Err(Failure::new(format!("the receipt does not hold: {reason}")));
        }
    }
    let what = format!("receipt of {} answers made and signed", args.dependencies);
    report.latencies(&what, &made, None);
    report.latencies("the same read and verified", &checked, None);
    let size = u32::try_from(size).map_or(f64::NAN, f64::from);
    report.figure("its size", size, "bytes");
    Ok(())
}

fn sign(facts: TaskFacts, signer: &ReceiptSigner) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::caused("the receipt cannot be made", &error);
    let mut receipt: Receipt = issue_task(facts).map_err(failed)?;
    if let Some(hash) = receipt.chain.receipt_hash {
        receipt.signatures.push(signer.sign(&hash, None));
    }
    canonical_bytes(&receipt).map_err(failed)
}

/// There is nothing outside of the events.
struct Nothing;

impl Materials for Nothing {
    fn find(&self, _: ReferenceKind, _: &str) -> Availability {
        Availability::Absent { reason: "there is nothing".to_owned() }
    }
}

fn event(number: u64, last: u64) -> RecordedEvent {
    let kind = match number {
        0 => EventKind::TaskSubmitted,
        1 => EventKind::TaskStarted,
        number if number + 1 == last => EventKind::TaskCompleted,
        _ => EventKind::AgentMessage,
    };
    let answers = kind == EventKind::AgentMessage && number.is_multiple_of(ANSWER_EVERY);
    RecordedEvent {
        event_id: format!("event_{number:016x}"),
        event: kind.into(),
        sequence: number,
        at: TIME.to_owned(),
        previous_event_id: number.checked_sub(1).map(|before| format!("event_{before:016x}")),
        payload_sha256: Sha256::of(&number.to_be_bytes()),
        visibility: Visibility::Public,
        dependency: answers.then(|| answer(number)),
        checkpoint_id: None,
        references: Vec::new(),
    }
}

fn answer(number: u64) -> RecordedDependency {
    let value = json!({"choices": [{"message": {"role": "assistant", "content": "an answer", "n": number}}]});
    let sha256 = Sha256::of_json(&value).unwrap_or_else(|_| Sha256::of(b""));
    RecordedDependency {
        key: format!("llm:main:{number}"),
        kind: DependencyKind::LlmProviderResponse,
        request_sha256: None,
        sha256,
        visibility: Visibility::Internal,
        material: Material::Value(value),
        by_server: false,
    }
}

fn facts(dependencies: usize) -> TaskFacts {
    let text = |text: &str| text.to_owned();
    let fact = |number: usize| DependencyFact {
        key: format!("llm:main:{number}"),
        kind: DependencyKind::LlmProviderResponse,
        sha256: Sha256::of(&number.to_be_bytes()),
        artifact_id: None,
        visibility: Visibility::Internal,
    };
    TaskFacts {
        run: RunFacts {
            receipt_id: text("receipt_bench"),
            issuer: IssuerFacts {
                id: text("harness_bench"),
                kind: IssuerKind::Harness,
                name: None,
                public_key_id: None,
            },
            identifiers: Identifiers {
                tenant_id: None,
                persona_ref: None,
                workspace_ref: text("workspace_bench"),
                session_id: text("session_bench"),
                task_id: text("task_bench"),
                branch_id: None,
                trace_id: None,
            },
            trust: Trust {
                start_tier: AutonomyTier::ActAuto,
                end_tier: AutonomyTier::ActAuto,
                policy_ref: None,
            },
            model_route: None,
            event_log: Some(EventLogFact {
                id: text("event_log"),
                uri: text("artifact://artifact_log"),
                sha256: Sha256::of(b"log"),
                binds: false,
            }),
            own_log: None,
            final_artifacts: Vec::new(),
            previous_receipt_hash: None,
            merkle_root: None,
            metadata: JsonObject::default(),
        },
        lifecycle: Lifecycle {
            created_at: Some(text(TIME)),
            started_at: text(TIME),
            completed_at: text(TIME),
            final_state: OutcomeStatus::Succeeded,
            failure: None,
        },
        approvals: Vec::new(),
        limit: None,
        consumed: BudgetAmount::default(),
        dependencies: (0..dependencies).map(fact).collect(),
        unavailable_reason: None,
        cost: None,
        side_effects: SideEffects::default(),
        redactions: Vec::new(),
    }
}
