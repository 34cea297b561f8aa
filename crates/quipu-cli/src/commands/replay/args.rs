//! The arguments of `quipu replay`, and what its help says.

use std::path::PathBuf;

use clap::Args;

use super::select::Wanted;
use crate::args::client_args::ServerArgs;

const ABOUT: &str = "\
Run recorded Tasks again by your own agent, and compare: a regression test for agents.

For each Task a replay is made that waits for a worker, and COMMAND is run once with QUIPU_TASK, the
replay's id, and QUIPU_URL, QUIPU_KEY, QUIPU_FIELD and QUIPU_AGENT as they are here. It claims the
replay, asks for its answers, which are the recorded ones, and completes it; nobody is asked live.
With --strict the first drift fails a replay: another question, one that is left out, another output.

One line is printed for each. Exits 0 where every replay came to what its source came to, and 1
where one drifted or failed, or no Task was found. Replays themselves, and Tasks that the server
answered, are passed over.

Example:
  quipu replay --all --filter persona_id=persona_pricer --strict --junit replay.xml -- python3 agent.py
  quipu replay task_01 task_02 -- ./agent";

/// The arguments of `quipu replay`.
#[derive(Debug, Args)]
#[command(about = "Run recorded Tasks again by your own agent", long_about = ABOUT)]
pub(crate) struct ReplayArgs {
    /// The Tasks to run again
    #[arg(value_name = "TASK", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) tasks: Vec<String>,
    /// All recorded Tasks that pass every filter
    #[arg(long)]
    pub(crate) all: bool,
    /// Only these: `session_id`, `workspace_id`, `persona_id`, `queue`, `parent_task_id`, `status`
    /// or `metadata.NAME`; may be given several times. `status` is COMPLETED if it is not named
    #[arg(long, value_name = "NAME=VALUE", requires = "all")]
    pub(crate) filter: Vec<Wanted>,
    /// Fail a replay at its first drift
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write what came of them as a JUnit file too
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// How long one replay may take, in seconds; COMMAND is killed then
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// What replays one Task, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
