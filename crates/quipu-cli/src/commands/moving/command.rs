//! The order of a move. What it leaves behind at any moment is something that the next call goes on from.

use std::path::PathBuf;

use clap::Args;
use quipu_log::{EngineError, FieldName, Head};
use quipu_wire::Hash;

use super::{beside, copy, mark::Mark, open_log::OpenLog};
use crate::ui::{
    failure::Failure,
    output::{self, count},
};

const ABOUT: &str = "\
Move Fields from one log to another: from the data directory to PostgreSQL or NATS, and back.

Positions, hashes, epochs and the state stay the same; what was erased stays erased. Keys, and the
secrets that nodes share, go along. In this order:
  1. copy what is there, while servers may still write to a log on a server
  2. seal the source: from here on it takes no writes, and its servers say so
  3. copy the rest, read all of the copy again and compare it with the source, build its state
  4. open the target, which refused writes until then
It can be stopped or killed at any moment; the same command goes on where it was.

LOG is an address as in `quipu serve --log`. `sqlite:` is the log in the data directory of --data, and
`sqlite:DIR` the one in DIR; no server may run on such a directory.

Example:
  quipu move --from sqlite:./quipu-data --to postgres://user@host/database";

const AFTER: &str = "\
Start the servers with the new log afterwards, each with the data directory that it has:
  quipu serve --data ./quipu-data --log postgres://user@host/database

The source stays as it is, sealed. To go back, move back: the sealed source takes what it lacks.";

/// The arguments of `quipu move`.
#[derive(Debug, Args)]
#[command(about = "Move Fields from one log to another", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct MoveArgs {
    /// The log to move from
    #[arg(long, value_name = "LOG")]
    from: String,
    /// The log to move to
    #[arg(long, value_name = "LOG")]
    to: String,
    /// The data directory that `sqlite:` means; between two servers, the one of a node
    #[arg(
        long,
        env = "QUIPU_DATA",
        hide_env_values = true,
        value_name = "DIR",
        default_value = "./quipu-data"
    )]
    data: PathBuf,
    /// Only this field; all of them if it is not given
    #[arg(long, value_name = "NAME")]
    field: Option<FieldName>,
    /// Move here although an earlier move began to take the field elsewhere. Whatever was written there
    /// afterwards is left behind
    #[arg(long)]
    instead: bool,
}

struct Moved {
    field: FieldName,
    head: Head,
    /// None if it had been moved before.
    state: Option<Hash>,
}

pub(crate) fn move_log(args: &MoveArgs) -> Result<(), Failure> {
    if OpenLog::is_same(&args.from, &args.to, &args.data)? {
        return Err(same_log());
    }
    let beside = OpenLog::directory_of(&args.from, &args.to, &args.data);
    let source = OpenLog::open_source(&args.from, &args.data, &beside)?;
    let target = OpenLog::open(&args.to, &args.data, &beside)?;
    let fields = chosen(&source, args.field.as_ref())?;
    let mut mark = Mark::read(&source)?;
    let mut waiting = Vec::new();
    let mut moved = Vec::new();
    for field in fields {
        mark.check(&source, &target, &field, args.instead)?;
        match copy::begin(&source, &target, &field)? {
            copy::Start::From(head) => waiting.push((field, head)),
            copy::Start::Done(head) => moved.push(Moved { field, head, state: None }),
        }
    }
    mark.set(&source, waiting.iter().map(|(field, _)| field), &target)?;
    if mark.is_also_at(&target)? {
        return Err(same_log());
    }
    // Before anything is sealed: what cannot go along must stop the move while it can be left. And before anything is
    // copied, so that a node that is started meanwhile has no secrets of its own.
    beside::check(&source, &target)?;
    beside::carry(&source, &target)?;
    for (field, head) in &mut waiting {
        *head = copy::catch_up(&source, &target, field, *head)?;
    }
    for (field, head) in waiting {
        let end = source.engine.seal(&field).map_err(|error| source.failure(&field, &error))?;
        let reached = copy::catch_up(&source, &target, &field, head)?;
        if reached != end {
            let what = format!(
                "the copy of field {field} ends at {}, not at {}",
                reached.position, end.position
            );
            return Err(Failure::new(what).advise("run the same command again"));
        }
        let state = copy::verify(&source, &target, &field, end)?;
        moved.push(Moved { field, head: end, state: Some(state) });
    }
    // Again: where the source was in use, keys were made and revoked since.
    beside::carry(&source, &target)?;
    for moved in &moved {
        beside::carry_signed(&source, &target, &moved.field)?;
    }
    open_all(&target, &moved)?;
    output::print(&report(&target, &moved))
}

/// The last step: from here on the target takes writes.
fn open_all(target: &OpenLog, moved: &[Moved]) -> Result<(), Failure> {
    let fields: Vec<&FieldName> =
        moved.iter().filter(|moved| moved.state.is_some()).map(|moved| &moved.field).collect();
    // A target that was itself moved away once is a log again.
    Mark::read(target)?.clear(target, &fields)?;
    for field in fields {
        target.engine.unseal(field).map_err(|error| target.failure(field, &error))?;
    }
    Ok(())
}

fn chosen(source: &OpenLog, wanted: Option<&FieldName>) -> Result<Vec<FieldName>, Failure> {
    let unreadable = |error: EngineError| Failure::caused(format!("cannot read {source}"), &error);
    let mut fields = source.engine.fields().map_err(unreadable)?;
    if let Some(wanted) = wanted {
        if !fields.contains(wanted) {
            return Err(Failure::new(format!("there is no field {wanted} in {source}"))
                .advise("leave --field out to move all of them"));
        }
        fields.retain(|field| field == wanted);
    }
    let mut with_commits = Vec::new();
    for field in fields {
        let head = source.engine.head(&field).map_err(|error| source.failure(&field, &error))?;
        if head != Head::EMPTY {
            with_commits.push(field);
        }
    }
    if with_commits.is_empty() {
        return Err(Failure::new(format!(
            "there is nothing to move in {source}: it has no commits"
        ))
        .advise("start a server with the new log; its keys are taken over from --data"));
    }
    Ok(with_commits)
}

fn same_log() -> Failure {
    Failure::new("the log is there already: --from and --to are the same place")
}

fn report(target: &OpenLog, moved: &[Moved]) -> String {
    let mut text = String::new();
    for Moved { field, head, state } in moved {
        let commits = count(head.position, "commit");
        text.push_str(&match state {
            Some(state) => {
                format!("field {field}: {commits}\n  head {}\n  state {state}\n", head.hash)
            }
            None => format!("field {field}: was moved before, with {commits}\n"),
        });
    }
    let fields = u64::try_from(moved.len()).unwrap_or(u64::MAX);
    text.push_str(&format!("moved to {target}: {}\n", count(fields, "field")));
    text
}
