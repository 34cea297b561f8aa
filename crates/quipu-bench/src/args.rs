//! The arguments of `quipu-bench`, and which question each subcommand answers.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::{
    cluster::run as cluster,
    commands::{
        attune, compact, fields, growth, mcp, open, probe, record, replay, subscribe, task_replay,
    },
    detect::run as detect,
    measure::{failure::Failure, program, report::Report},
    recall::run as recall,
};

const AFTER: &str = "\
Examples, from a checkout; `cargo run` also builds the server that is measured:
  cargo run --release -p quipu-bench -- probe
  cargo run --release -p quipu-bench -- record --clients 1,8,64 --seconds 10
  cargo run --release -p quipu-bench -- growth --out results

Started in another way, it measures the `quipu` in its own folder:
  cargo build --release -p quipu-cli -p quipu-bench
  target/release/quipu-bench record

Figures of one run can be compared with each other; those of two machines, or of a busy one, cannot.";

/// Measure this machine, and Quipu on it.
#[derive(Debug, Parser)]
#[command(name = "quipu-bench", version, after_help = AFTER)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    question: Question,
    /// Makes the same texts and the same order of requests again
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Also write raw.csv and summary.md into this folder
    #[arg(long, global = true, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// How many cores has this machine, how fast is its memory, how long does it take to bring a few bytes to stable storage?
    #[command(after_help = "Example:\n  quipu-bench probe --dir /var/lib")]
    Probe {
        /// Where to write; the disk that holds it is measured
        #[arg(long, default_value = ".")]
        dir: PathBuf,
    },
    /// How many units can be recorded a second, every answer synced?
    #[command(after_help = "Example:\n  quipu-bench record --clients 1,8,64 --seconds 10")]
    Record(record::RecordArgs),
    /// How long does an ATTUNE take, by the size of the Field?
    #[command(after_help = "Example:\n  quipu-bench attune --units 10000,100000 --clients 1,8")]
    Attune(attune::AttuneArgs),
    /// How much of what a question needs does ATTUNE find, on labelled data?
    #[command(after_help = "Example:\n  quipu-bench recall locomo.json.gz --ablate")]
    Recall(recall::RecallArgs),
    /// How long does a large Field take to open, and how much memory does it need?
    #[command(after_help = "Example:\n  quipu-bench open --units 1000000 --without-snapshot")]
    Open(open::OpenArgs),
    /// How do RECORD, ATTUNE, memory, disk and opening change while a Field grows?
    #[command(after_help = "Example:\n  quipu-bench growth --sizes 1000,10000,100000")]
    Growth(growth::GrowthArgs),
    /// What do many small Fields cost, and how long does it take to open one of them again?
    #[command(after_help = "Example:\n  quipu-bench fields --fields 10000")]
    Fields(fields::FieldsArgs),
    /// How soon does a new unit reach many subscribers, and what does an idle subscriber cost?
    #[command(after_help = "Example:\n  quipu-bench subscribe --subscribers 1000")]
    Subscribe(subscribe::SubscribeArgs),
    /// How many events a second does a REPLAY with full_trace return?
    #[command(after_help = "Example:\n  quipu-bench replay")]
    Replay(replay::ReplayArgs),
    /// How long does it take to archive, to summarize and to purge many units?
    #[command(
        after_help = "Examples:\n  quipu-bench compact\n  quipu-bench compact --quality locomo.json.gz"
    )]
    Compact(compact::CompactArgs),
    /// How fast is a recorded Task replayed, and how long does a receipt take?
    #[command(after_help = "Example:\n  quipu-bench task-replay --questions 100")]
    TaskReplay(task_replay::TaskReplayArgs),
    /// How many contradictions does detection find, and how many alarms are false?
    #[command(after_help = "Example:\n  quipu-bench detect beam-100k.json.gz")]
    Detect(detect::DetectArgs),
    /// How many units can several nodes over one log record a second, and how far is one behind another?
    #[command(after_help = "Example:\n  quipu-bench cluster --engine postgres --nodes 3")]
    Cluster(cluster::ClusterArgs),
    /// How much slower is an ATTUNE through MCP than one inside the process?
    #[command(after_help = "Example:\n  quipu-bench mcp --units 10000")]
    Mcp(mcp::McpArgs),
    /// (used by `open`) opens a Field in a process of its own and says what it took
    #[command(hide = true)]
    OpenChild {
        /// The data directory
        #[arg(long)]
        data: PathBuf,
    },
}

impl Question {
    /// Whether `quipu` itself is started; what else is measured is linked into this program.
    const fn needs_server(&self) -> bool {
        if let Self::Compact(options) = self {
            return options.needs_server();
        }
        !matches!(
            self,
            Self::Probe { .. }
                | Self::Open(_)
                | Self::OpenChild { .. }
                | Self::Replay(_)
                | Self::TaskReplay(_)
                | Self::Detect(_)
        )
    }
}

/// Runs a benchmark.
pub(crate) fn run(args: BenchArgs) -> Result<(), Failure> {
    if let Question::OpenChild { data } = &args.question {
        return open::child(data);
    }
    if args.question.needs_server() {
        program::build()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        BenchArgs::command().debug_assert();
    }

    #[test]
    fn help_of_each_question() {
        let mut whole = BenchArgs::command();
        whole.build();
        insta::assert_snapshot!("help", whole.render_long_help().to_string());
        for command in whole.get_subcommands_mut() {
            if command.is_hide_set() || command.get_name() == "help" {
                continue;
            }
            let name = format!("help_{}", command.get_name());
            insta::assert_snapshot!(name, command.render_long_help().to_string());
        }
    }

    #[test]
    fn each_example_is_a_command_line_that_is_understood() {
        let mut examples = 0;
        for command in BenchArgs::command().get_subcommands().filter(|it| !it.is_hide_set()) {
            let help = command.get_after_help().unwrap_or_default().to_string();
            let example = help.lines().last().unwrap_or_default().trim();
            BenchArgs::try_parse_from(example.split(' '))
                .unwrap_or_else(|error| panic!("{example}: {error}"));
            examples += 1;
        }
        assert_eq!(examples, 14);
    }
}
