//! One replay: made, given to the command, waited for, and compared with its source.

use std::{process::Stdio, time::Duration};

use quipu_client::{ClientError, Harn};
use quipu_wire::harn::{
    CancelTaskRequest, Divergence, HarnTask, JsonObject, ReplayTaskRequest, TaskState,
};
use tokio::{process::Command, time::timeout};

use super::args::ReplayArgs;
use crate::ui::failure::Failure;

/// How long a replay may take to end after its command did.
const AFTERWARDS: Duration = Duration::from_secs(5);
const POLL_PAUSE: Duration = Duration::from_millis(100);
const DRIFTED: &str = "replay_drifted";

/// What came of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Same,
    /// It did something else than was recorded.
    Drifted(String),
    /// It did not come to its end.
    Failed(String),
}

#[derive(Debug, Clone)]
pub(super) struct Carried {
    pub(super) source: String,
    pub(super) persona: Option<String>,
    pub(super) replay: Option<String>,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

/// Replays a Task. What goes wrong with it alone is its verdict; without a server nothing can go on.
pub(super) async fn carry(
    args: &ReplayArgs,
    harn: &Harn,
    source: &HarnTask,
) -> Result<(Option<String>, Verdict), Failure> {
    let mut metadata = JsonObject::with("executor", "worker");
    metadata.insert("made_by".to_owned(), "quipu replay".into());
    let request =
        ReplayTaskRequest { strict: args.strict, metadata, ..ReplayTaskRequest::default() };
    let replay = match harn.replay_task(&source.envelope.id, &request).await {
        Ok(task) => task.envelope.id,
        Err(ClientError::Refused(refusal)) => {
            return Ok((None, Verdict::Failed(format!("no replay can be made: {refusal}"))));
        }
        Err(error) => return Err(args.server.failed(&error)),
    };
    let ran = run_command(args, &replay).await;
    let ended = ended(args, harn, &replay).await?;
    let verdict = match ended {
        Some(task) => {
            let divergence = harn.divergence(&replay).await;
            let divergence = divergence.map_err(|error| args.server.failed(&error))?;
            judge(source, &task, &divergence, ran)
        }
        None => {
            let reason = Some("its command did not end it".to_owned());
            let called_off = harn.cancel_task(&replay, &CancelTaskRequest { reason }).await;
            called_off.map_err(|error| args.server.failed(&error))?;
            let why = ran.err().unwrap_or_else(|| "the command left it open".to_owned());
            Verdict::Failed(why)
        }
    };
    Ok((Some(replay), verdict))
}

/// Runs the command to its end; otherwise says in words why it did not come to a good one.
async fn run_command(args: &ReplayArgs, replay: &str) -> Result<(), String> {
    let [program, rest @ ..] = args.command.as_slice() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).kill_on_drop(true);
    command.env("QUIPU_URL", &args.server.url).env("QUIPU_TASK", replay);
    let server = &args.server;
    for (name, value) in
        [("QUIPU_KEY", &server.key), ("QUIPU_FIELD", &server.field), ("QUIPU_AGENT", &server.agent)]
    {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let failed = |error: std::io::Error| format!("the command {program} cannot be run: {error}");
    let mut child = command.spawn().map_err(failed)?;
    match timeout(Duration::from_secs(args.timeout), child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("the command ended with {status}")),
        Ok(Err(error)) => Err(failed(error)),
        Err(_) => {
            // Whoever is killed cannot refuse.
            child.kill().await.ok();
            Err(format!("the command took longer than {} seconds", args.timeout))
        }
    }
}

/// The replay, once it is over; nothing if it does not end.
async fn ended(args: &ReplayArgs, harn: &Harn, replay: &str) -> Result<Option<HarnTask>, Failure> {
    let looking = async {
        loop {
            match harn.task(replay).await {
                Ok(task) if task.status.is_terminal() => return Ok(task),
                Ok(_) => tokio::time::sleep(POLL_PAUSE).await,
                Err(error) => return Err(args.server.failed(&error)),
            }
        }
    };
    timeout(AFTERWARDS, looking).await.ok().transpose()
}

fn judge(
    source: &HarnTask,
    replay: &HarnTask,
    divergence: &Divergence,
    ran: Result<(), String>,
) -> Verdict {
    let failure = replay.failure.as_ref();
    if let Some(drift) = failure.filter(|failure| failure.code == DRIFTED) {
        return Verdict::Drifted(drift.message.clone());
    }
    if let Some(drift) = divergence.request_drift.first() {
        return Verdict::Drifted(format!("it asked something else under {}", drift.key));
    }
    if replay.status != source.status {
        let why = failure.map(|failure| format!(": {}", failure.message)).unwrap_or_default();
        let text = format!("it ended {}, its source {}{why}", replay.status, source.status);
        return Verdict::Failed(text);
    }
    if replay.status == TaskState::Completed && !divergence.output.equal {
        return Verdict::Drifted("it came to another output".to_owned());
    }
    if divergence.diverged {
        let at = divergence.first_difference.as_ref().map(|it| format!(" at event {}", it.index));
        return Verdict::Drifted(format!("it diverged{}", at.unwrap_or_default()));
    }
    match ran {
        Ok(()) => Verdict::Same,
        Err(why) => Verdict::Failed(why),
    }
}
