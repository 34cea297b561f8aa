//! The command line as a whole. Each command's own arguments lie beside what it does.

use clap::{Parser, Subcommand};

use super::{
    attune::AttuneArgs, conformance::ConformanceArgs, export::ExportArgs, import::ImportArgs,
    key::KeyArgs, mcp::McpArgs, moving::MoveArgs, proof::ProofArgs, receipt::ReceiptArgs,
    record::RecordArgs, register::RegisterArgs, replay::ReplayArgs, status::StatusArgs,
    verify::VerifyArgs,
};
use crate::{args::config::ServeArgs, module_runner::ModuleLimits};

const ABOUT: &str = "Shared memory for teams of AI agents: one append-only log that can be trusted, \
explained and checked";

const AFTER: &str = "\
Try it, in two terminals:
  quipu serve --dev
  quipu record --agent ada --role researcher --type finding --purpose 'choose a database' \\
    --confidence 0.9 --reasoning 'measured twice' 'SQLite syncs 240,000 events a second in groups'
  quipu attune --agent bob --role engineer --hint 'which database is fast enough?'

The same over HTTP:
  curl -s http://127.0.0.1:7070/v1/field/status
  curl -s http://127.0.0.1:7070/openapi.json

`quipu help COMMAND` explains a command, with examples.";

/// The `quipu` command line.
#[derive(Debug, Parser)]
#[command(name = "quipu", version, about = ABOUT, after_help = AFTER)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What `quipu` can do. The help of each command lies beside its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(about = "Run the server", long_about = SERVE, after_help = SERVE_AFTER)]
    Serve(Box<ServeArgs>),
    Mcp(Box<McpArgs>),
    Key(KeyArgs),
    Verify(VerifyArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Move(MoveArgs),
    Register(RegisterArgs),
    Record(RecordArgs),
    Attune(AttuneArgs),
    Status(StatusArgs),
    Proof(ProofArgs),
    Receipt(ReceiptArgs),
    Replay(ReplayArgs),
    Conformance(ConformanceArgs),
    #[command(hide = true)]
    ModuleRunner(ModuleLimits),
}

const SERVE: &str = "\
Run the server.

The first start makes the data directory and an operator key, prints the key once, and keeps only
its hash. An answered RECORD is on stable storage. SIGINT and SIGTERM let open requests finish, and
end the process within ten seconds. SIGHUP reads the keys, the certificate and the log level again.

Every option is also a variable and a key of the config file: --max-log-bytes is QUIPU_MAX_LOG_BYTES
and max_log_bytes. A flag beats the variable, the variable beats the file, the file beats the default.

Example:
  quipu serve --listen 127.0.0.1:7070 --data ./quipu-data";

const SERVE_AFTER: &str = "\
A config file:
  listen = \"0.0.0.0:7070\"
  data = \"/var/lib/quipu\"
  tls_cert = \"/etc/quipu/cert.pem\"
  tls_key = \"/etc/quipu/key.pem\"
  log_format = \"json\"
  [models]
  embedder = \"/var/lib/quipu-models/all-MiniLM-L6-v2\"

Ask the server how it is, and speak to it with the key that it printed:
  curl -s http://127.0.0.1:7070/readyz
  curl -s http://127.0.0.1:7070/v1/field/status -H \"Authorization: Bearer $QUIPU_KEY\"";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_of_each_command() {
        let mut whole = Cli::command();
        whole.build();
        insta::assert_snapshot!("help", whole.render_long_help().to_string());
        for command in whole.get_subcommands_mut() {
            let name = command.get_name().to_owned();
            if name == "help" {
                continue;
            }
            insta::assert_snapshot!(format!("help_{name}"), command.render_long_help().to_string());
            for nested in command.get_subcommands_mut() {
                if nested.get_name() == "help" || nested.is_hide_set() {
                    continue;
                }
                let name = format!("help_{name}_{}", nested.get_name());
                insta::assert_snapshot!(name, nested.render_long_help().to_string());
            }
        }
    }

    #[test]
    fn each_command_explains_itself_with_an_example() {
        let command = Cli::command();
        for command in command.get_subcommands() {
            let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
            assert!(long.contains("Example"), "{} has no example", command.get_name());
        }
    }
}
