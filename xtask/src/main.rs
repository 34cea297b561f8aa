//! The project's own automation: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask ci`, `cargo xtask fuzz`, `cargo xtask bench`.
//! It owns the order of the checks and of the measurements, and the house rules as code. It knows nothing of what the server does.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool speaks to its user"
)]

mod bench;
mod clock;
mod command;
mod fuzz;
mod programs;
mod steps;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use steps::Profile;

const USAGE: &str = "\
usage: cargo xtask <command>

  test   every check, in order, stopping at the first that fails (CI=true makes it `ci`)
  tidy   the house rules alone
  ci     `test` with the settings of continuous integration
  fuzz   broken input for every parser: fuzz [--minutes N | --seconds N] [--seed N] [TARGET]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = root();
    let passed = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => steps::run(root, Profile::from_environment()),
        ["ci"] => steps::run(root, Profile::Ci),
        ["tidy"] => tidy::run(root),
        ["fuzz", options @ ..] => fuzz::run(root, options),
        ["bench", options @ ..] => bench::run(root, options),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}\n{}", bench::USAGE);
            true
        }
        _ => {
            eprintln!("{USAGE}\n{}", bench::USAGE);
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The repository root: this crate's folder is directly below it.
fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}
