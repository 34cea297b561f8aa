//! A disk that is full, that fails, or that cannot be written. A small library is loaded into the
//! server before its own: while a trigger file is there, it lets calls on the data directory fail.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;
use tempfile::TempDir;

use crate::support::{
    Client, Server, Settings, finding, refused, scope, units_of, verify_is_green,
};

const SHIM: &str = include_str!("faults_shim.c");

/// A data directory on a disk that can be made to fail.
struct Disk {
    directory: TempDir,
}

impl Disk {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let source = directory.path().join("shim.c");
        fs::write(&source, SHIM).unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(directory.path().join("shim.so"))
            .arg(&source)
            .arg("-ldl")
            .status()
            .unwrap();
        assert!(compiled.success());
        fs::create_dir(directory.path().join("data")).unwrap();
        Self { directory }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("data")
    }

    fn trigger(&self, fault: &str) -> PathBuf {
        self.directory.path().join(fault)
    }

    fn begin(&self, fault: &str) {
        fs::write(self.trigger(fault), "").unwrap();
    }

    fn end(&self, fault: &str) {
        fs::remove_file(self.trigger(fault)).unwrap();
    }

    fn settings(&self) -> Settings {
        Settings::dev(&self.data())
            .environment("LD_PRELOAD", self.directory.path().join("shim.so"))
            .environment("SHIM_DATA", self.data())
            .environment("SHIM_TRIGGERS", self.directory.path())
    }

    fn start(&self) -> (Server, Client) {
        let server = self.settings().start();
        let client = server.client();
        (server, client)
    }
}

fn contents(client: &mut Client) -> Vec<String> {
    let units = units_of(&client.attune("agent", scope(100)));
    let mut contents: Vec<String> =
        units.iter().map(|unit| unit["content"].as_str().unwrap().to_owned()).collect();
    contents.sort();
    contents
}

fn try_record(client: &mut Client, content: &str) -> crate::support::Answer {
    client.operate("RECORD", "agent", finding(content))
}

#[test]
fn a_full_disk_is_storage_full_reads_go_on_and_writes_resume_when_there_is_room() {
    let disk = Disk::new();
    let (server, mut client) = disk.start();
    client.register("agent", "tester");
    client.record("agent", finding("a before"));

    disk.begin("full");
    for _ in 0..3 {
        let answer = try_record(&mut client, "refused");
        refused(&answer, 507, "STORAGE_FULL");
        assert_eq!(answer.json()["recoverable"], false);
        assert_eq!(contents(&mut client), ["a before"], "reads go on");
    }
    let joining = client.operate("REGISTER", "late", json!({"id": "late", "role": "r"}));
    refused(&joining, 507, "STORAGE_FULL");
    assert_eq!(client.get("/healthz").status, 200);

    disk.end("full");
    assert_eq!(client.record("agent", finding("b after"))["status"], "accepted");
    assert_eq!(contents(&mut client), ["a before", "b after"]);
    assert_eq!(client.get("/readyz").status, 200);
    server.kill();
    verify_is_green(&disk.data());
    let (server, mut client) = disk.start();
    assert_eq!(contents(&mut client), ["a before", "b after"]);
    server.stop();
    verify_is_green(&disk.data());
}

#[test]
fn a_new_field_on_a_full_disk_is_storage_full_and_made_when_there_is_room() {
    let disk = Disk::new();
    let (server, mut client) = disk.start();
    client.register("agent", "tester");
    for fault in ["full", "unindexed"] {
        let mut elsewhere =
            server.client().with_header("quipu-field", &format!("on-a-{fault}-disk"));
        disk.begin(fault);
        for _ in 0..2 {
            let joining = elsewhere.operate("REGISTER", "late", json!({"id": "late", "role": "r"}));
            refused(&joining, 507, "STORAGE_FULL");
        }
        disk.end(fault);
        elsewhere.register("late", "tester");
        elsewhere.record("late", finding("made after all"));
    }
    client.record("agent", finding("not disturbed"));
    assert_eq!(client.get("/readyz").status, 200);
    server.stop();
    verify_is_green(&disk.data());
}

#[test]
fn a_message_refused_for_lack_of_room_is_done_once_when_it_is_sent_again() {
    let disk = Disk::new();
    let (_server, mut client) = disk.start();
    client.register("agent", "tester");
    let message = crate::support::Message::new("RECORD", "agent", finding("again"));
    disk.begin("full");
    refused(&client.send(&message), 507, "STORAGE_FULL");
    disk.end("full");
    let first = client.send(&message).ok();
    assert_eq!(client.send(&message).ok(), first);
    assert_eq!(contents(&mut client), ["again"]);
}

/// After this fault nobody knows what the disk holds: writing must stop until the Field is reopened.
fn check_poison(fault: &str) {
    let disk = Disk::new();
    let (server, mut client) = disk.start();
    client.register("agent", "tester");
    client.record("agent", finding("a before"));
    assert_eq!(client.get("/readyz").status, 200);

    disk.begin(fault);
    refused(&try_record(&mut client, "b unknown"), 503, "FIELD_UNAVAILABLE");
    disk.end(fault);
    for _ in 0..3 {
        let answer = try_record(&mut client, "c refused");
        refused(&answer, 503, "FIELD_UNAVAILABLE");
        assert_eq!(answer.json()["recoverable"], true);
    }
    let ready = client.get("/readyz");
    assert_eq!(ready.status, 503, "{}", ready.text());
    assert!(ready.text().contains("default"), "{}", ready.text());
    assert_eq!(contents(&mut client), ["a before"], "reads go on, and show what is certain");
    assert_eq!(client.get("/healthz").status, 200);
    server.kill();

    let (server, mut client) = disk.start();
    let kept = contents(&mut client);
    assert!(kept == ["a before"] || kept == ["a before", "b unknown"], "{kept:?}");
    assert_eq!(client.get("/readyz").status, 200);
    assert_eq!(client.record("agent", finding("d after"))["status"], "accepted");
    server.stop();
    verify_is_green(&disk.data());
}

#[test]
fn a_failed_sync_stops_all_writing_until_the_field_is_opened_again() {
    check_poison("unsynced");
}

#[test]
fn a_failed_write_stops_all_writing_until_the_field_is_opened_again() {
    check_poison("broken");
}

#[test]
fn a_disk_that_fails_at_the_first_start_is_named() {
    for fault in ["full", "broken", "unsynced"] {
        let disk = Disk::new();
        disk.begin(fault);
        let refused = disk.settings().start_refused();
        assert!(refused.stderr.contains(disk.data().to_str().unwrap()), "{}", refused.stderr);
        disk.end(fault);
        let (_server, mut client) = disk.start();
        client.register("agent", "tester");
        client.record("agent", finding("works"));
    }
}

#[test]
fn a_read_only_directory_is_refused_by_name_but_can_be_verified_and_exported() {
    let disk = Disk::new();
    let (server, mut client) = disk.start();
    client.register("agent", "tester");
    client.record("agent", finding("written before"));
    server.stop();
    disk.begin("readonly");
    let refused = disk.settings().start_refused();
    assert!(refused.stderr.contains(disk.data().to_str().unwrap()), "{}", refused.stderr);
    for command in [&["verify"][..], &["export", "--field", "default"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_quipu"))
            .args(command)
            .arg("--data")
            .arg(disk.data())
            .env("LD_PRELOAD", disk.directory.path().join("shim.so"))
            .env("SHIM_DATA", disk.data())
            .env("SHIM_TRIGGERS", disk.directory.path())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    disk.end("readonly");
    let (_server, mut client) = disk.start();
    assert_eq!(contents(&mut client), ["written before"]);
}

#[test]
fn a_log_at_its_quota_is_storage_full_and_a_larger_quota_lets_it_go_on() {
    let data = TempDir::new().unwrap();
    let limited = Settings::dev(data.path()).argument("--max-log-bytes").argument("1000000");
    let server = limited.start();
    let mut client = server.client();
    client.register("agent", "tester");
    let text = |number: usize| format!("{number:04} {}", "knot ".repeat(10_000));
    let mut kept = Vec::new();
    let answer = loop {
        let answer = try_record(&mut client, &text(kept.len()));
        if answer.status != 200 {
            break answer;
        }
        kept.push(text(kept.len()));
        assert!(kept.len() < 100, "no quota holds");
    };
    refused(&answer, 507, "STORAGE_FULL");
    assert!(kept.len() > 5, "{} units of 50 kB in a megabyte", kept.len());
    assert_eq!(contents(&mut client), kept, "reads go on");
    assert!(log_bytes(data.path()) <= 1_000_000);
    server.stop();
    verify_is_green(data.path());

    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    kept.push(text(kept.len()));
    client.record("agent", finding(kept.last().unwrap()));
    assert_eq!(contents(&mut client), kept);
}

fn log_bytes(data: &Path) -> u64 {
    fs::metadata(data.join("fields/default/log.sqlite")).unwrap().len()
}
