//! Fills a Field with many units, closes it, and opens it in a process of its own: how long it takes
//! with a snapshot and with none, and how much memory the open Field needs.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use clap::Args;
use quipu_core::Message;
use quipu_field::{Field, FieldOptions, SystemOrigin};
use quipu_log::{FieldName, SqliteEngine, SqliteOptions};
use quipu_wire::akashik::{RecordPayload, RegisterPayload};
use serde_json::{Value, json};

use crate::measure::{
    corpus::{self, Dice, TASKS},
    failure::Failure,
    report::Report,
    server::resident_bytes,
    stopwatch::{Stopwatch, rate},
    workplace::Workplace,
};

/// How many RECORDs are under way at once while filling.
const AT_ONCE: usize = 1024;

#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Where to keep the data while measuring
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// How many units
    #[arg(long, default_value_t = 1_000_000)]
    units: usize,
    /// Also open it without its snapshot, from the log alone
    #[arg(long)]
    without_snapshot: bool,
}

pub(crate) fn run(args: &OpenArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let folder = Workplace::new(&args.data, "open");
    let data = folder.path();
    let watch = Stopwatch::start();
    runtime()?.block_on(fill(data, args.units, seed, TASKS))?;
    report.figure(
        "filled in process, every commit synced",
        rate(args.units, watch.elapsed()),
        "units/s",
    );
    report.figure(
        "log on disk",
        per_unit(disk_bytes(data, "log.sqlite"), args.units),
        "bytes/unit",
    );
    report.figure(
        "snapshot on disk",
        per_unit(disk_bytes(data, ".snap"), args.units),
        "bytes/unit",
    );
    measure(data, args.units, "with a snapshot", report)?;
    if args.without_snapshot {
        std::fs::remove_dir_all(data.join("fields/default/snapshots")).ok();
        measure(data, args.units, "from the log alone", report)?;
    }
    Ok(())
}

fn measure(data: &Path, units: usize, how: &str, report: &mut Report) -> Result<(), Failure> {
    let figures = opened(data)?;
    let figure = |name: &str| figures.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
    report.figure(&format!("opened {units} units {how}"), figure("seconds"), "s");
    report.figure("  memory in all", per_unit(figure("resident"), units), "bytes/unit");
    report.figure("  of which the index", per_unit(figure("index"), units), "bytes/unit");
    let beyond = figure("resident") - figure("baseline") - figure("index");
    report.figure("  memory beyond the index", per_unit(beyond, units), "bytes/unit");
    Ok(())
}

/// Opens the Field in a process of its own; gives what [`child`] printed.
pub(crate) fn opened(data: &Path) -> Result<Value, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(format!("cannot open in a process of its own: {error}"))
    };
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let output = Command::new(program)
        .args(["open-child", "--data"])
        .arg(data)
        .output()
        .map_err(|error| failed(&error))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| failed(&format!("{error}: {}", String::from_utf8_lossy(&output.stderr))))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn per_unit(bytes: f64, units: usize) -> f64 {
    bytes / units as f64
}

/// The other process: opens the Field and prints what it took.
pub(crate) fn child(data: &Path) -> Result<(), Failure> {
    let baseline = resident_bytes("self");
    let watch = Stopwatch::start();
    let field = open(data)?;
    let seconds = watch.elapsed().as_secs_f64();
    let index = field.index_bytes();
    let resident = resident_bytes("self");
    println!(
        "{}",
        json!({"seconds": seconds, "baseline": baseline, "resident": resident, "index": index})
    );
    Ok(())
}

/// Opens the default Field in process, with no limit on what a REPLAY returns.
pub(crate) fn open(data: &Path) -> Result<Arc<Field>, Failure> {
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot open {}: {}", data.display(), quipu_field::with_causes(error)))
    };
    let engine =
        SqliteEngine::open(data, SqliteOptions::default()).map_err(|error| failed(&error))?;
    let name = FieldName::default_field();
    let options = FieldOptions {
        snapshots: Some(data.join("fields").join(name.to_string()).join("snapshots")),
        replay_events_max: usize::MAX,
        // Open means that everything is there.
        index_later_commits: u64::MAX,
        ..FieldOptions::new(Arc::new(SystemOrigin))
    };
    Field::open(Arc::new(engine), name, options).map_err(|error| failed(&error))
}

/// Where a Field is filled in process.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::caused("cannot start a runtime", &error))
}

/// Fills a Field in a folder of its own, opens it again, measures, and closes it.
pub(crate) fn on_filled(
    folder: &Workplace,
    units: usize,
    seed: u64,
    tasks: u64,
    measure: impl AsyncFnOnce(&Arc<Field>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    runtime()?.block_on(async {
        fill(folder.path(), units, seed, tasks).await?;
        let field = open(folder.path())?;
        measure(&field).await?;
        field.close().await;
        Ok(())
    })
}

/// Fills a Field in process and closes it in order.
pub(crate) async fn fill(data: &Path, units: usize, seed: u64, tasks: u64) -> Result<(), Failure> {
    let field = open(data)?;
    register(&field).await?;
    grow(&field, 0..units, &mut Dice::new(seed), tasks).await?;
    field.close().await;
    Ok(())
}

/// Registers the agent that fills the Field.
pub(crate) async fn register(field: &Arc<Field>) -> Result<(), Failure> {
    let payload = RegisterPayload::parse(json!({"id": "filler", "role": "bench"}))
        .map_err(|error| Failure::new(error.to_string()))?
        .0;
    let answer = field.register(message("register"), payload).await;
    answer.map(drop).map_err(|error| Failure::new(error.to_string()))
}

/// Adds the units of these numbers; the agent that fills is registered.
pub(crate) async fn grow(
    field: &Arc<Field>,
    numbers: Range<usize>,
    dice: &mut Dice,
    tasks: u64,
) -> Result<(), Failure> {
    let mut number = numbers.start;
    while number < numbers.end {
        let count = AT_ONCE.min(numbers.end - number);
        let sent: Vec<_> = (number..number + count)
            .map(|number| {
                let payload = RecordPayload::parse(corpus::record_for(dice, tasks));
                let field = Arc::clone(field);
                tokio::spawn(async move {
                    let (payload, _) = payload.map_err(|error| Failure::new(error.to_string()))?;
                    field
                        .record(message(&format!("m-{number}")), payload)
                        .await
                        .map_err(|error| Failure::new(error.to_string()))
                })
            })
            .collect();
        for one in sent {
            one.await.map_err(|error| Failure::new(error.to_string()))??;
        }
        number += count;
    }
    Ok(())
}

/// A message of the agent that filled the Field.
pub(crate) fn message(id: &str) -> Message {
    Message {
        id: id.to_owned(),
        agent: "filler".to_owned(),
        session: None,
        epoch: 0,
        authority: 10,
        own_key: true,
        key: None,
    }
}

/// The size of all files below a folder whose name ends so.
#[expect(clippy::cast_precision_loss, reason = "bytes for people")]
pub(crate) fn disk_bytes(dir: &Path, ending: &str) -> f64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                disk_bytes(&path, ending)
            } else if path.to_string_lossy().ends_with(ending) {
                entry.metadata().map_or(0.0, |metadata| metadata.len() as f64)
            } else {
                0.0
            }
        })
        .sum()
}
