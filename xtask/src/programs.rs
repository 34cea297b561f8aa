//! Programs of the system that tests start: Chromium for the console, valgrind for counting instructions. They are
//! installed from Debian's packages where they are missing, which takes root; elsewhere whoever runs the tests
//! installs them.

use std::path::Path;
use std::process::Command;

use crate::command::succeed;

/// A program, by its package and the places that tests find it at.
#[derive(Debug)]
struct Program {
    package: &'static str,
    places: &'static [&'static str],
}

const PROGRAMS: [Program; 2] = [
    Program {
        package: "chromium",
        places: &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
    },
    Program { package: "valgrind", places: &["/usr/bin/valgrind"] },
];

/// The command that installs them; the packages come behind it.
const INSTALL: [&str; 4] = ["apt-get", "install", "-y", "--no-install-recommends"];

pub(crate) fn install_all() -> String {
    install(PROGRAMS.iter()).join(" ")
}

pub(crate) fn provide() -> Result<(), String> {
    let missing: Vec<_> = PROGRAMS.iter().filter(|program| !program.is_there()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = install(missing.into_iter());
    println!("    not all are there, so installing them once: {}", install.join(" "));
    perform(&["apt-get", "update"])?;
    perform(&install)
}

impl Program {
    fn is_there(&self) -> bool {
        self.places.iter().any(|place| Path::new(place).exists())
    }
}

fn install<'p>(programs: impl Iterator<Item = &'p Program>) -> Vec<&'static str> {
    INSTALL.into_iter().chain(programs.map(|program| program.package)).collect()
}

fn perform(words: &[&str]) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    succeed(&mut command).map_err(|why| format!("{}: {why}", words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_said_with_its_words() {
        assert_eq!(perform(&["true"]), Ok(()));
        assert!(perform(&["false", "x"]).unwrap_err().starts_with("false x: "));
        assert!(perform(&["no-such-program"]).unwrap_err().contains("could not be started"));
    }

    #[test]
    fn a_program_is_there_if_one_of_its_places_is() {
        let at = |places| Program { package: "x", places };
        assert!(at(&["/no/such/place", "/"]).is_there());
        assert!(!at(&["/no/such/place"]).is_there());
    }

    #[test]
    fn all_programs_are_installed_by_one_command() {
        let expected = "apt-get install -y --no-install-recommends chromium valgrind";
        assert_eq!(install_all(), expected);
    }
}
