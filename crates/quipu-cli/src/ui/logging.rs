//! Sends the server's log lines to stderr, as text or as JSON.

use std::io::{IsTerminal, stderr};

use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::{EnvFilter, reload::Handle};

use crate::ui::failure::Failure;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// Changes the level while lines are written.
pub(crate) type LevelChange = Box<dyn Fn(&str) -> Result<(), Failure> + Send + Sync>;

/// Starts logging. `level` is a level, or directives such as `info,quipu_server=debug`.
pub(crate) fn start(format: LogFormat, level: &str) -> Result<LevelChange, Failure> {
    let filter = filter(level)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let (started, change) = match format {
        LogFormat::Text => {
            let lines = lines.with_ansi(stderr().is_terminal()).with_filter_reloading();
            let handle = lines.reload_handle();
            (lines.try_init(), level_change(handle))
        }
        LogFormat::Json => {
            let lines = lines.json().with_filter_reloading();
            let handle = lines.reload_handle();
            (lines.try_init(), level_change(handle))
        }
    };
    started.map_err(|error| Failure::new(format!("cannot start logging: {error}")))?;
    Ok(change)
}

fn level_change<S: 'static>(handle: Handle<EnvFilter, S>) -> LevelChange {
    Box::new(move |level| {
        let changed = handle.reload(filter(level)?);
        changed.map_err(|error| Failure::caused("the level of the log cannot be changed", &error))
    })
}

fn filter(level: &str) -> Result<EnvFilter, Failure> {
    let refused = |reason: String| {
        Failure::new(format!("log level {level:?} is not understood: {reason}"))
            .advise("use error, warn, info, debug or trace, or `info,quipu_server=debug`")
    };
    // A lone word would otherwise be read as the name of a module, and every line would vanish.
    let lone_word = !level.contains(['=', ',', '[']);
    if lone_word && !LEVELS.contains(&level.to_ascii_lowercase().as_str()) {
        return Err(refused("no such level".to_owned()));
    }
    EnvFilter::try_new(level).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_levels_and_directives() {
        for level in ["info", "WARN", "off", "info,quipu_server=debug"] {
            assert!(filter(level).is_ok(), "{level}");
        }
    }

    #[test]
    fn refuses_a_misspelt_level_by_name() {
        let failure = filter("inf").unwrap_err().to_string();
        assert!(failure.contains("\"inf\""), "{failure}");
    }
}
