//! The `quipu` binary: reads the command line, runs one command, and says in words what went wrong.
//! Every rule lives in the crates below; configuration is read here and nowhere else.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command's answer goes to stdout, complaints and progress to stderr"
)]

mod bench;
mod cli;
mod client_args;
mod clock;
mod commands;
mod config;
mod config_fields;
mod config_harn;
mod config_models;
mod data_dir;
mod failure;
mod log_place;
mod logging;
mod mcp_caller;
mod output;
mod pinned;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::run(cli::Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::FAILURE
        }
    }
}
