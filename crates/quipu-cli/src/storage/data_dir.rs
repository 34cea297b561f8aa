//! The data directory as the commands meet it: opening it for reading, where its parts lie, and every
//! way in which that fails, with a way out.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use quipu_field::with_causes;
use quipu_log::{Damage, EngineError, FieldName, SqliteEngine, sqlite::OpenError};

use crate::ui::failure::Failure;

/// Where the data directory is.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataArgs {
    /// The data directory of the server
    #[arg(
        long,
        env = "QUIPU_DATA",
        hide_env_values = true,
        value_name = "DIR",
        default_value = "./quipu-data"
    )]
    pub(crate) data: PathBuf,
}

/// Opens a data directory for reading, which a server may be writing meanwhile.
pub(crate) fn open_read_only(dir: &Path) -> Result<Arc<SqliteEngine>, Failure> {
    must_exist(dir)?;
    SqliteEngine::open_read_only(dir).map(Arc::new).map_err(|error| open_failure(&error))
}

/// Refuses a directory that is not there, before anything makes it by mistake.
pub(crate) fn must_exist(dir: &Path) -> Result<(), Failure> {
    if dir.is_dir() {
        return Ok(());
    }
    Err(Failure::new(format!("there is no data directory {}", dir.display()))
        .advise("name the directory that `quipu serve` was started with: --data DIR"))
}

pub(crate) fn fields_dir(dir: &Path) -> PathBuf {
    dir.join("fields")
}

/// Where a running server is told to whoever finds the directory in use.
const ADDRESS: &str = "address";

/// Notes the address of the server that has the directory. Nothing rests on it.
pub(crate) fn note_address(dir: &Path, address: &str) {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    // For its owner alone, like every file of the directory.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(dir.join(ADDRESS));
    let written = opened.and_then(|mut file| file.write_all(format!("{address}\n").as_bytes()));
    if let Err(error) = written {
        tracing::debug!(%error, "the address could not be noted in the data directory");
    }
}

/// The address of the server that has the directory, if one said so.
pub(crate) fn noted_address(dir: &Path) -> Option<String> {
    let address = fs::read_to_string(dir.join(ADDRESS)).ok()?;
    Some(address.trim().to_owned()).filter(|address| address.starts_with("http"))
}

/// Forgets it, also that of a server that was killed.
pub(crate) fn forget_address(dir: &Path) {
    fs::remove_file(dir.join(ADDRESS)).ok();
}

/// Where a node whose log is on a server keeps its snapshots, the trees of its proofs, its vectors.
pub(crate) fn remote_dir(dir: &Path) -> PathBuf {
    dir.join("remote")
}

/// Claims a directory for a node whose log is on a server, until the answer is dropped. It is the same claim that
/// the SQLite log makes.
pub(crate) fn claim(dir: &Path) -> Result<File, Failure> {
    let failed = |error: io::Error| {
        Failure::caused(format!("cannot use the data directory {}", dir.display()), &error)
    };
    fs::create_dir_all(dir).map_err(failed)?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("lock"));
    let lock = lock.map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(open_failure(&OpenError::InUse { dir: dir.to_owned() }))
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

pub(crate) fn open_failure(error: &OpenError) -> Failure {
    let advice = match error {
        OpenError::InUse { .. } => {
            "stop the quipu process that has it open, or name another directory with --data"
        }
        OpenError::Io { .. } => {
            "check that the path is right, that this user may write there, and that the disk has room"
        }
        OpenError::NotADataDirectory { .. } => {
            "name the directory that `quipu serve` was started with; nothing was changed"
        }
        OpenError::NewerFormat { .. } => {
            "run the version of quipu that wrote it, or a newer one; nothing was changed"
        }
        OpenError::ReadOnly { .. } => "use a command that only reads",
    };
    Failure::new(with_causes(error)).advise(advice)
}

pub(crate) fn field_failure(dir: &Path, field: &FieldName, error: &EngineError) -> Failure {
    match error {
        EngineError::Damaged(damage) => Failure::new(damage_sentence(field, damage)).advise(format!(
            "`quipu verify --data {}` says what else is wrong; then restore the directory from a backup",
            dir.display()
        )),
        EngineError::Full => Failure::new(format!("field {field}: there is no room left"))
            .advise("free some space on the disk of the data directory, or raise --max-log-bytes"),
        EngineError::UnknownField { .. } => no_such_field(dir, field),
        EngineError::Io { .. } => Failure::new(format!("field {field}: {}", with_causes(error)))
            .advise("check the disk of the data directory, and who may read and write there"),
        EngineError::HeadMoved { .. }
        | EngineError::Sealed { .. }
        | EngineError::Poisoned { .. }
        | EngineError::Unavailable { .. }
        | EngineError::InvalidBatch { .. } => {
            Failure::new(format!("field {field}: {}", with_causes(error)))
        }
    }
}

pub(crate) fn no_such_field(dir: &Path, field: &FieldName) -> Failure {
    Failure::new(format!("there is no field {field} in {}", dir.display()))
        .advise(format!("`quipu verify --data {}` lists the fields", dir.display()))
}

/// What is damaged, and from which position on.
pub(crate) fn damage_sentence(field: &FieldName, damage: &Damage) -> String {
    match damage.position {
        0 => format!("field {field} is damaged: {}", damage.kind),
        position => format!("field {field} is damaged at position {position}: {}", damage.kind),
    }
}
