//! The `quipu` binary: reads the command line, runs one command, and says in words what went wrong.
//! Every rule lives in the crates below; configuration is read here and nowhere else.
#![expect(clippy::print_stderr, reason = "complaints and progress go to stderr")]

mod args;
mod clock;
mod commands;
mod module_runner;
mod signals;
mod storage;
mod ui;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::run(commands::cli::Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::FAILURE
        }
    }
}
