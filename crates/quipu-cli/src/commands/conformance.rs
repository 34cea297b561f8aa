//! `quipu conformance`: tests a server of the Akashik Protocol, anybody's, from outside.

use clap::Args;
use quipu_conformance::{Binding, BoundKey, Keys, Target, run};

use crate::ui::{failure::Failure, output};

const ABOUT: &str = "\
Test a server of the Akashik Protocol from outside, ours or anybody's.

Every requirement of the protocol is a named case that speaks only the wire protocol. Cases register
agents of their own and work in whatever Field they find; use a Field that you do not mind filling.
Prints a table and the level reached. Exits 0 if the level is reached: no MUST up to it failed or was
skipped. Level 3 takes both keys. With --filter no level is judged, and it exits 0 if no MUST failed.

Example:
  quipu conformance http://127.0.0.1:7070 --level 1 --key \"$QUIPU_KEY\"
  quipu conformance http://127.0.0.1:7070 --level 2 --filter merge --json";

/// The arguments of `quipu conformance`.
#[derive(Debug, Args)]
#[command(about = "Test a server of the Akashik Protocol from outside", long_about = ABOUT)]
pub(crate) struct ConformanceArgs {
    /// Address of the server
    url: String,
    /// The level to test, with all below it
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=3))]
    level: u8,
    /// A key that may speak for any agent, with authority 10
    #[arg(long, env = "QUIPU_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
    /// A key that is bound to one agent, below authority 10
    #[arg(long, value_name = "AGENT:AUTHORITY:KEY", requires = "key")]
    bound_key: Option<String>,
    /// Only cases whose name contains this; may be given several times
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn conformance(args: &ConformanceArgs) -> Result<(), Failure> {
    let bound = args.bound_key.as_deref().map(BoundKey::parse).transpose();
    let bound = bound.map_err(|error| Failure::new(error.to_string()))?;
    let keys = args.key.clone().map(|operator| Keys { operator, bound });
    let target = Target::new(&args.url, keys, args.level, Binding::Http)
        .map_err(|error| Failure::new(error.to_string()))?;
    let report = run(&target, &args.filter)
        .map_err(|error| Failure::caused("the server cannot be tested", &error))?;
    let text = if args.json {
        serde_json::to_string_pretty(&report)
            .map_err(|error| Failure::caused("cannot write the report", &error))?
            + "\n"
    } else {
        report.table()
    };
    output::print(&output::harmless(&text))?;
    if report.shows_what_was_asked() { Ok(()) } else { Err(Failure::reported()) }
}
