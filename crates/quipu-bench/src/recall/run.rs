//! How much of what a question needs ATTUNE finds: labelled data, recorded and asked over HTTP from a
//! server of its own, with the figures by category and, if asked for, without each signal in turn.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use super::{
    figures::{json_rows, rows},
    play::Player,
};
use crate::measure::{
    dataset::{self, Dataset},
    failure::Failure,
    report::Report,
    server::Server,
    workplace::Workplace,
};

/// The signals that data of this kind can tell anything about.
const SIGNALS: [&str; 6] =
    ["lexical", "semantic", "author", "type_importance", "standing", "recency"];

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// A .json or .json.gz file of labelled corpora, or a folder of them
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// Only the first N corpora of each file
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Also put the time at which each unit was said into its purpose, where words are looked for
    #[arg(long)]
    times: bool,
    /// Also measure without each signal in turn
    #[arg(long)]
    ablate: bool,
    /// Weights other than the defaults, as `serve` takes them
    #[arg(long, value_name = "WEIGHTS")]
    rank_weights: Option<String>,
    /// Also print the figures as JSON
    #[arg(long)]
    json: bool,
    /// Where to keep the server's files while measuring
    #[arg(long, default_value = ".")]
    scratch: PathBuf,
}

pub(crate) fn run(args: &RecallArgs, report: &mut Report) -> Result<(), Failure> {
    let mut sets = dataset::load(&args.data)?;
    for set in &mut sets {
        set.corpora.truncate(args.limit.unwrap_or(usize::MAX));
    }
    let base = args.rank_weights.clone().unwrap_or_default();
    let mut variants = vec![("all signals".to_owned(), base.clone())];
    if args.ablate {
        let without = |signal: &str| (format!("without {signal}"), format!("{base},{signal}=0"));
        variants.extend(SIGNALS.into_iter().map(without));
    }
    let mut all = Map::new();
    for (name, weights) in &variants {
        report.line(&format!("{name}:"));
        let figures = measure(args, &sets, weights, report)?;
        all.insert(name.clone(), Value::Object(figures));
    }
    if args.json {
        report.line(&Value::Object(all).to_string());
    }
    Ok(())
}

/// One server, all sets. The log is in memory: what is measured is the order, not the disk.
fn measure(
    args: &RecallArgs,
    sets: &[Dataset],
    weights: &str,
    report: &mut Report,
) -> Result<Map<String, Value>, Failure> {
    let folder = Workplace::new(&args.scratch, "recall");
    let options = ["--log=memory:", "--cross-session-visibility", "--rank-weights", weights];
    let server = Server::start_with(folder.path(), &options)?;
    let mut player = Player::new(server.address)?;
    let mut figures = Map::new();
    for set in sets {
        let mut outcomes = Vec::new();
        for corpus in &set.corpora {
            let ids = player.record(set, corpus, args.times)?;
            for question in &corpus.queries {
                outcomes.push(player.ask(set, corpus, question, &ids)?);
            }
        }
        let rows = rows(&outcomes);
        for (name, means) in &rows {
            let what = format!("{} {name} ({})", set.name, means.questions);
            report.ranking(&what, means.recall, means.ndcg);
        }
        figures.insert(set.name.clone(), json_rows(&rows));
    }
    Ok(figures)
}
