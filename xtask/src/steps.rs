//! What `cargo xtask test` does and in which order. It owns the list of steps and stops at the first failure.
//! All steps use the dev profile and one target folder, so that nothing is compiled twice for a different flag.

use std::path::Path;

use crate::clock::Stopwatch;
use crate::command::Cargo;
use crate::fuzz;
use crate::programs;
use crate::tidy;

/// Where the checks run. `Ci` does not stop at the first failing test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Local,
    Ci,
}

impl Profile {
    /// `CI=true` (or `1`), as every continuous integration service sets it, selects `Ci`.
    #[expect(clippy::disallowed_methods, reason = "xtask has one setting, read here")]
    pub(crate) fn from_environment() -> Self {
        Self::from_ci_variable(std::env::var("CI").ok().as_deref())
    }

    fn from_ci_variable(value: Option<&str>) -> Self {
        match value {
            Some("true" | "1") => Self::Ci,
            Some(_) | None => Self::Local,
        }
    }

    /// All targets at once, so this is about what the step takes.
    const fn fuzz_seconds(self) -> u64 {
        match self {
            Self::Local => 5,
            Self::Ci => 60,
        }
    }

    fn nextest(self) -> &'static str {
        match self {
            Self::Local => "default",
            Self::Ci => "ci",
        }
    }
}

#[derive(Debug)]
enum Action {
    Run(Cargo),
    /// Installs the named cargo subcommand if it is missing, then runs.
    RunInstalled {
        probe: Cargo,
        install: Cargo,
        run: Cargo,
    },
    /// Runs only where the tool is present, and says so where it is not.
    RunIfPresent {
        probe: Cargo,
        run: Cargo,
        left_out: &'static str,
    },
    /// Installs the programs that tests start, where they are missing.
    Programs,
    /// Breaks the input of every parser for so many seconds.
    Fuzz(u64),
    Tidy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    LeftOut,
}

#[derive(Debug)]
struct Step {
    name: &'static str,
    action: Action,
}

impl Step {
    fn rerun(&self) -> String {
        match &self.action {
            Action::Run(run)
            | Action::RunInstalled { run, .. }
            | Action::RunIfPresent { run, .. } => run.to_string(),
            Action::Programs => programs::install_all(),
            Action::Fuzz(seconds) => format!("cargo xtask fuzz --seconds {seconds}"),
            Action::Tidy => "cargo xtask tidy".to_owned(),
        }
    }

    fn perform(&self, root: &Path) -> Result<Outcome, String> {
        match &self.action {
            Action::Run(run) => run.run(root)?,
            Action::RunInstalled { probe, install, run } => {
                if !probe.succeeds_quietly(root) {
                    println!("    not installed, so installing it once: {install}");
                    install.run(root)?;
                }
                run.run(root)?;
            }
            Action::RunIfPresent { probe, run, left_out } => {
                if !probe.succeeds_quietly(root) {
                    println!("    LEFT OUT: {left_out}");
                    return Ok(Outcome::LeftOut);
                }
                run.run(root)?;
            }
            Action::Programs => programs::provide()?,
            Action::Fuzz(seconds) => fuzz::every_target(*seconds)?,
            Action::Tidy => {
                if !tidy::run(root) {
                    return Err("a house rule is broken".to_owned());
                }
            }
        }
        Ok(Outcome::Passed)
    }
}

/// Runs every step; true when all passed.
pub(crate) fn run(root: &Path, profile: Profile) -> bool {
    let whole = Stopwatch::start();
    let steps = steps(profile);
    let mut left_out = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        println!("==> {}/{} {}: {}", index + 1, steps.len(), step.name, step.rerun());
        let watch = Stopwatch::start();
        match step.perform(root) {
            Ok(Outcome::Passed) => println!("    {} passed in {}", step.name, watch.elapsed()),
            Ok(Outcome::LeftOut) => left_out.push(step.name),
            Err(reason) => {
                eprintln!("\nFAILED: {} after {} ({reason})", step.name, watch.elapsed());
                eprintln!("run it again alone with:\n    {}", step.rerun());
                return false;
            }
        }
    }
    println!("\n{} steps passed in {}.", steps.len() - left_out.len(), whole.elapsed());
    if !left_out.is_empty() {
        println!("Left out: {}.", left_out.join(", "));
    }
    true
}

fn steps(profile: Profile) -> Vec<Step> {
    let step = |name, action| Step { name, action };
    let in_profile = |cargo: Cargo| match profile {
        Profile::Local => cargo,
        Profile::Ci => cargo.with_env("CI", "true"),
    };
    // Snapshots are compared, never written, by a check.
    let tested = |arguments: &[&'static str]| {
        in_profile(Cargo::new(arguments)).with_env("INSTA_UPDATE", "no")
    };
    vec![
        step("fmt", Action::Run(Cargo::new(&["fmt", "--all", "--check"]))),
        step("tidy", Action::Tidy),
        step(
            "clippy",
            Action::Run(Cargo::new(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ])),
        ),
        // The build is a step of its own so that its time is not counted as the tests' time.
        // The same selection of packages as below: another one would unify features differently and build twice.
        step(
            "build",
            Action::RunInstalled {
                probe: Cargo::new(&["nextest", "--version"]),
                install: Cargo::new(&["install", "cargo-nextest", "--locked"]),
                run: in_profile(Cargo::new(&[
                    "nextest",
                    "run",
                    "--workspace",
                    "--profile",
                    profile.nextest(),
                    "--no-run",
                ])),
            },
        ),
        step("programs", Action::Programs),
        step(
            "tests",
            Action::Run(tested(&["nextest", "run", "--workspace", "--profile", profile.nextest()])),
        ),
        step("doc tests", Action::Run(tested(&["test", "--doc", "--workspace"]))),
        step(
            "docs",
            Action::Run(
                Cargo::new(&["doc", "--no-deps", "--workspace"])
                    .with_env("RUSTDOCFLAGS", "-D warnings"),
            ),
        ),
        step("fuzz", Action::Fuzz(profile.fuzz_seconds())),
        step(
            "deny",
            Action::RunInstalled {
                probe: Cargo::new(&["deny", "--version"]),
                install: install_deny(),
                run: Cargo::new(&["deny", "check", "bans", "licenses", "sources"]),
            },
        ),
        step(
            "advisories",
            Action::RunIfPresent {
                probe: Cargo::new(&["deny", "fetch", "db"]),
                run: Cargo::new(&["deny", "check", "advisories"]),
                left_out: "the database of advisories cannot be reached from here",
            },
        ),
    ]
}

/// Its own release profile links everything as one for minutes; it has little to do here.
fn install_deny() -> Cargo {
    Cargo::new(&["install", "cargo-deny", "--locked"])
        .with_env("CARGO_PROFILE_RELEASE_LTO", "off")
        .with_env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .with_env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_run_from_the_cheapest_to_the_dearest() {
        let names: Vec<_> = steps(Profile::Local).iter().map(|step| step.name).collect();
        let expected = [
            "fmt",
            "tidy",
            "clippy",
            "build",
            "programs",
            "tests",
            "doc tests",
            "docs",
            "fuzz",
            "deny",
            "advisories",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_ci_variable_selects_the_ci_profile() {
        assert_eq!(Profile::from_ci_variable(Some("true")), Profile::Ci);
        assert_eq!(Profile::from_ci_variable(Some("1")), Profile::Ci);
        assert_eq!(Profile::from_ci_variable(Some("false")), Profile::Local);
        assert_eq!(Profile::from_ci_variable(None), Profile::Local);
    }

    #[test]
    fn tests_never_write_snapshots() {
        for profile in [Profile::Local, Profile::Ci] {
            let steps = steps(profile);
            let tests = steps.iter().find(|step| step.name == "tests").unwrap();
            assert!(tests.rerun().contains("INSTA_UPDATE=no"), "{}", tests.rerun());
        }
    }

    #[test]
    fn a_step_whose_command_fails_is_a_failure() {
        let step = Step { name: "x", action: Action::Run(Cargo::new(&["no-such-subcommand"])) };
        assert!(step.perform(Path::new(env!("CARGO_MANIFEST_DIR"))).is_err());
    }

    #[test]
    fn an_absent_optional_tool_is_left_out_and_does_not_count_as_passed() {
        let absent = Cargo::new(&["no-such-subcommand"]);
        let action =
            Action::RunIfPresent { probe: absent.clone(), run: absent, left_out: "not here" };
        let step = Step { name: "x", action };
        assert_eq!(step.perform(Path::new(env!("CARGO_MANIFEST_DIR"))), Ok(Outcome::LeftOut));
    }

    #[test]
    fn a_needed_tool_that_cannot_be_installed_is_a_failure() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let absent = Cargo::new(&["no-such-subcommand"]);
        let present = Cargo::new(&["--version"]);
        let step = |install: &Cargo| {
            let (probe, run) = (absent.clone(), present.clone());
            Step {
                name: "x",
                action: Action::RunInstalled { probe, install: install.clone(), run },
            }
        };
        assert_eq!(step(&present).perform(root), Ok(Outcome::Passed));
        assert!(step(&absent).perform(root).is_err());
    }
}
