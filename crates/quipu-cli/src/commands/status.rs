//! `quipu status`: a field at a glance.

use clap::Args;
use quipu_wire::akashik::{Counts, FieldStatus};

use crate::{
    args::client_args::ServerArgs,
    ui::{
        failure::Failure,
        output::{harmless, table, thousands},
    },
};

const ABOUT: &str = "\
Show a field at a glance: how much it holds, who takes part, and its head.

The head is the hash of the last commit and stands for the whole log before it.

Example:
  quipu status --url http://127.0.0.1:7070 --key \"$QUIPU_KEY\"";

const AFTER: &str = "\
The same over HTTP:
  curl -s http://127.0.0.1:7070/v1/field/status -H \"Authorization: Bearer $QUIPU_KEY\"";

/// The arguments of `quipu status`.
#[derive(Debug, Args)]
#[command(about = "Show a field at a glance", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn status(args: StatusArgs) -> Result<(), Failure> {
    let raw = args.server.connect(None)?.get("/v1/field/status").await?;
    args.server.show(&raw, render)
}

fn render(status: &FieldStatus) -> String {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    table(&[
        row("field", harmless(&status.field)),
        row("commits", thousands(status.position)),
        row("epoch", thousands(status.epoch)),
        row("agents", thousands(status.agents)),
        row("units", counts(&status.units)),
        row("conflicts", counts(&status.conflicts)),
        row("head", harmless(&status.head)),
        row("level", status.field_capabilities.conformance_level.to_string()),
    ])
}

fn counts(counts: &Counts) -> String {
    let parts = counts.by_status.iter();
    let parts: Vec<_> = parts
        .map(|(status, number)| format!("{} {}", thousands(*number), harmless(status)))
        .collect();
    if parts.is_empty() {
        return thousands(counts.total);
    }
    format!("{} ({})", thousands(counts.total), parts.join(", "))
}
