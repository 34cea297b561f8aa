//! A summarize that is cut off by `kill -9` has happened as a whole or not at all.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Dice, Message, Server, Settings, finding, scope, units_of, verify_is_green};

const ROUNDS: u64 = 8;
const UNITS: u64 = 150;

fn of_type<'a>(units: &'a [Value], kind: &str) -> Vec<&'a str> {
    let of_kind = units.iter().filter(|unit| unit["type"] == kind);
    of_kind.map(|unit| unit["content"].as_str().unwrap()).collect()
}

/// How many units the summaries stand for.
fn elaborated(units: &[Value]) -> usize {
    let of = |unit: &Value| unit["relations"].as_array().map_or(0, Vec::len);
    units.iter().filter(|unit| unit["type"] == "synthesis").map(of).sum()
}

/// Sends a summarize and kills the server so many looks later, or when it is answered; whether it was, and the looks.
fn summarize_and_kill(server: Server, number: u64, looks: u64) -> (bool, u64) {
    let payload = json!({"strategy": "summarize", "filter": {"types": ["finding"]}});
    let message = Message::new("COMPACT", "agent", payload).with("id", format!("compact-{number}"));
    let (mut client, mut watcher) = (server.client(), server.client());
    let sending = std::thread::spawn(move || {
        client.try_send(&message).is_ok_and(|answer| answer.status == 200)
    });
    let mut looked = 0;
    while looked < looks && !sending.is_finished() {
        watcher.get("/healthz");
        looked += 1;
    }
    server.kill();
    (sending.join().unwrap(), looked)
}

#[test]
fn a_crash_leaves_a_summarize_whole_or_not_at_all() {
    let data = TempDir::new().unwrap();
    let (mut dice, mut usual) = (Dice::seeded(), 0);
    let (mut findings, mut summaries, mut outcomes) = (Vec::new(), Vec::new(), [0, 0]);
    let mut told = 0;
    for round in 0..ROUNDS {
        let server = Settings::dev(data.path()).start();
        let mut client = server.client();
        client.operate("REGISTER", "agent", json!({"id": "agent", "role": "tester"}));
        for number in 0..UNITS {
            let text = format!("r{round}-n{number} the knot was tied.");
            let mut unit = finding(&text);
            unit["intent"]["task_id"] = json!(format!("task-{}", number % 3));
            client.record("agent", unit);
            findings.push(text);
        }
        // The first one may finish, and tells how long it takes.
        let looks = if round == 0 { u64::MAX } else { dice.between(0, usual) };
        let (answered, looked) = summarize_and_kill(server, round, looks);
        if round == 0 {
            usual = looked;
        }

        let server = Settings::dev(data.path()).start();
        let units = units_of(&server.client().attune("agent", scope(10_000)));
        let left = of_type(&units, "finding");
        let written: Vec<String> =
            of_type(&units, "synthesis").into_iter().map(str::to_owned).collect();
        if left.is_empty() {
            told += findings.len();
            assert!(elaborated(&units) >= told, "archived without a summary");
            assert_ne!(written, summaries, "what is new is told");
            findings.clear();
            outcomes[0] += 1;
        } else {
            let mut left = left;
            left.sort_unstable();
            findings.sort_unstable();
            assert!(!answered, "what was acknowledged is gone");
            assert_eq!(left, findings);
            assert_eq!(written, summaries);
            outcomes[1] += 1;
        }
        summaries = written;
        server.kill();
    }
    println!("{} whole, {} not at all", outcomes[0], outcomes[1]);
    verify_is_green(data.path());
}
