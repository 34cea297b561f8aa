//! What is noted beside the raw results: the machine, the revision, and how each step ended.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::options::Mode;
use super::own::Step;
use crate::clock;

/// The file that says so; whole after every step.
pub(crate) const FILE: &str = "run.json";

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ended {
    Ok { seconds: f64 },
    NotRun { why: &'static str },
    Failed { why: String },
}

#[derive(Debug)]
pub(crate) struct About {
    told: Value,
}

impl About {
    pub(crate) fn begin(revision: &str, mode: Mode, machine: &Value) -> Self {
        let told = json!({
            "at": clock::now_utc(),
            "mode": mode.name(),
            "revision": revision,
            "machine": machine,
            "steps": [],
        });
        Self { told }
    }

    /// Keeps the steps that a run of the same mode left in this folder.
    pub(crate) fn go_on(mut self, folder: &Path) -> Self {
        let before = fs::read_to_string(folder.join(FILE)).ok();
        let before: Value =
            before.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        if before.get("mode") == self.told.get("mode")
            && let Some(steps) = before.get("steps").filter(|steps| steps.is_array())
        {
            self.told["steps"] = steps.clone();
        }
        self
    }

    /// Notes a step, in place of what was known of it.
    pub(crate) fn note(&mut self, step: &Step, ended: &Ended) {
        let revision = &self.told["revision"];
        let mut row = json!({"name": step.name, "command": step.command(), "revision": revision});
        match ended {
            Ended::Ok { seconds } => {
                row["status"] = json!("ok");
                row["seconds"] = json!((seconds * 10.0).round() / 10.0);
            }
            Ended::NotRun { why } => {
                row["status"] = json!("not run");
                row["why"] = json!(why);
            }
            Ended::Failed { why } => {
                row["status"] = json!("failed");
                row["why"] = json!(why);
            }
        }
        if let Some(steps) = self.told["steps"].as_array_mut() {
            steps.retain(|known| known["name"] != step.name);
            steps.push(row);
        }
    }

    pub(crate) fn save(&self, folder: &Path) -> Result<(), String> {
        let failed = |error| format!("cannot write {}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        fs::write(folder.join(FILE), format!("{:#}\n", self.told)).map_err(failed)
    }
}

/// The commit, with a mark where the files are not those of it.
pub(crate) fn revision(root: &Path) -> String {
    let output =
        Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// The machine, and how much of it others use; looking takes two seconds.
pub(crate) fn machine() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let load: Vec<f64> = read("/proc/loadavg")
        .split_whitespace()
        .take(3)
        .filter_map(|value| value.parse().ok())
        .collect();
    let kibibytes: u64 = field(&read("/proc/meminfo"), "MemTotal")
        .split_whitespace()
        .next()
        .and_then(|value| value.parse().ok())
        .unwrap_or(0);
    json!({
        "cores": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "processor": field(&read("/proc/cpuinfo"), "model name"),
        "memory_bytes": kibibytes * 1024,
        "system": format!("Linux {}", read("/proc/sys/kernel/osrelease").trim()),
        "load_average": load,
        "busy_cores": busy_cores(Duration::from_secs(2)),
    })
}

/// How many cores are busy while nothing is measured. The load average would still hold our own build.
fn busy_cores(while_looking: Duration) -> f64 {
    let ticks = || busy_ticks(&fs::read_to_string("/proc/stat").unwrap_or_default());
    let before = ticks();
    // Nobody wakes us: this is a wait of its own length.
    std::thread::park_timeout(while_looking);
    let busy = (ticks() - before).max(0.0) / 100.0 / while_looking.as_secs_f64();
    (busy * 100.0).round() / 100.0
}

/// Hundredths of a second that all cores together were busy: all but the fourth and the fifth, idle and waiting for a disk.
/// The time of guests, at the end, is part of the user's.
fn busy_ticks(stat: &str) -> f64 {
    let line = stat.lines().next().unwrap_or_default();
    let ticks = line.split_whitespace().skip(1).take(8).map(|ticks| ticks.parse().unwrap_or(0.0));
    ticks.enumerate().filter(|(at, _)| *at != 3 && *at != 4).map(|(_, ticks)| ticks).sum()
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> String {
    let values = text.lines().filter(|line| line.starts_with(name));
    let mut values = values.filter_map(|line| line.split_once(':'));
    values.next().map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::own::steps;
    use super::*;

    #[test]
    fn a_step_that_is_run_again_replaces_itself_and_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let (root, mode) = (folder.path(), Mode::Smoke);
        let steps = steps(mode);
        let mut about = About::begin("abc", mode, &json!({}));
        about.note(&steps[0], &Ended::Ok { seconds: 1.26 });
        about.note(&steps[1], &Ended::Failed { why: "no".to_owned() });
        about.save(root).unwrap();
        let mut again = About::begin("abc", mode, &json!({})).go_on(root);
        again.note(&steps[1], &Ended::NotRun { why: "later" });
        let row = |at: usize| again.told["steps"][at].clone();
        assert_eq!(
            (row(0)["name"].clone(), row(0)["seconds"].clone()),
            (json!("probe"), json!(1.3))
        );
        assert_eq!(
            (row(1)["status"].clone(), row(1)["why"].clone()),
            (json!("not run"), json!("later"))
        );
        assert_eq!(again.told["steps"].as_array().unwrap().len(), 2);
        let other = About::begin("abc", Mode::Full, &json!({})).go_on(root);
        assert_eq!(other.told["steps"], json!([]));
    }

    #[test]
    fn waiting_is_not_being_busy() {
        assert_eq!(busy_ticks("cpu  10 1 5 9000 700 2 3 4 6 0\ncpu0 1 1\n").to_string(), "25");
    }
}
