//! `quipu register`, `record`, `attune` and `status` against a running server, as a person types them.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Finished, Server, Settings, quipu, units_of};

struct Terminal {
    url: String,
    // Dropped in this order: the server goes before its directory.
    server: Server,
    _data: TempDir,
}

fn start() -> Terminal {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    Terminal { url: format!("http://{}", server.address), server, _data: data }
}

impl Terminal {
    fn run(&self, arguments: &[&str]) -> Finished {
        let (command, rest) = arguments.split_first().unwrap();
        quipu([&[command, "--url", &self.url][..], rest].concat())
    }
}

const RECORD: [&str; 11] = [
    "record",
    "--agent",
    "ada",
    "--type",
    "finding",
    "--purpose",
    "choose a database",
    "--confidence",
    "0.9",
    "--reasoning",
    "measured twice",
];

#[test]
fn a_unit_recorded_by_one_agent_is_shown_to_another_with_its_reason() {
    let t = start();
    t.run(&["register", "--agent", "ada", "--role", "researcher"]).succeeded();
    let recorded = t.run(&[&RECORD[..], &["SQLite is fast enough"]].concat()).succeeded();
    assert!(recorded.stdout.contains("mem-"), "{}", recorded.stdout);
    let hint = ["--hint", "which database is fast enough?"];
    let asked = [&["attune", "--agent", "bob", "--role", "engineer"][..], &hint].concat();
    let shown = t.run(&asked).succeeded().stdout;
    for part in ["SQLite is fast enough", "finding", "ada", "why:", "1 of 1 units"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    let status = t.run(&["status"]).succeeded().stdout;
    assert!(status.contains("default") && status.contains("1 active"), "{status}");
}

#[test]
fn the_raw_answer_is_the_servers_own() {
    let t = start();
    let record = [&RECORD[..], &["--role", "researcher", "--json", "the content"]].concat();
    let recorded: Value = serde_json::from_str(&t.run(&record).succeeded().stdout).unwrap();
    assert_eq!(recorded["status"], "accepted");
    let attune = ["attune", "--agent", "bob", "--role", "engineer", "--json"];
    let seen: Value = serde_json::from_str(&t.run(&attune).succeeded().stdout).unwrap();
    assert_eq!(units_of(&seen)[0]["id"], recorded["memory_unit_id"]);
    assert_eq!(units_of(&seen)[0]["content"], "the content");
    let status: Value =
        serde_json::from_str(&t.run(&["status", "--json"]).succeeded().stdout).unwrap();
    assert_eq!(status, t.server.client().get("/v1/field/status").ok());
}

#[test]
fn content_may_come_from_stdin_and_a_message_id_makes_it_safe_to_repeat() {
    let t = start();
    t.run(&["register", "--agent", "ada", "--role", "researcher"]).succeeded();
    for _ in 0..2 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_quipu"))
            .args(RECORD)
            .args(["--url", &t.url, "--message-id", "note-1", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all("two lines\nof a note\n".as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    let attune = ["attune", "--agent", "ada", "--own", "--json"];
    let seen: Value = serde_json::from_str(&t.run(&attune).succeeded().stdout).unwrap();
    let units = units_of(&seen);
    assert_eq!(units.len(), 1);
    assert_eq!(units[0]["content"], "two lines\nof a note");
}

#[test]
fn a_refusal_shows_its_code_its_message_and_what_to_do() {
    let t = start();
    let stranger = t.run(&[&RECORD[..], &["x"]].concat()).failed().stderr;
    for part in ["AGENT_NOT_REGISTERED", "ada", "REGISTER"] {
        assert!(stranger.contains(part), "{part} is not in {stranger}");
    }
    let unsure = ["record", "--agent", "ada", "--role", "r", "--type", "finding", "--purpose", "p"];
    let unsure = t.run(&[&unsure[..], &["x"]].concat()).failed().stderr;
    assert!(unsure.contains("MISSING_CONFIDENCE") && unsure.contains("draft"), "{unsure}");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let gone = start();
    let url = gone.url.clone();
    gone.server.kill();
    let failed = quipu(["status", "--url", &url]).failed().stderr;
    assert!(failed.contains(url.trim_start_matches("http://")), "{failed}");
    assert!(failed.contains("quipu serve"), "{failed}");
}

#[test]
fn text_of_an_agent_cannot_move_the_cursor_of_whoever_reads_it() {
    let t = start();
    let evil = "before \u{1b}[2J\u{1b}]0;title\u{7} after";
    t.run(&[&RECORD[..], &["--role", "r", evil]].concat()).succeeded();
    let shown = t.run(&["attune", "--agent", "bob", "--role", "r"]).succeeded().stdout;
    assert!(shown.contains("before") && shown.contains("after"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown:?}");
}
