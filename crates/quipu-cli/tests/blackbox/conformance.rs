//! The conformance suite against our own server, with real keys: Level 3, nothing failed, nothing skipped.

use std::collections::BTreeSet;

use serde_json::Value;
use tempfile::TempDir;

use crate::{keys::start_with_key, support::quipu};

#[test]
fn everything_of_level_3_holds_and_nothing_is_skipped() {
    let data = TempDir::new().unwrap();
    let (server, operator) = start_with_key(data.path());
    let path = data.path().to_str().unwrap();
    let made = quipu(["key", "create", "--data", path, "--agent", "bound", "--authority", "4"]);
    let made = made.succeeded();
    let bound = format!("bound:4:{}", made.stdout.lines().last().unwrap());
    let url = format!("http://{}", server.address);
    let run = quipu([
        "conformance",
        &url,
        "--level",
        "3",
        "--key",
        &operator,
        "--bound-key",
        &bound,
        "--json",
    ]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let verdicts = report["verdicts"].as_array().unwrap();
    assert!(verdicts.len() > 300, "{}", verdicts.len());
    let named = |outcome: &str| -> BTreeSet<&str> {
        let with = verdicts.iter().filter(|verdict| verdict["outcome"] == outcome);
        with.map(|verdict| verdict["name"].as_str().unwrap()).collect()
    };
    assert_eq!(named("failed"), BTreeSet::new());
    assert_eq!(named("skipped"), BTreeSet::new());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(report["level_reached"], 3);
}
