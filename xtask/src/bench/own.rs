//! The steps that give Quipu's own figures: one call of `quipu-bench` each, its results in a folder of its name.
//! `bench/report/measures.py` reads them by these names.

use super::options::Mode;

/// Stands for the path of the labelled data, here and in all that is kept.
pub(crate) const DATA: &str = "DATA";

/// One call of `quipu-bench`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What follows `quipu-bench`.
    pub(crate) arguments: &'static str,
}

impl Step {
    pub(crate) fn needs_data(&self) -> bool {
        self.arguments.contains(DATA)
    }

    /// Whether it has a place for its files; `--dir`, `--data` and `--scratch` name it.
    pub(crate) fn directory_option(&self) -> Option<&'static str> {
        match self.name {
            "probe" => Some("--dir"),
            "recall" => Some("--scratch"),
            "task-replay" | "detect" => None,
            _ => Some("--data"),
        }
    }

    /// What a reader types.
    pub(crate) fn command(&self) -> String {
        format!("quipu-bench {}", self.arguments)
    }
}

/// Name, and the arguments of `smoke`, `quick` and `full`.
const STEPS: [(&str, [&str; 3]); 13] = [
    ("probe", ["probe"; 3]),
    (
        "record",
        [
            "record --clients 1,8,64 --seconds 1 --skip-engine",
            "record --clients 1,8,64 --seconds 6 --skip-engine",
            "record --clients 1,8,64 --seconds 10",
        ],
    ),
    (
        "record-batch",
        [
            "record --units 16 --clients 64 --seconds 1 --skip-engine",
            "record --units 16 --clients 64 --seconds 6 --skip-engine",
            "record --units 16 --clients 1,8,64 --seconds 10 --skip-engine",
        ],
    ),
    (
        "record-detection",
        [
            "record --compare-detection --clients 64 --seconds 1 --skip-engine",
            "record --compare-detection --clients 64 --seconds 6 --skip-engine",
            "record --compare-detection --clients 1,8,64 --seconds 10 --skip-engine",
        ],
    ),
    (
        "attune",
        [
            "attune --units 200 --clients 1,8 --seconds 1",
            "attune --units 10000,100000 --clients 1,8 --seconds 5",
            "attune --units 10000,100000,1000000 --clients 1,8 --seconds 10",
        ],
    ),
    (
        "growth",
        [
            "growth --sizes 100,1000 --records 20 --questions 50",
            "growth --sizes 1000,10000,100000,1000000",
            "growth --sizes 1000,3000,10000,30000,100000,300000,1000000 --questions 3000",
        ],
    ),
    (
        "open",
        [
            "open --units 1000 --without-snapshot",
            "open --units 100000 --without-snapshot",
            "open --units 1000000 --without-snapshot",
        ],
    ),
    ("subscribe", ["subscribe --subscribers 20 --units 10", "subscribe", "subscribe --units 1000"]),
    ("replay", ["replay --units 500", "replay", "replay"]),
    (
        "task-replay",
        ["task-replay --events 2000 --receipts 3 --questions 3", "task-replay", "task-replay"],
    ),
    ("compact", ["compact --units 300", "compact", "compact"]),
    ("recall", ["recall DATA --limit 1", "recall DATA --limit 1", "recall DATA"]),
    ("detect", ["detect DATA"; 3]),
];

pub(crate) fn steps(mode: Mode) -> Vec<Step> {
    let at = match mode {
        Mode::Smoke => 0,
        Mode::Quick => 1,
        Mode::Full => 2,
    };
    STEPS.iter().map(|(name, arguments)| Step { name, arguments: arguments[at] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_the_same_steps_each_once() {
        let names = |mode| steps(mode).iter().map(|step| step.name).collect::<Vec<_>>();
        assert_eq!(names(Mode::Smoke), names(Mode::Full));
        let mut sorted = names(Mode::Quick);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), STEPS.len());
    }

    #[test]
    fn only_the_steps_on_labelled_data_need_it() {
        let names = |step: &Step| step.needs_data().then_some(step.name);
        let needing: Vec<_> = steps(Mode::Quick).iter().filter_map(names).collect();
        assert_eq!(needing, ["recall", "detect"]);
    }

    #[test]
    fn a_step_is_shown_without_the_places_of_this_machine() {
        let record = steps(Mode::Full).into_iter().find(|step| step.name == "record").unwrap();
        assert_eq!(record.command(), "quipu-bench record --clients 1,8,64 --seconds 10");
    }
}
