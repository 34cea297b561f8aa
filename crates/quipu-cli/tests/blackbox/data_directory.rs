//! The data directory as an operator may find it: in use, out of reach, of a newer version, damaged.
//! Damage is refused and named, or has changed nothing that can be read.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use tempfile::TempDir;

use crate::support::{
    Client, Finished, Settings, draft, finding, quipu, relating, scope, units_of, verify_is_green,
};

const LOG: &str = "fields/default/log.sqlite";
const WAL: &str = "fields/default/log.sqlite-wal";
const HEAD: &str = "fields/default/head";

/// A short history with every kind of event.
fn write_history(client: &mut Client) {
    client.register("a", "tester");
    client.register("b", "tester");
    let first = client.record("a", finding("the first unit of a small log"));
    let first = first["memory_unit_id"].as_str().unwrap().to_owned();
    client.record("b", relating("the second says otherwise", "contradicts", &first));
    client.record("a", draft("a thought"));
    client.record("b", relating("the first again, corrected", "supersedes", &first));
    client.operate("DEREGISTER", "a", json!({"agent_id": "a"})).ok();
}

/// A directory with that history, stopped in order: everything is in the database file.
fn stopped_history() -> TempDir {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    write_history(&mut server.client());
    server.stop();
    data
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn verify(data: &Path) -> Finished {
    quipu(["verify", "--data", data.to_str().unwrap()])
}

fn export(data: &Path) -> Finished {
    quipu(["export", "--data", data.to_str().unwrap(), "--field", "default", "--out", "-"])
}

/// A change to one file of a copy.
struct Change {
    file: &'static str,
    kind: Kind,
    /// What a refusal must name, if there must be one.
    must_name: Option<String>,
}

#[derive(Debug)]
enum Kind {
    FlipBitOfByte(usize),
    CutTo(usize),
}

fn flip(file: &'static str, at: usize) -> Change {
    Change { file, kind: Kind::FlipBitOfByte(at), must_name: None }
}

fn cut(file: &'static str, length: usize) -> Change {
    Change { file, kind: Kind::CutTo(length), must_name: None }
}

impl Change {
    fn apply(&self, data: &Path) {
        let path = data.join(self.file);
        let mut bytes = fs::read(&path).unwrap();
        match self.kind {
            Kind::FlipBitOfByte(at) => bytes[at] ^= 1 << (at % 8),
            Kind::CutTo(length) => bytes.truncate(length),
        }
        fs::write(&path, bytes).unwrap();
    }
}

/// Runs `check` on a copy with each change, several at a time, and shows all that it found wrong.
fn check_each(
    original: &Path,
    changes: &[Change],
    check: impl Fn(&Path, &Change) -> Result<(), String> + Sync,
) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                while let Some(change) = changes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let copy = TempDir::new().unwrap();
                    copy_tree(original, copy.path());
                    change.apply(copy.path());
                    if let Err(problem) = check(copy.path(), change) {
                        wrong
                            .lock()
                            .unwrap()
                            .push(format!("{:?} of {}: {problem}", change.kind, change.file));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), changes.len(), wrong.join("\n"));
}

/// `verify` refuses and says what, or everything reads back as it was.
fn named_or_harmless(data: &Path, change: &Change, exported: &str) -> Result<(), String> {
    let verdict = verify(data);
    match (verdict.code, &change.must_name) {
        (Some(0), Some(name)) => Err(format!("{name} is not named")),
        (Some(0), None) => {
            let now = export(data);
            let same = now.code == Some(0) && now.stdout == exported;
            if same { Ok(()) } else { Err(format!("verify is green, export: {}", now.stderr)) }
        }
        (Some(1), name) => {
            let said = verdict.said();
            if said.contains("panicked") {
                return Err(said);
            }
            let name = name.as_deref().unwrap_or("field default is damaged");
            if said.contains(name) { Ok(()) } else { Err(format!("{name} is not in {said}")) }
        }
        (code, _) => Err(format!("ended with {code:?}: {}", verdict.said())),
    }
}

/// About so many positions, spread evenly over a file.
fn spread(length: usize, samples: usize) -> impl Iterator<Item = usize> {
    // An odd step, so that no page is always hit at the same place.
    (0..length).step_by((length / samples).max(1) | 1)
}

fn length_of(data: &Path, file: &str) -> usize {
    usize::try_from(fs::metadata(data.join(file)).unwrap().len()).unwrap()
}

#[test]
fn a_flipped_bit_anywhere_in_the_database_is_named_or_changes_nothing() {
    let data = stopped_history();
    let exported = export(data.path()).succeeded().stdout;
    let changes: Vec<Change> =
        spread(length_of(data.path(), LOG), 200).map(|at| flip(LOG, at)).collect();
    assert!(changes.len() >= 150);
    check_each(data.path(), &changes, |data, change| named_or_harmless(data, change, &exported));
}

/// Where each commit's stored texts lie in the database file.
fn commit_bytes(data: &Path) -> Vec<(u64, usize)> {
    let file = fs::read(data.join(LOG)).unwrap();
    let database = rusqlite::Connection::open_with_flags(
        data.join(LOG),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
    )
    .unwrap();
    let mut rows = database
        .prepare("SELECT position, header, coalesce(bodies, '') FROM commits ORDER BY position")
        .unwrap();
    let rows = rows
        .query_map([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        })
        .unwrap();
    let mut found = Vec::new();
    for row in rows {
        let (position, header, bodies) = row.unwrap();
        for text in [header, bodies].iter().filter(|text| !text.is_empty()) {
            let at = file.windows(text.len()).position(|window| window == text.as_bytes());
            let at = at.unwrap_or_else(|| panic!("commit {position} is not in one piece"));
            let position = u64::try_from(position).unwrap();
            found.extend((at..at + text.len()).map(|byte| (position, byte)));
        }
    }
    found
}

#[test]
fn a_flipped_bit_inside_a_commit_is_always_named_with_its_position() {
    let data = stopped_history();
    let bytes = commit_bytes(data.path());
    let changes: Vec<Change> = spread(bytes.len(), 200)
        .map(|index| {
            let (position, at) = bytes[index];
            Change { must_name: Some(format!("position {position}:")), ..flip(LOG, at) }
        })
        .collect();
    check_each(data.path(), &changes, |data, change| named_or_harmless(data, change, ""));
}

#[test]
fn a_server_refuses_to_start_on_a_flipped_commit_and_names_its_position() {
    let data = stopped_history();
    let bytes = commit_bytes(data.path());
    let changes: Vec<Change> = spread(bytes.len(), 16)
        .map(|index| {
            let (position, at) = bytes[index];
            Change { must_name: Some(format!("position {position}:")), ..flip(LOG, at) }
        })
        .collect();
    check_each(data.path(), &changes, |data, change| {
        let before = fs::read(data.join(LOG)).unwrap();
        let end = Settings::dev(data).try_start().err().ok_or("it serves")?;
        if end.code != Some(1) {
            return Err(format!("ended with {:?}: {}", end.code, end.said()));
        }
        let name = change.must_name.as_deref().unwrap();
        if !end.stderr.contains(name) {
            return Err(format!("{name} is not in {}", end.stderr));
        }
        let untouched = fs::read(data.join(LOG)).unwrap() == before;
        if untouched { Ok(()) } else { Err("the damaged file was written to".to_owned()) }
    });
}

#[test]
fn a_flipped_bit_anywhere_in_the_head_mark_is_named_or_changes_nothing() {
    let data = stopped_history();
    let exported = export(data.path()).succeeded().stdout;
    let changes: Vec<Change> = (0..length_of(data.path(), HEAD)).map(|at| flip(HEAD, at)).collect();
    assert_eq!(changes.len(), 1024);
    check_each(data.path(), &changes, |data, change| named_or_harmless(data, change, &exported));
}

#[test]
fn a_truncated_or_missing_database_is_refused() {
    let data = stopped_history();
    let length = length_of(data.path(), LOG);
    let cuts = (0..length).step_by(1024).chain([1, 99, length - 1]);
    let mut changes: Vec<Change> = cuts.map(|length| cut(LOG, length)).collect();
    changes.extend([0, 1, 511, 512, 1023].map(|length| cut(HEAD, length)));
    check_each(data.path(), &changes, |data, change| {
        let verdict = verify(data);
        if verdict.code != Some(1) || verdict.said().contains("panicked") {
            return Err(format!("ended with {:?}: {}", verdict.code, verdict.said()));
        }
        if change.file == HEAD {
            return Ok(());
        }
        let end = Settings::dev(data).try_start().err().ok_or("it serves")?;
        if end.code == Some(1) { Ok(()) } else { Err(format!("{:?}: {}", end.code, end.said())) }
    });
    fs::remove_file(data.path().join(LOG)).unwrap();
    assert!(verify(data.path()).failed().said().contains("default"));
    Settings::dev(data.path()).start_refused();
}

#[test]
fn damage_to_what_a_crash_left_is_named_or_changes_nothing() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    write_history(&mut server.client());
    server.kill();
    let exported = export(data.path()).succeeded().stdout;
    assert_eq!(exported.lines().count(), 7);
    let length = length_of(data.path(), WAL);
    assert!(length > 0, "a crash leaves the write-ahead log");
    let mut changes: Vec<Change> = spread(length, 150).map(|at| flip(WAL, at)).collect();
    changes.extend((0..length).step_by(2048).map(|length| cut(WAL, length)));
    check_each(data.path(), &changes, |data, change| named_or_harmless(data, change, &exported));
}

#[test]
fn a_directory_in_use_is_refused_by_name_and_its_server_is_not_disturbed() {
    let data = TempDir::new().unwrap();
    let settings = Settings::dev(data.path());
    let server = settings.start();
    let mut client = server.client();
    client.register("a", "tester");
    for _ in 0..2 {
        let refused = settings.start_refused();
        assert!(refused.stderr.contains(data.path().to_str().unwrap()), "{}", refused.stderr);
        assert!(refused.stderr.contains("in use"), "{}", refused.stderr);
    }
    assert_eq!(client.record("a", finding("still here"))["status"], "accepted");
    let exported = export(data.path()).succeeded().stdout;
    let place = TempDir::new().unwrap();
    let file = place.path().join("field.jsonl");
    fs::write(&file, exported).unwrap();
    let imported = import_into(data.path(), "second", &file).failed();
    assert!(imported.stderr.contains("in use"), "{}", imported.stderr);
    verify_is_green(data.path());
    server.kill();
    settings.start();
}

#[test]
fn a_directory_that_cannot_be_made_is_refused_by_name() {
    let place = TempDir::new().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "not a directory").unwrap();
    for path in [file.clone(), file.join("data"), PathBuf::from("/proc/quipu-data")] {
        let refused = Settings::dev(&path).start_refused();
        assert!(refused.stderr.contains(path.to_str().unwrap()), "{}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a directory");
}

#[test]
fn a_directory_of_something_else_or_of_nothing_is_not_verified() {
    let place = TempDir::new().unwrap();
    let missing = place.path().join("missing");
    assert!(verify(&missing).failed().stderr.contains(missing.to_str().unwrap()));
    assert!(!missing.exists(), "looking makes nothing");
    assert!(verify(place.path()).failed().stderr.contains(place.path().to_str().unwrap()));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    fs::create_dir(place.path().join("fields")).unwrap();
    let refused = Settings::dev(place.path()).start_refused();
    assert!(refused.stderr.contains("format"), "{}", refused.stderr);
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let data = stopped_history();
    let format = data.path().join("format");
    let known = fs::read_to_string(&format).unwrap();
    fs::write(&format, "quipu-data 2\n").unwrap();
    for refused in [Settings::dev(data.path()).start_refused(), verify(data.path()).failed()] {
        assert!(refused.stderr.contains("newer"), "{}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(&format).unwrap(), "quipu-data 2\n");
    fs::write(&format, known).unwrap();

    let database = rusqlite::Connection::open(data.path().join(LOG)).unwrap();
    database.pragma_update(None, "user_version", 2).unwrap();
    drop(database);
    for refused in [Settings::dev(data.path()).start_refused(), verify(data.path()).failed()] {
        assert!(refused.said().contains("newer"), "{}", refused.said());
    }
}

fn import_into(data: &Path, field: &str, file: &Path) -> Finished {
    let (data, file) = (data.to_str().unwrap(), file.to_str().unwrap());
    quipu(["import", "--data", data, "--field", field, "--in", file])
}

fn import(data: &Path, file: &Path) -> Finished {
    import_into(data, "default", file)
}

#[test]
fn an_export_imported_elsewhere_has_the_same_head_and_the_same_state() {
    let data = stopped_history();
    let exported = export(data.path()).succeeded().stdout;
    let place = TempDir::new().unwrap();
    let (file, copy) = (place.path().join("field.jsonl"), place.path().join("copy"));
    fs::write(&file, &exported).unwrap();
    import(&copy, &file).succeeded();
    let (before, after) = (verify_is_green(data.path()), verify_is_green(&copy));
    assert_eq!((&before["head"], &before["state"]), (&after["head"], &after["state"]));
    assert!(after["head"].is_string() && after["state"].is_string(), "{after}");
    assert_eq!(export(&copy).succeeded().stdout, exported);

    let again = import(&copy, &file).failed();
    assert!(again.stderr.contains("default"), "{}", again.stderr);
    let served = |data: &Path| {
        let server = Settings::dev(data).start();
        let units = units_of(&server.client().attune("b", scope(10)));
        server.stop();
        units
    };
    assert_eq!(served(&copy), served(data.path()));
}

#[test]
fn a_flipped_byte_in_any_line_of_an_export_is_refused_with_its_position() {
    let data = stopped_history();
    let exported = export(data.path()).succeeded().stdout;
    let place = TempDir::new().unwrap();
    for (index, line) in exported.lines().enumerate() {
        for share in 1..6 {
            let mut bytes = exported.clone().into_bytes();
            let start: usize = exported.lines().take(index).map(|line| line.len() + 1).sum();
            let at = start + line.len() * share / 6;
            bytes[at] ^= 1;
            let (file, copy) = (place.path().join("flipped"), place.path().join("copy"));
            fs::write(&file, bytes).unwrap();
            let refused = import(&copy, &file).failed();
            let position = index + 1;
            let named = refused.stderr.contains(&format!("position {position}"))
                || refused.stderr.contains(&format!("line {position}"));
            assert!(named, "byte {at} of line {position}: {}", refused.stderr);
            assert!(!copy.join(LOG).exists(), "nothing of a refused import remains");
            fs::remove_dir_all(&copy).ok();
        }
    }
    for lines in [vec![1, 2, 4], vec![2, 3], vec![1, 1, 2], vec![2, 1]] {
        let all: Vec<&str> = exported.lines().collect();
        let text: String = lines.iter().map(|line| format!("{}\n", all[line - 1])).collect();
        let (file, copy) = (place.path().join("shuffled"), place.path().join("copy"));
        fs::write(&file, text).unwrap();
        let refused = import(&copy, &file).failed();
        assert!(refused.stderr.contains("position"), "{lines:?}: {}", refused.stderr);
        fs::remove_dir_all(&copy).ok();
    }
}

#[test]
fn verify_runs_beside_a_server_and_sees_what_was_acknowledged() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("a", "tester");
    for number in 0..5 {
        client.record("a", finding(&format!("unit {number}")));
        let head = client.get("/v1/field/status").ok()["head"].clone();
        assert_eq!(verify_is_green(data.path())["head"], head);
    }
    assert_eq!(export(data.path()).succeeded().stdout.lines().count(), 6);
}
