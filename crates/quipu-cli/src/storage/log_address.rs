//! Where the log is kept: in the data directory, in memory, or on a server that the team runs.

use std::{fmt, sync::Arc};

use quipu_engines::{NatsEngine, OpenError, PostgresEngine};
use quipu_field::with_causes;
use quipu_log::Engine;

use crate::ui::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogAddress {
    /// In the data directory.
    Sqlite,
    /// Nowhere: it is gone with the process.
    Memory,
    Postgres(LogUrl),
    Nats(LogUrl),
}

/// The address of a server. It may hold a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LogUrl(String);

impl fmt::Debug for LogUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogUrl(…)")
    }
}

impl LogAddress {
    /// Reads what `--log` says.
    pub(crate) fn parse(url: &str) -> Result<Self, Failure> {
        let scheme = url.split(':').next().unwrap_or_default();
        match (url, scheme) {
            ("" | "sqlite" | "sqlite:", _) => Ok(Self::Sqlite),
            ("memory" | "memory:", _) => Ok(Self::Memory),
            (_, "postgres" | "postgresql") => Ok(Self::Postgres(LogUrl(url.to_owned()))),
            (_, "nats" | "tls") => Ok(Self::Nats(LogUrl(url.to_owned()))),
            // The rest of an address may hold a password.
            _ => Err(Failure::new(format!("a log at `{scheme}:` is not supported by this version"))
                .advise(
                    "leave --log out for the SQLite log in the data directory, or use memory:, postgres://… or nats://…",
                )),
        }
    }

    /// Opens the engine if it is one over a server.
    pub(crate) fn open_server(&self) -> Result<Option<Arc<dyn Engine>>, Failure> {
        let failed = |error: OpenError| Failure::new(with_causes(&error)).advise(error.advice());
        match self {
            Self::Sqlite | Self::Memory => Ok(None),
            Self::Postgres(LogUrl(url)) => {
                Ok(Some(Arc::new(PostgresEngine::open(url).map_err(failed)?)))
            }
            Self::Nats(LogUrl(url)) => Ok(Some(Arc::new(NatsEngine::open(url).map_err(failed)?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_place() {
        let url = |text: &str| LogUrl(text.to_owned());
        for (text, place) in [
            ("", LogAddress::Sqlite),
            ("memory:", LogAddress::Memory),
            ("postgres://db/quipu", LogAddress::Postgres(url("postgres://db/quipu"))),
            ("nats://host:4222", LogAddress::Nats(url("nats://host:4222"))),
        ] {
            assert_eq!(LogAddress::parse(text).unwrap(), place, "{text}");
        }
    }

    #[test]
    fn another_log_is_refused_without_showing_its_password() {
        let text = LogAddress::parse("redis://me:secret@db/quipu").unwrap_err().to_string();
        assert!(text.contains("`redis:`") && !text.contains("secret"), "{text}");
        let shown = format!("{:?}", LogAddress::parse("postgres://me:secret@db/quipu"));
        assert!(!shown.contains("secret"), "{shown}");
    }
}
