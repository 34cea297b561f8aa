//! `quipu-bench`: measures this machine and Quipu on it, seeded, with raw results. Nothing here is
//! asserted: figures are for people, and ratios within one run are worth more than absolutes.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "figures go to stdout, complaints to stderr"
)]

mod args;
mod cluster;
mod commands;
mod detect;
mod measure;
mod recall;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match args::run(args::BenchArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("quipu-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}
