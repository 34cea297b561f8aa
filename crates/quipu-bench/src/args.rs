//! The arguments of `quipu-bench`, and which question each subcommand answers.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::measure::failure::Failure;
use crate::{
    cluster::run as cluster,
    commands::{
        attune, compact, fields, growth, mcp, open, probe, record, replay, subscribe, task_replay,
    },
    detect::run as detect,
    measure::report::Report,
    recall::run as recall,
};

/// Measure this machine, and Quipu on it.
#[derive(Debug, Parser)]
#[command(name = "quipu-bench", version)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    question: Question,
    /// Makes the same texts and the same order of requests again
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Where to write raw.csv and summary.md; a folder per run
    #[arg(long, global = true, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// What is this machine: its cores, its memory, how long a few bytes take to stable storage?
    Probe {
        /// Where to write; the disk that holds it is measured
        #[arg(long, default_value = ".")]
        dir: PathBuf,
    },
    /// How many units can be recorded a second, every answer synced?
    Record(record::RecordArgs),
    /// How long does it take to be given context?
    Attune(attune::AttuneArgs),
    /// How much of what a question needs does ATTUNE find, on labelled data?
    Recall(recall::RecallArgs),
    /// How long does a large Field take to open, and how much memory does it need?
    Open(open::OpenArgs),
    /// How do RECORD, ATTUNE, memory, disk and opening change while a Field grows?
    Growth(growth::GrowthArgs),
    /// What do many small Fields cost, and how long does one take to come back?
    Fields(fields::FieldsArgs),
    /// How soon are many subscribers told, and what does an idle one cost?
    Subscribe(subscribe::SubscribeArgs),
    /// How many events a second does a full_trace tell?
    Replay(replay::ReplayArgs),
    /// How long does it take to archive, to summarize and to purge many units?
    Compact(compact::CompactArgs),
    /// How fast is a recorded Task replayed, and how long does a receipt take?
    TaskReplay(task_replay::TaskReplayArgs),
    /// How many contradictions does detection find, and how many alarms are false?
    Detect(detect::DetectArgs),
    /// How many units can several nodes over one log record a second, and how far are they apart?
    Cluster(cluster::ClusterArgs),
    /// What does MCP add to being given context?
    Mcp(mcp::McpArgs),
    /// (used by `open`) opens a Field in a process of its own and says what it took
    #[command(hide = true)]
    OpenChild {
        /// The data directory
        #[arg(long)]
        data: PathBuf,
    },
}

/// Runs a benchmark.
pub(crate) fn run(args: BenchArgs) -> Result<(), Failure> {
    if let Question::OpenChild { data } = &args.question {
        return open::child(data);
    }
    let mut report = Report::new(args.seed);
    match args.question {
        Question::Probe { dir } => probe::run(&dir, &mut report)?,
        Question::Record(options) => record::run(&options, args.seed, &mut report)?,
        Question::Attune(options) => attune::run(&options, args.seed, &mut report)?,
        Question::Recall(options) => recall::run(&options, &mut report)?,
        Question::Open(options) => open::run(&options, args.seed, &mut report)?,
        Question::Growth(options) => growth::run(&options, args.seed, &mut report)?,
        Question::Fields(options) => fields::run(&options, args.seed, &mut report)?,
        Question::Subscribe(options) => subscribe::run(&options, args.seed, &mut report)?,
        Question::Replay(options) => replay::run(&options, args.seed, &mut report)?,
        Question::Compact(options) => compact::run(&options, args.seed, &mut report)?,
        Question::TaskReplay(options) => task_replay::run(&options, &mut report)?,
        Question::Detect(options) => detect::run(&options, &mut report)?,
        Question::Cluster(options) => cluster::run(&options, args.seed, &mut report)?,
        Question::Mcp(options) => mcp::run(&options, args.seed, &mut report)?,
        Question::OpenChild { .. } => {}
    }
    report.finish(args.out.as_deref())
}
