//! `quipu import`: a field's log from JSON lines. The log is built and checked whole in a directory
//! beside the fields and then moved into place, so that a bad line, a full disk or a crash leaves
//! nothing of it.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use quipu_field::restore::restore;
use quipu_log::{
    Commit, Engine, EngineError, FieldName, Head, Pace, SqliteEngine, SqliteOptions, jsonl,
};
use quipu_wire::Hash;

use crate::{
    storage::data_dir::{self, DataArgs},
    ui::{
        failure::Failure,
        output::{self, count},
        progress::Progress,
    },
};

const ABOUT: &str = "\
Read a field's log from JSON lines that `quipu export` wrote.

The field must be empty, and no server may run on the directory. Every line is verified: its hash,
its place in the chain, its texts against their commitments; then the state is built from it. Only if
all of that succeeds does the field appear. A bad line is named, and nothing is left of the import.

Example:
  quipu import --data ./copy --field default --in default.jsonl
  gunzip < default.jsonl.gz | quipu import --data ./copy --field default";

const AFTER: &str = "\
The import prints the head and the state; they are those of the field that was exported:
  quipu verify --data ./quipu-data --field default";

/// How many commits are appended at a time.
const BATCH: usize = 1024;
const LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The arguments of `quipu import`.
#[derive(Debug, Args)]
#[command(about = "Read a field's log from JSON lines", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The field to make
    #[arg(long, value_name = "NAME")]
    field: FieldName,
    /// Where to read; `-` is stdin
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    input: PathBuf,
}

pub(crate) fn import(args: &ImportArgs) -> Result<(), Failure> {
    let (dir, field) = (&args.data.data, &args.field);
    let input = open_input(&args.input)?;
    // Held to the end: nobody else writes to the directory meanwhile.
    let lock = SqliteEngine::open(dir, SqliteOptions::default())
        .map_err(|error| data_dir::open_failure(&error))?;
    must_be_empty(dir, field)?;
    let staging = Staging::prepare(dir)?;
    let (head, state) = build(&staging, field, input)?;
    staging.move_into(dir, field)?;
    drop(lock);
    let commits = count(head.position, "commit");
    output::print(&format!(
        "imported {commits} into field {field}\nhead {}\nstate {state}\n",
        head.hash
    ))
}

fn open_input(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path)
        .map_err(|error| Failure::caused(format!("cannot read {}", path.display()), &error))?;
    Ok(Box::new(BufReader::new(file)))
}

fn must_be_empty(dir: &Path, field: &FieldName) -> Result<(), Failure> {
    // By an engine of its own, so that the one that is held never opens the field.
    let head = data_dir::open_read_only(dir)?
        .head(field)
        .map_err(|error| data_dir::field_failure(dir, field, &error))?;
    if head == Head::EMPTY {
        return Ok(());
    }
    let commits = count(head.position, "commit");
    Err(Failure::new(format!("field {field} is not empty: it has {commits}"))
        .advise("import into another field or another directory"))
}

/// Appends every line to the staged log, then builds the state from it as a server would.
fn build(
    staging: &Staging,
    field: &FieldName,
    mut input: Box<dyn BufRead>,
) -> Result<(Head, Hash), Failure> {
    let engine = SqliteEngine::open(&staging.path, SqliteOptions::default())
        .map_err(|error| data_dir::open_failure(&error))?;
    let failed = |error: &EngineError| data_dir::field_failure(&staging.path, field, error);
    let mut progress = Progress::new(format!("importing {field}"), None);
    let mut head = Head::EMPTY;
    loop {
        let batch = read_batch(&mut input, &head)?;
        if batch.is_empty() {
            break;
        }
        head = engine.append(field, &head, &batch).map_err(|error| failed(&error))?;
        progress.reach(head.position);
    }
    drop(progress);
    if head == Head::EMPTY {
        return Err(Failure::new("the input holds no commits; nothing was imported"));
    }
    let mut progress = Progress::new(format!("building the state of {field}"), Some(head.position));
    let mut go_on = |position| {
        progress.reach(position);
        true
    };
    let restored = restore(&engine, field, None, Pace::Alone, &mut go_on).map_err(|error| {
        if let EngineError::Damaged(damage) = &error {
            refused(damage.position, &damage.to_string())
        } else {
            failed(&error)
        }
    })?;
    Ok((head, restored.published.state.hash()))
}

/// The next commits, verified; none at the end of the input.
fn read_batch(input: &mut dyn BufRead, after: &Head) -> Result<Vec<Commit>, Failure> {
    let mut head = *after;
    let mut batch = Vec::new();
    while batch.len() < BATCH {
        // Commits are dense from 1 and there is one a line.
        let number = head.position.saturating_add(1);
        let Some(line) = read_line(input, number)? else { break };
        let commit = jsonl::read_line(&line, &head)
            .map_err(|damage| refused(number, &damage.to_string()))?;
        head = commit.head();
        batch.push(commit);
    }
    Ok(batch)
}

fn read_line(input: &mut dyn BufRead, number: u64) -> Result<Option<String>, Failure> {
    let mut line = Vec::new();
    let read = input.take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
    read.map_err(|error| Failure::caused(format!("cannot read line {number}"), &error))?;
    if line.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8(line);
    text.map(Some).map_err(|_| refused(number, &format!("position {number}: it is not UTF-8")))
}

fn refused(line: u64, what: &str) -> Failure {
    Failure::new(format!("line {line} is refused: {what}"))
        .advise("nothing was imported; export the field again from an intact data directory")
}

/// A data directory inside the data directory, gone when the import ends, however it ends.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn prepare(dir: &Path) -> Result<Self, Failure> {
        remove_leftovers(dir)?;
        Ok(Self { path: staging_path(dir) })
    }

    fn move_into(&self, dir: &Path, field: &FieldName) -> Result<(), Failure> {
        let from = data_dir::fields_dir(&self.path).join(field.as_str());
        let to = data_dir::fields_dir(dir).join(field.as_str());
        let moved = || {
            for entry in fs::read_dir(&from)? {
                File::open(entry?.path())?.sync_all()?;
            }
            File::open(&from)?.sync_all()?;
            // What was there is a field without commits, as was checked.
            remove(&to)?;
            fs::rename(&from, &to)?;
            File::open(data_dir::fields_dir(dir))?.sync_all()
        };
        moved().map_err(|error| {
            Failure::caused(format!("cannot move the imported field to {}", to.display()), &error)
        })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            eprintln!("quipu: {} was not removed: {error}", self.path.display());
        }
    }
}

fn staging_path(dir: &Path) -> PathBuf {
    dir.join("import.tmp")
}

/// Removes what an import that was cut off left behind. Only for who holds the lock on `dir`: it says
/// that no import is running.
pub(crate) fn remove_leftovers(dir: &Path) -> Result<(), Failure> {
    let path = staging_path(dir);
    remove(&path)
        .map_err(|error| Failure::caused(format!("cannot remove {}", path.display()), &error))
}

/// Removes a directory with all that is in it; one that is not there is removed already.
fn remove(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
        .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
