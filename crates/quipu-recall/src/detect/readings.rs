//! Readings of what changes by the hour: the depth of a queue, whether a job runs, whether the tests
//! pass. A later one is news and does not deny the earlier one.

use super::statement::Statement;

/// What is left of a clash of two readings: less than the default threshold, whatever the rule.
pub(super) const OF_A_READING: f64 = 0.6;

/// What is measured anew each time, by stem.
const GAUGES: &[&str] = &[
    "backlog",
    "depth",
    "lag",
    "load",
    "occup",
    "pend",
    "queu",
    "temperatur",
    "throughput",
    "uptim",
    "usag",
    "util",
];

/// What is one way now and another way later, by stem.
const STATES: &[&str] = &[
    "block",
    "down",
    "fail",
    "green",
    "healthi",
    "idl",
    "offlin",
    "onlin",
    "pass",
    "reachabl",
    "readi",
    "red",
    "respond",
    "run",
    "sync",
    "unhealthi",
    "unreach",
    "up",
    "wait",
];

/// What has such states, by stem: a dog that runs is none of them.
const SYSTEMS: &[&str] = &[
    "api", "backup", "build", "ci", "cluster", "contain", "databas", "deploi", "deploy",
    "endpoint", "gatewai", "host", "job", "link", "migrat", "network", "node", "pipelin", "pod",
    "process", "queue", "queu", "replica", "server", "servic", "site", "suit", "system", "test",
    "websit", "worker",
];

/// Whether both are readings of an amount.
pub(super) fn gauge(a: &Statement<'_>, b: &Statement<'_>) -> bool {
    [a, b].iter().all(|statement| is_present(statement) && has_topic(statement, GAUGES))
}

/// Whether both say in which state something is at present; `words` are those that clash.
pub(super) fn state(a: &Statement<'_>, b: &Statement<'_>, words: &[&str]) -> bool {
    let states = words.iter().all(|word| STATES.contains(word));
    states && [a, b].iter().all(|s| is_present(s) && has_topic(s, SYSTEMS))
}

fn has_topic(statement: &Statement<'_>, stems: &[&str]) -> bool {
    statement.topics.iter().any(|topic| stems.contains(&topic.stem.as_str()))
}

/// Whether it speaks of now: what was, or passed, is said of one occasion.
fn is_present(statement: &Statement<'_>) -> bool {
    let past = |word: &str| matches!(word, "was" | "were" | "did" | "had") || word.ends_with("ed");
    !statement.tokens.iter().any(|token| past(&token.lower))
}
