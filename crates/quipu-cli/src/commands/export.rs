//! `quipu export`: a field's log as JSON lines, verified on the way out.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use quipu_log::{Damage, Engine, EngineError, FieldName, Head, jsonl, verify_chain};

use crate::{
    storage::{
        data_dir::{self, DataArgs},
        pinned::Pinned,
    },
    ui::{failure::Failure, output::count, progress::Progress},
};

const ABOUT: &str = "\
Write a field's log as JSON lines: one commit a line, each verified before it is written.

It changes nothing, and a server may run meanwhile: the export ends at the head that the log had at
the start. The lines hold every text that is not erased, so keep them as safe as the data directory.

Example:
  quipu export --data ./quipu-data --field default --out default.jsonl
  quipu export --data ./quipu-data --field default | gzip > default.jsonl.gz";

const AFTER: &str = "\
Read it back into another directory, and check that nothing is lost:
  quipu import --data ./copy --field default --in default.jsonl
  quipu verify --data ./copy";

/// The arguments of `quipu export`.
#[derive(Debug, Args)]
#[command(about = "Write a field's log as JSON lines", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The field to export
    #[arg(long, value_name = "NAME")]
    field: FieldName,
    /// Where to write; `-` is stdout. A file is replaced only when all of it is written
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

pub(crate) fn export(args: &ExportArgs) -> Result<(), Failure> {
    let (dir, field) = (&args.data.data, &args.field);
    let engine = data_dir::open_read_only(dir)?;
    let failed = |error: &EngineError| data_dir::field_failure(dir, field, error);
    let pinned = Pinned::new(engine as Arc<dyn Engine>, field).map_err(|error| failed(&error))?;
    if pinned.pinned_head() == Head::EMPTY {
        return Err(data_dir::no_such_field(dir, field));
    }
    let place = Output::of(&args.out);
    let written = place
        .open()
        .map_err(ExportError::Write)
        .and_then(|mut out| write_all(&pinned, field, out.as_mut()))
        .and_then(|head| place.finish().map(|()| head).map_err(ExportError::Write));
    match written {
        Ok(head) => {
            let commits = count(head.position, "commit");
            eprintln!("exported {commits} of field {field}, head {}", head.hash);
            Ok(())
        }
        Err(error) => {
            place.discard();
            Err(match error {
                ExportError::Read(error) => failed(&error),
                ExportError::Write(error) => {
                    Failure::caused(format!("cannot write {place}"), &error)
                }
            })
        }
    }
}

/// Which side of an export failed.
enum ExportError {
    Read(EngineError),
    Write(io::Error),
}

fn write_all(pinned: &Pinned, field: &FieldName, out: &mut dyn Write) -> Result<Head, ExportError> {
    let total = pinned.pinned_head().position;
    let mut progress = Progress::new(format!("exporting {field}"), Some(total));
    let mut failure = None;
    let reached = verify_chain(pinned, field, Head::EMPTY, &mut |commit| {
        progress.reach(commit.position);
        jsonl::write_line(out, commit).map_err(|error| {
            failure = Some(error);
            Damage::storage("the output failed")
        })
    });
    if let Some(error) = failure {
        return Err(ExportError::Write(error));
    }
    let head = reached.map_err(ExportError::Read)?;
    out.flush().map_err(ExportError::Write)?;
    Ok(head)
}

enum Output {
    Stdout,
    /// A pipe or a device: written as it comes.
    Stream(PathBuf),
    /// A file: written beside and moved into place.
    File {
        path: PathBuf,
        part: PathBuf,
    },
}

impl Output {
    fn of(out: &Path) -> Self {
        if out == Path::new("-") {
            return Self::Stdout;
        }
        if fs::metadata(out).is_ok_and(|found| !found.is_file()) {
            return Self::Stream(out.to_owned());
        }
        let mut part = out.as_os_str().to_owned();
        part.push(".part");
        Self::File { path: out.to_owned(), part: part.into() }
    }

    fn open(&self) -> io::Result<Box<dyn Write>> {
        let file = match self {
            Self::Stdout => return Ok(Box::new(BufWriter::new(io::stdout().lock()))),
            Self::Stream(path) => OpenOptions::new().write(true).open(path)?,
            Self::File { part, .. } => private_file(part)?,
        };
        Ok(Box::new(BufWriter::new(file)))
    }

    fn finish(&self) -> io::Result<()> {
        match self {
            Self::Stdout | Self::Stream(_) => Ok(()),
            Self::File { path, part } => {
                File::open(part)?.sync_all()?;
                fs::rename(part, path)
            }
        }
    }

    fn discard(&self) {
        if let Self::File { part, .. } = self {
            // It may never have been made, and the failure that is reported matters more.
            fs::remove_file(part).ok();
        }
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdout => f.write_str("to stdout"),
            Self::Stream(path) | Self::File { path, .. } => write!(f, "{}", path.display()),
        }
    }
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
