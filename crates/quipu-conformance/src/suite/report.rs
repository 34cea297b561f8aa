//! The result of a run: the verdict on each case, counts per level, the level reached; as a table and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use crate::rule::{Rule, Strength};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The requirement held.
    Passed,
    /// The requirement did not hold.
    Failed {
        /// What was wrong.
        reason: String,
        /// The last message and its answer, shortened.
        last_exchange: String,
    },
    /// The Field does not offer what the case needs. A skipped MUST keeps its level from being reached.
    Skipped {
        /// What is missing.
        reason: String,
    },
}

/// The verdict on one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The name of the case.
    pub name: &'static str,
    /// Its conformance level.
    pub level: u8,
    /// How binding it is.
    pub strength: Strength,
    /// The requirement ids, such as `REC-7`.
    pub requirements: Vec<&'static str>,
    /// What it claims, in one sentence.
    pub sentence: &'static str,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Verdict {
    pub(crate) fn new(rule: &Rule, outcome: Outcome) -> Self {
        Self {
            name: rule.name,
            level: rule.level(),
            strength: rule.strength,
            requirements: rule.requirements.split(' ').collect(),
            sentence: rule.sentence,
            outcome,
        }
    }
}

/// How many cases of one level ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The conformance level.
    pub level: u8,
    /// Cases that held.
    pub passed: usize,
    /// Cases that did not.
    pub failed: usize,
    /// Those of the failed that are MUSTs.
    pub failed_musts: usize,
    /// Cases that could not be tried.
    pub skipped: usize,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The server that was tested.
    pub url: String,
    /// The level that was asked for.
    pub level_asked: u8,
    /// Whether a filter left cases out. Then no level is judged.
    pub filtered: bool,
    /// The highest level at and below which no MUST failed or was skipped; `None`: not even 0, or a
    /// filter left cases out, so that no level is judged.
    pub level_reached: Option<u8>,
    /// Counts of each level up to the one asked for.
    pub counts: Vec<Count>,
    /// The verdict on each case, in the order of the catalogue.
    pub verdicts: Vec<Verdict>,
}

impl Report {
    pub(crate) fn new(url: String, level: u8, filtered: bool, verdicts: Vec<Verdict>) -> Self {
        let counts: Vec<Count> = (0..=level).map(|level| count(level, &verdicts)).collect();
        let judged = if filtered { 0 } else { level + 1 };
        let reached = (0..judged).take_while(|level| holds(*level, &verdicts)).last();
        Self { url, level_asked: level, filtered, level_reached: reached, counts, verdicts }
    }

    /// Whether no MUST failed. A skipped one is no failure, but keeps the level from being reached.
    pub fn no_must_failed(&self) -> bool {
        self.counts.iter().all(|count| count.failed_musts == 0)
    }

    /// How many MUSTs could not be tried. As long as there are any, the level that was asked for is not proven.
    pub fn skipped_musts(&self) -> usize {
        let is_skipped = |verdict: &&Verdict| {
            verdict.strength == Strength::Must && matches!(verdict.outcome, Outcome::Skipped { .. })
        };
        self.verdicts.iter().filter(is_skipped).count()
    }

    /// Whether the run was successful: it reached the level that was asked for or, with a filter, no MUST failed.
    pub fn shows_what_was_asked(&self) -> bool {
        if self.filtered { self.no_must_failed() } else { self.reached_what_was_asked() }
    }

    /// Whether the level that was asked for is reached.
    pub fn reached_what_was_asked(&self) -> bool {
        self.level_reached == Some(self.level_asked)
    }

    /// The verdicts, the counts and the level as text, one case a line.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let width = self.verdicts.iter().map(|verdict| verdict.name.len()).max().unwrap_or(0);
        for verdict in &self.verdicts {
            let ids = verdict.requirements.join(" ");
            let (word, more) = match &verdict.outcome {
                Outcome::Passed => ("ok", String::new()),
                Outcome::Failed { reason, last_exchange } => {
                    let claim = verdict.sentence;
                    ("FAILED", format!("\n    {claim}\n    {reason}\n    last: {last_exchange}"))
                }
                Outcome::Skipped { reason } => ("skipped", format!("  ({reason})")),
            };
            let (name, strength) = (verdict.name, verdict.strength);
            line(&mut text, &format!("{word:<7}  {strength:<7}  {name:<width$}  {ids}{more}"));
        }
        line(&mut text, "");
        line(&mut text, "level  passed  failed  of these MUST  skipped");
        for count in &self.counts {
            let Count { level, passed, failed, failed_musts, skipped } = count;
            let row =
                format!("{level:>5}  {passed:>6}  {failed:>6}  {failed_musts:>13}  {skipped:>7}");
            line(&mut text, &row);
        }
        let asked = self.level_asked;
        let reached = match self.level_reached {
            _ if self.filtered => "a filter was set: the level is not judged".to_owned(),
            Some(level) => format!("level reached: {level} of {asked} asked"),
            None => format!("level reached: none of {asked} asked"),
        };
        line(&mut text, &reached);
        let skipped = self.skipped_musts();
        if !self.filtered && skipped > 0 {
            let why = "for the reasons beside them; what they need has to be there";
            line(&mut text, &format!("level {asked} was not shown: {skipped} MUST skipped, {why}"));
        }
        text
    }
}

fn line(text: &mut String, what: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{}", what.trim_end()).ok();
}

fn count(level: u8, verdicts: &[Verdict]) -> Count {
    let mut count = Count { level, ..Count::default() };
    for verdict in verdicts.iter().filter(|verdict| verdict.level == level) {
        match verdict.outcome {
            Outcome::Passed => count.passed += 1,
            Outcome::Skipped { .. } => count.skipped += 1,
            Outcome::Failed { .. } => {
                count.failed += 1;
                count.failed_musts += usize::from(verdict.strength == Strength::Must);
            }
        }
    }
    count
}

fn holds(level: u8, verdicts: &[Verdict]) -> bool {
    let musts = |verdict: &&Verdict| verdict.level == level && verdict.strength == Strength::Must;
    verdicts.iter().filter(musts).all(|verdict| verdict.outcome == Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(name: &'static str, strength: Strength, outcome: Outcome) -> Verdict {
        let level = name.as_bytes()[1] - b'0';
        Verdict { name, level, strength, requirements: vec!["X-1"], sentence: "It holds.", outcome }
    }

    fn failed() -> Outcome {
        Outcome::Failed { reason: "it was blue".to_owned(), last_exchange: "GET /x".to_owned() }
    }

    fn skipped() -> Outcome {
        Outcome::Skipped { reason: "no MERGE".to_owned() }
    }

    fn report(level: u8, verdicts: Vec<Verdict>) -> Report {
        Report::new("http://x".to_owned(), level, false, verdicts)
    }

    #[test]
    fn a_failed_must_ends_the_climb_and_a_failed_should_does_not() {
        let report = report(
            2,
            vec![
                verdict("l0_a", Strength::Must, Outcome::Passed),
                verdict("l1_b", Strength::Should, failed()),
                verdict("l2_c", Strength::Must, failed()),
            ],
        );
        assert_eq!(report.level_reached, Some(1));
        assert!(!report.no_must_failed());
        assert_eq!(report.counts[1], Count { level: 1, failed: 1, ..Count::default() });
        assert_eq!(report.counts[2].failed_musts, 1);
    }

    #[test]
    fn a_skipped_must_keeps_its_level_from_being_reached() {
        let report = report(0, vec![verdict("l0_a", Strength::Must, skipped())]);
        assert_eq!((report.level_reached, report.no_must_failed()), (None, true));
        assert!(!report.reached_what_was_asked());
    }

    #[test]
    fn a_level_that_was_not_shown_for_skipped_musts_is_said_to_be_so() {
        let report = report(0, vec![verdict("l0_a", Strength::Must, skipped())]);
        assert!(report.table().contains("level 0 was not shown: 1 MUST skipped"));
        assert!(!report.shows_what_was_asked());
    }

    #[test]
    fn a_filtered_run_judges_no_level() {
        let passed = vec![verdict("l3_a", Strength::Must, Outcome::Passed)];
        let report = Report::new("http://x".to_owned(), 3, true, passed);
        assert_eq!(report.level_reached, None);
        assert!(report.shows_what_was_asked());
        assert!(report.table().ends_with("the level is not judged\n"));
    }

    #[test]
    fn the_table_says_what_failed_and_why() {
        let report = report(1, vec![verdict("l1_b", Strength::Must, failed())]);
        let table = report.table();
        assert!(table.contains("FAILED   must     l1_b  X-1\n    It holds.\n    it was blue\n"));
        assert!(table.ends_with("level reached: 0 of 1 asked\n"));
    }

    #[test]
    fn json_has_the_outcome_beside_the_name() {
        let json =
            serde_json::to_value(report(0, vec![verdict("l0_a", Strength::Ours, skipped())]));
        let json = json.unwrap();
        assert_eq!(json["verdicts"][0]["outcome"], "skipped");
        assert_eq!(json["verdicts"][0]["strength"], "ours");
        assert_eq!(json["level_reached"], 0);
    }
}
