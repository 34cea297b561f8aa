//! A log to move from or to: its engine, its data directory, and a name for it that shows no password.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use quipu_log::{Engine, EngineError, FieldName, SqliteEngine, SqliteOptions};

use crate::{
    storage::{data_dir, log_address::LogAddress},
    ui::failure::Failure,
};

pub(super) struct OpenLog {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) directory: PathBuf,
    /// Whether the log itself is in that directory.
    pub(super) embedded: bool,
    name: String,
}

impl OpenLog {
    /// Whether both addresses are spelled alike. That they lead to one place by two ways is found out later.
    pub(super) fn is_same(one: &str, other: &str, data: &Path) -> Result<bool, Failure> {
        Ok(log_name(one, data)? == log_name(other, data)?)
    }

    /// The data directory that goes with a log on a server: that of the other log, if it is in one.
    pub(super) fn directory_of(from: &str, to: &str, data: &Path) -> PathBuf {
        embedded(from, data).or_else(|| embedded(to, data)).unwrap_or_else(|| data.to_owned())
    }

    /// Opens the log to move from. Nothing is made where there is nothing to move.
    pub(super) fn open_source(log: &str, data: &Path, beside: &Path) -> Result<Self, Failure> {
        if let Some(directory) = embedded(log, data) {
            data_dir::must_exist(&directory)?;
        }
        Self::open(log, data, beside)
    }

    /// Opens a log. `data` is what `sqlite:` means, `beside` the directory of a log on a server.
    pub(super) fn open(log: &str, data: &Path, beside: &Path) -> Result<Self, Failure> {
        let name = log_name(log, data)?;
        if let Some(directory) = embedded(log, data) {
            let engine = SqliteEngine::open(&directory, SqliteOptions::default())
                .map_err(|error| data_dir::open_failure(&error))?;
            return Ok(Self { engine: Arc::new(engine), directory, embedded: true, name });
        }
        let engine = LogAddress::parse(log)?.open_server()?.ok_or_else(no_log)?;
        Ok(Self { engine, directory: beside.to_owned(), embedded: false, name })
    }

    pub(super) fn beside(&self) -> PathBuf {
        match self.embedded {
            true => data_dir::fields_dir(&self.directory),
            false => data_dir::remote_dir(&self.directory),
        }
    }

    pub(super) fn failure(&self, field: &FieldName, error: &EngineError) -> Failure {
        if self.embedded {
            return data_dir::field_failure(&self.directory, field, error);
        }
        let said = match error {
            EngineError::Damaged(damage) => {
                format!("{}, in {self}", data_dir::damage_sentence(field, damage))
            }
            EngineError::HeadMoved { .. }
            | EngineError::Sealed { .. }
            | EngineError::Full
            | EngineError::Unavailable { .. }
            | EngineError::Poisoned { .. }
            | EngineError::Io { .. }
            | EngineError::UnknownField { .. }
            | EngineError::InvalidBatch { .. } => {
                format!("field {field} in {self}: {}", quipu_field::with_causes(error))
            }
        };
        Failure::new(said).advise(match error {
            EngineError::Damaged(_) => "`quipu verify --log URL` says what else is wrong",
            EngineError::Full => "make room on its server, then run the same command again",
            EngineError::HeadMoved { .. } | EngineError::InvalidBatch { .. } => {
                "somebody else writes to it: let only one `quipu move` run at a time"
            }
            EngineError::Sealed { .. }
            | EngineError::Unavailable { .. }
            | EngineError::Poisoned { .. }
            | EngineError::Io { .. }
            | EngineError::UnknownField { .. } => {
                "check its server, then run the same command again"
            }
        })
    }
}

impl fmt::Display for OpenLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn no_log() -> Failure {
    Failure::new("a log in memory cannot be moved: it is gone with its process")
        .advise("name a log with sqlite:DIR, postgres://… or nats://…")
}

fn embedded(log: &str, data: &Path) -> Option<PathBuf> {
    match log.strip_prefix("sqlite:") {
        Some("") => Some(data.to_owned()),
        Some(directory) => Some(directory.into()),
        None => (log == "sqlite").then(|| data.to_owned()),
    }
}

/// The name of a log for people, and for the mark of a move: no password, no options.
fn log_name(log: &str, data: &Path) -> Result<String, Failure> {
    if let Some(directory) = embedded(log, data) {
        let directory = std::path::absolute(&directory)
            .map_err(|error| Failure::caused(format!("{}", directory.display()), &error))?;
        let directory = directory.canonicalize().unwrap_or(directory);
        return Ok(format!("sqlite:{}", directory.display()));
    }
    match LogAddress::parse(log)? {
        LogAddress::Sqlite | LogAddress::Memory => Err(no_log()),
        LogAddress::Postgres(_) | LogAddress::Nats(_) => {
            let base = log.split('?').next().unwrap_or_default();
            let (scheme, rest) = base.split_once("://").unwrap_or((base, ""));
            let hosts = rest.rsplit_once('@').map_or(rest, |(_, hosts)| hosts);
            Ok(format!("{scheme}://{}", hosts.trim_end_matches('/')))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_without_password_and_options() {
        let name = |log: &str| log_name(log, Path::new("/data")).unwrap();
        assert_eq!(
            name("postgres://me:s3@cret@db:5432/quipu?sslmode=require"),
            "postgres://db:5432/quipu"
        );
        assert_eq!(name("nats://a:4222,b:4222/?token=s3cret"), "nats://a:4222,b:4222");
        assert_eq!(name("sqlite:"), "sqlite:/data");
        assert_eq!(name("sqlite:/other"), "sqlite:/other");
    }

    #[test]
    fn two_spellings_of_one_directory_are_the_same_place() {
        let directory = tempfile::tempdir().unwrap();
        let (path, data) = (directory.path().display().to_string(), directory.path());
        assert!(OpenLog::is_same("sqlite:", &format!("sqlite:{path}/."), data).unwrap());
        assert!(!OpenLog::is_same("sqlite:", "postgres://db/quipu", data).unwrap());
    }

    #[test]
    fn what_cannot_be_moved_is_refused_in_words() {
        for (log, word) in [("memory:", "in memory"), ("redis://me:secret@db", "`redis:`")] {
            let text = log_name(log, Path::new("/data")).unwrap_err().to_string();
            assert!(text.contains(word) && !text.contains("secret"), "{text}");
        }
    }
}
