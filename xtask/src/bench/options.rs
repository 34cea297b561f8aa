//! What the user asks of `cargo xtask bench`.

use std::path::PathBuf;

/// The options, as `cargo xtask help` shows them.
pub(crate) const USAGE: &str = "\
  bench  measure Quipu and the others, and write docs/benchmarks.md (about 25 minutes on 2 cores)
           --full             all sizes and repetitions: about an hour
           --smoke            a look whether it works: a development build, tiny sizes, into target/bench
           --only PART        own, peers or report
           --steps A,B        of Quipu's own figures only these; the others of the day stay
           --data DATA        labelled data, for recall and detection; else these rows say that they were not run
           --quipu BINARY     measure this one instead of building it
           --home DIR         where the others are installed [a folder of the user's cache]
           --minutes N        for the others together, in even shares [15; 45 with --full]";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    Smoke,
    #[default]
    Quick,
    Full,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// One of the three things that are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Own,
    Peers,
    Report,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) only: Option<Part>,
    pub(crate) steps: Option<Vec<String>>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) quipu: Option<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    pub(crate) minutes: Option<String>,
}

impl Options {
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(&name) = rest.next() {
            match name {
                "--full" => options.mode = Mode::Full,
                "--smoke" => options.mode = Mode::Smoke,
                _ => {
                    let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
                    options.set(name, value)?;
                }
            }
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "--only" => self.only = Some(part(value)?),
            "--steps" => self.steps = Some(value.split(',').map(str::to_owned).collect()),
            "--data" => self.data = Some(value.into()),
            "--quipu" => self.quipu = Some(value.into()),
            "--home" => self.home = Some(value.into()),
            "--minutes" => self.minutes = Some(value.to_owned()),
            _ => return Err(format!("there is no option {name}")),
        }
        Ok(())
    }

    /// Whether a part is asked for; single steps are of the first part alone.
    pub(crate) fn wants(&self, part: Part) -> bool {
        match self.only {
            Some(only) => only == part,
            None => self.steps.is_none() || part == Part::Own,
        }
    }
}

fn part(name: &str) -> Result<Part, String> {
    match name {
        "own" => Ok(Part::Own),
        "peers" => Ok(Part::Peers),
        "report" => Ok(Part::Report),
        _ => Err(format!("--only is own, peers or report, not {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_options_all_parts_are_done_quickly() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options.mode, Mode::Quick);
        assert!([Part::Own, Part::Peers, Part::Report].iter().all(|part| options.wants(*part)));
    }

    #[test]
    fn one_part_or_single_steps_leave_the_rest() {
        let report = Options::parse(&["--only", "report"]).unwrap();
        assert!(report.wants(Part::Report) && !report.wants(Part::Own));
        let steps = Options::parse(&["--full", "--steps", "probe,growth"]).unwrap();
        assert_eq!(steps.steps, Some(vec!["probe".to_owned(), "growth".to_owned()]));
        assert!(steps.wants(Part::Own) && !steps.wants(Part::Peers) && !steps.wants(Part::Report));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_name() {
        for (arguments, said) in [
            (&["--only", "all"][..], "--only is own, peers or report, not all"),
            (&["--minutes"], "--minutes needs a value"),
            (&["--fast", "1"], "there is no option --fast"),
        ] {
            assert_eq!(Options::parse(arguments), Err(said.to_owned()));
        }
    }
}
