//! How many Fields a server keeps open, and where its snapshots go: the options, and how flag, variable and file
//! come together.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use clap::Args;
use quipu_field::{
    Depot, Keeping, SystemOrigin,
    limits::{DEPOT_INTERVAL, FIELD_IDLE, FIELDS_OPEN, SNAPSHOT_COMMITS_MIN},
};
use serde::Deserialize;

use crate::{storage::log_address::LogAddress, ui::failure::Failure};

/// The options as flags and variables, and as keys of `[fields]` in the config file.
#[derive(Debug, Default, Clone, Args, Deserialize)]
#[command(next_help_heading = "Fields and snapshots")]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldArgs {
    /// Fields that are open at a time; for one more, the one that was used longest ago is closed, unless it is
    /// in use [default: 256]
    #[arg(long, env = "QUIPU_FIELDS_OPEN", hide_env_values = true, value_name = "N")]
    pub(crate) fields_open: Option<NonZeroU64>,
    /// Seconds after which a Field that nobody uses is closed; the next request opens it again
    /// [default: 600]
    #[arg(long, env = "QUIPU_FIELD_IDLE", hide_env_values = true, value_name = "SECONDS")]
    pub(crate) field_idle: Option<u64>,
    /// Where nodes leave snapshots for each other, so that a new one starts fast: `file:///DIR` or
    /// `s3://BUCKET/PREFIX`, with `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID` and so on (docs/engines.md)
    /// [default: none]
    #[arg(long, env = "QUIPU_SNAPSHOTS", hide_env_values = true, value_name = "URL")]
    pub(crate) snapshots: Option<String>,
    /// Seconds between two snapshots of a Field that a node leaves there, at least [default: 600]
    #[arg(long, env = "QUIPU_SNAPSHOT_INTERVAL", hide_env_values = true, value_name = "SECONDS")]
    pub(crate) snapshot_interval: Option<u64>,
    /// Commits after which the next snapshot of a Field is made, at least [default: 20000]
    #[arg(long, env = "QUIPU_SNAPSHOT_COMMITS", hide_env_values = true, value_name = "N")]
    pub(crate) snapshot_commits: Option<NonZeroU64>,
}

impl FieldArgs {
    /// What was given here, else what the file says.
    pub(crate) fn or(self, file: Self) -> Self {
        Self {
            fields_open: self.fields_open.or(file.fields_open),
            field_idle: self.field_idle.or(file.field_idle),
            snapshots: self.snapshots.or(file.snapshots),
            snapshot_interval: self.snapshot_interval.or(file.snapshot_interval),
            snapshot_commits: self.snapshot_commits.or(file.snapshot_commits),
        }
    }

    /// How many Fields stay open for how long.
    pub(crate) fn keeping(&self) -> Keeping {
        let open = self.fields_open.map(|open| usize::try_from(open.get()).unwrap_or(usize::MAX));
        Keeping {
            open_max: open.unwrap_or(FIELDS_OPEN),
            idle: self.field_idle.map_or(FIELD_IDLE, Duration::from_secs),
        }
    }

    pub(crate) fn snapshot_commits(&self) -> u64 {
        self.snapshot_commits.map_or(SNAPSHOT_COMMITS_MIN, NonZeroU64::get)
    }

    /// Where snapshots are left for other nodes.
    pub(crate) fn depot(&self, log: &LogAddress) -> Result<Option<Depot>, Failure> {
        let Some(url) = &self.snapshots else { return Ok(None) };
        if *log == LogAddress::Memory {
            return Err(Failure::new("--snapshots is of no use with a log in memory")
                .advise("leave it out, or keep the log somewhere with --log"));
        }
        let failed = |error: &dyn std::error::Error| {
            Failure::new(format!("--snapshots: {}", quipu_field::with_causes(error))).advise(
                "give file:///DIR or s3://BUCKET/PREFIX; docs/engines.md says what S3 needs",
            )
        };
        let store = quipu_objects::open(url, std::env::vars()).map_err(|error| failed(&error))?;
        let interval = self.snapshot_interval.map_or(DEPOT_INTERVAL, Duration::from_secs);
        let depot = Depot::new(store, Arc::new(SystemOrigin), interval);
        depot.map(Some).map_err(|error| failed(&error))
    }
}
