//! Logs to move, and looks at them.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Client, Finished, finding, quipu};

/// What `quipu verify` says of a log that it finds whole: each field with its commits, head, state and erased bodies.
#[track_caller]
pub(super) fn verified(log: &str) -> Vec<Value> {
    let place = match log.strip_prefix("sqlite:") {
        Some(directory) => ["--data", directory],
        None => ["--log", log],
    };
    let verified = quipu([&["verify", "--json"], &place[..]].concat()).succeeded();
    let report: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(report["ok"], true, "{report}");
    let fields = report["fields"].as_array().unwrap().iter();
    let told = ["field", "commits", "units", "bodies_erased", "head", "state"];
    fields.map(|field| told.iter().map(|name| (*name, field[*name].clone())).collect()).collect()
}

/// The log of a data directory, as `quipu move` names it.
pub(super) fn embedded(directory: &Path) -> String {
    format!("sqlite:{}", directory.display())
}

/// Runs `quipu move`.
pub(super) fn move_log(from: &str, to: &str) -> Finished {
    quipu(["move", "--from", from, "--to", to])
}

/// Records so many units in the default field, one of which is purged.
pub(super) fn work(client: &mut Client, units: usize) {
    client.register("ana", "researcher");
    let mut secret = finding("Ada plays the xylophone");
    secret["type"] = json!("observation");
    client.record("ana", secret);
    for number in 0..units {
        client.record("ana", finding(&format!("ship {number} has {} masts", number % 5)));
    }
    let purge = json!({"strategy": "purge", "filter": {"types": ["observation"]}});
    client.operate("COMPACT", "ana", purge).ok();
}
