//! `cargo xtask fuzz`: broken input for every parser, for minutes or hours. What breaks them, and how, is the business of
//! `quipu-fuzz`; here it is built and told for how long.

use std::path::Path;
use std::process::Command;

use crate::command::{Cargo, succeed};

/// Builds the hunter and lets it hunt; true when every target held.
pub(crate) fn run(root: &Path, options: &[&str]) -> bool {
    let Some(arguments) = arguments(options) else {
        eprintln!("usage: cargo xtask fuzz [--minutes N | --seconds N] [--seed N] [TARGET]");
        return false;
    };
    let build = Cargo::new(&["build", "--quiet", "--package", "quipu-fuzz"]);
    build.run(root).and_then(|()| hunt(&arguments)).map_err(|why| eprintln!("{why}")).is_ok()
}

/// All targets at once for so long. The hunter was built with the tests.
pub(crate) fn every_target(seconds: u64) -> Result<(), String> {
    hunt(&["--seconds".to_owned(), seconds.to_string()])
}

/// Minutes become seconds; the rest is the hunter's to read.
fn arguments(options: &[&str]) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if *option == "--minutes" {
            let minutes: u64 = options.next()?.parse().ok()?;
            arguments.extend(["--seconds".to_owned(), minutes.checked_mul(60)?.to_string()]);
        } else {
            arguments.push((*option).to_owned());
        }
    }
    Some(arguments)
}

/// It lies beside this program.
fn hunt(arguments: &[String]) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let hunter = own.with_file_name(format!("quipu-fuzz{}", std::env::consts::EXE_SUFFIX));
    succeed(Command::new(hunter).args(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_seconds_and_the_rest_is_passed_on() {
        let told = |options: &[&str]| arguments(options).map(|words| words.join(" "));
        assert_eq!(told(&["--minutes", "90", "json"]).as_deref(), Some("--seconds 5400 json"));
        assert_eq!(told(&["--seed", "3"]).as_deref(), Some("--seed 3"));
        assert_eq!(told(&["--minutes", "soon"]), None);
        assert_eq!(told(&["--minutes"]), None);
    }
}
