//! Replays a module that asks many questions, each answered from a recording. The kernel runs from the start for
//! each answer, so the time grows with the square of the questions: the figure says what a long module costs.

use quipu_replay::{
    module::{
        Answer, Module, ModuleEnd, ModuleRun, Policy, Recorded, Request, SnapshotKey,
        replay_module, run,
    },
    task::{
        Availability, Material, Materials, RecordedDependency, ReferenceKind, ReplayIdentity,
        ReplayPlan,
    },
};
use quipu_wire::harn::{Sha256, Visibility};
use serde_json::{Value, json};

use crate::measure::{
    failure::Failure,
    report::Report,
    stopwatch::{Samples, Stopwatch},
};

/// Asks a tool as often as the input says, and adds up the lengths of what it is told.
const SOURCE: &str = "\
pub fn entry(harness: Harness, input: any) {
  let asked = 0
  let length = 0
  while asked < input.calls {
    const found = harness.tools.invoke(\"search\", {query: \"question ${asked}\"})
    length = length + found.text.len()
    asked = asked + 1
  }
  return {length: length}
}
";

/// Records a run of `calls` questions and replays it `rounds` times.
pub(crate) fn replays(calls: usize, rounds: usize, report: &mut Report) -> Result<(), Failure> {
    let refused = |error| Failure::caused("the module is refused", &error);
    let mut compiled = Samples::default();
    let watch = Stopwatch::start();
    let module = Module::compile(SOURCE, "entry").map_err(refused)?;
    compiled.push(watch.elapsed());
    let policy = Policy::new(["tools.invoke"], SnapshotKey([7; 32])).map_err(refused)?;
    let input = json!({"calls": calls});
    let (recording, expected) = record(&module, &policy, &input)?;
    let plan = ReplayPlan::exact(ReplayIdentity::of("task_bench"));
    let mut replayed = Samples::default();
    for _ in 0..rounds {
        let watch = Stopwatch::start();
        let replay = replay_module(&module, &policy, &input, &plan, &recording)
            .map_err(|error| Failure::caused("the module did not end", &error))?;
        replayed.push(watch.elapsed());
        if !matches!(replay.end, ModuleEnd::Completed { sha256, .. } if sha256 == expected) {
            return Err(Failure::new("the module's replay came to something else"));
        }
    }
    report.latencies("a module of ten lines compiled", &compiled, None);
    let what = format!("module of {calls} questions replayed from its recording");
    report.latencies(&what, &replayed, None);
    Ok(())
}

/// Runs the module once, and keeps what it was told.
fn record(module: &Module, policy: &Policy, input: &Value) -> Result<(Recording, Sha256), Failure> {
    let mut recording = Recording(Vec::new());
    let mut answers = |request: &Request| {
        let value = json!({"text": format!("an answer to {}", request.key)});
        recording.0.push(RecordedDependency {
            key: request.key.clone(),
            kind: request.kind,
            request_sha256: Some(request.sha256),
            sha256: Sha256::of_json(&value).unwrap_or_else(|_| Sha256::of(b"")),
            visibility: Visibility::Internal,
            material: Material::Value(value.clone()),
            by_server: false,
        });
        Answer::Value(value)
    };
    match run(module, policy, input, &mut answers) {
        ModuleRun::Completed { sha256, .. } => Ok((recording, sha256)),
        ModuleRun::Failed { diagnostic } => {
            Err(Failure::new(format!("the module failed: {diagnostic}")))
        }
        ModuleRun::Suspended { request, .. } => {
            Err(Failure::new(format!("the module waits for {}", request.key)))
        }
    }
}

/// The answers in the order in which they were given.
struct Recording(Vec<RecordedDependency>);

impl Materials for Recording {
    fn find(&self, _: ReferenceKind, _: &str) -> Availability {
        Availability::Absent { reason: "there is nothing".to_owned() }
    }
}

impl Recorded for Recording {
    fn dependency(&self, key: &str) -> Option<RecordedDependency> {
        self.0.iter().find(|dependency| dependency.key == key).cloned()
    }

    fn artifact(&self, _: &str) -> Option<Value> {
        None
    }

    fn secret(&self, _: &RecordedDependency) -> Option<Value> {
        None
    }
}
