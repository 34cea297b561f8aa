//! The browser that the console is tested in: Chromium of the system. It is installed from Debian's packages where
//! there is none, which takes root; elsewhere whoever runs the tests installs it.

use std::path::Path;
use std::process::Command;

/// The places that the tests of the console look at.
const PLACES: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// The command that installs it.
pub(crate) const INSTALL: [&str; 5] =
    ["apt-get", "install", "-y", "--no-install-recommends", "chromium"];

/// Makes sure that there is one.
pub(crate) fn provide() -> Result<(), String> {
    if PLACES.iter().any(|place| Path::new(place).exists()) {
        return Ok(());
    }
    println!("    no Chromium, so installing it once: {}", INSTALL.join(" "));
    perform(&["apt-get", "update"])?;
    perform(&INSTALL)
}

fn perform(words: &[&str]) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    match Command::new(program).args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", words.join(" "))),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
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
}
