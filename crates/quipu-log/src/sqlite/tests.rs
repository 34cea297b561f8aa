//! What only the SQLite engine promises: one opener, refusals that name the file, room that runs out,
//! storage that fails, and text that is gone when it is erased.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rusqlite::ffi;
use tempfile::TempDir;

use super::*;
use crate::{
    BodyAddress, Engine, EngineError, Head,
    conformance::{Chain, field},
    verify_chain,
};

fn open(dir: &Path) -> SqliteEngine {
    SqliteEngine::open(dir, SqliteOptions::default()).unwrap()
}

/// A data directory with one field `f` of `count` commits, closed.
fn filled(count: usize) -> (TempDir, Chain) {
    let dir = tempfile::tempdir().unwrap();
    let mut chain = Chain::new(1);
    open(dir.path()).append(&field("f"), &Head::EMPTY, &chain.take(count)).unwrap();
    (dir, chain)
}

fn log_file(dir: &Path) -> PathBuf {
    dir.join("fields/f/log.sqlite")
}

fn sql(dir: &Path, statements: &str) {
    let connection = rusqlite::Connection::open(log_file(dir)).unwrap();
    connection.execute_batch(statements).unwrap();
}

/// The error and all its causes, as a person would be shown them.
fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text = format!("{text}: {next}");
        cause = next.source();
    }
    text
}

fn refusal(dir: &Path) -> String {
    words(&open(dir).head(&field("f")).unwrap_err())
}

#[test]
fn refuses_a_second_opener_by_name_until_the_first_is_gone() {
    let (dir, chain) = filled(1);
    let first = open(dir.path());
    let error = SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap_err();
    assert!(matches!(&error, OpenError::InUse { dir: named } if named == dir.path()), "{error}");
    drop(first);
    assert_eq!(open(dir.path()).head(&field("f")).unwrap(), chain.head());
}

#[test]
fn reads_while_another_engine_writes() {
    let (dir, mut chain) = filled(2);
    let writer = open(dir.path());
    let reader = SqliteEngine::open_read_only(dir.path()).unwrap();
    assert_eq!(reader.head(&field("f")).unwrap(), chain.head());
    let head = chain.head();
    writer.append(&field("f"), &head, &chain.take(1)).unwrap();
    let followed = reader.follow(&field("f"), 3, std::time::Duration::from_secs(60), 9).unwrap();
    assert_eq!(followed.len(), 1);
    assert_eq!(reader.head(&field("f")).unwrap(), chain.head());
    let end = chain.head();
    let error = reader.append(&field("f"), &end, &chain.take(1)).unwrap_err();
    assert!(words(&error).contains("open for reading only"), "{error}");
}

#[test]
fn names_the_directory_that_it_may_not_write() {
    // Permissions do not stop the superuser, but nobody can make a directory in /proc.
    let dir = if cfg!(target_os = "linux") {
        PathBuf::from("/proc/quipu-data")
    } else {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.path().join("quipu-data")
    };
    let error = SqliteEngine::open(&dir, SqliteOptions::default()).unwrap_err();
    assert!(matches!(&error, OpenError::Io { path, .. } if *path == dir), "{error}");
    assert!(error.to_string().contains("quipu-data"), "{error}");
    let error = SqliteEngine::open_read_only(&dir).unwrap_err();
    assert!(matches!(error, OpenError::NotADataDirectory { .. }), "{error}");
}

#[cfg(unix)]
fn protect(dir: &Path, writable: bool) {
    use std::os::unix::fs::PermissionsExt;
    let (file, directory) = if writable { (0o600, 0o700) } else { (0o400, 0o500) };
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            protect(&path, writable);
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(file)).unwrap();
        }
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(directory)).unwrap();
}

#[cfg(unix)]
#[test]
fn reads_a_write_protected_directory_and_names_it_when_asked_to_write() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("data with 100% of it");
    let (filled, chain) = filled(3);
    fs::rename(filled.path(), &dir).unwrap();
    protect(&dir, false);
    check_storage(&dir, &field("f")).unwrap();
    let reader = SqliteEngine::open_read_only(&dir).unwrap();
    let head = verify_chain(&reader, &field("f"), Head::EMPTY, &mut |_| Ok(())).unwrap();
    assert_eq!(head, chain.head());
    // The superuser may write all the same; anybody else is told where they may not.
    let refused = SqliteEngine::open(&dir, SqliteOptions::default()).err();
    let named = |error: OpenError| words(&error).contains("data with 100% of it");
    assert!(refused.is_none_or(named));
    protect(&dir, true);
}

#[cfg(unix)]
#[test]
fn lets_only_the_owner_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let engine = open(&data);
    engine.append(&field("f"), &Head::EMPTY, &Chain::new(1).take(1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for inside in ["", "fields", "fields/f"] {
        assert_eq!(mode(&data.join(inside)), 0o700, "{inside}");
    }
    for inside in ["lock", "format", "fields/f/head", "fields/f/log.sqlite"] {
        assert_eq!(mode(&data.join(inside)), 0o600, "{inside}");
    }
    for entry in fs::read_dir(data.join("fields/f")).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn refuses_a_newer_or_foreign_directory_in_words() {
    let (dir, _) = filled(1);
    let open = || SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap_err();
    fs::write(dir.path().join("format"), "quipu-data 2\n").unwrap();
    let error = open();
    assert!(matches!(error, OpenError::NewerFormat { found: 2, supported: 1, .. }), "{error}");
    assert!(error.to_string().contains("use a newer version"), "{error}");
    for other in ["", "quipu-data 1", "quipu-data one\n", "quipu-data 0\n", "something\n"] {
        fs::write(dir.path().join("format"), other).unwrap();
        assert!(matches!(open(), OpenError::NotADataDirectory { .. }), "{other:?}");
    }
    fs::remove_file(dir.path().join("format")).unwrap();
    assert!(matches!(open(), OpenError::NotADataDirectory { .. }));
}

#[test]
fn refuses_a_database_that_is_not_a_log_of_this_version() {
    for (statements, expected) in [
        ("PRAGMA application_id=7", "application id 0x7"),
        ("PRAGMA user_version=2", "has format 2, this program reads up to 1"),
        ("PRAGMA user_version=0", "has version 0"),
        ("CREATE TABLE more (n INTEGER)", "tables that version 1 never wrote"),
        ("DELETE FROM commits WHERE position = 3", "log ends at 2 but 3 was acknowledged"),
        ("UPDATE commits SET epoch = 9 WHERE position = 3", "stored epoch does not match"),
        ("INSERT INTO meta VALUES ('sealed', '2')", "never written"),
        ("INSERT INTO meta VALUES ('other', '3')", "never written"),
    ] {
        let (dir, _) = filled(3);
        sql(dir.path(), statements);
        let error = refusal(dir.path());
        assert!(error.contains(expected), "{statements}: {error}");
        assert!(check_storage(dir.path(), &field("f")).is_err(), "{statements}");
        let reader = SqliteEngine::open_read_only(dir.path()).unwrap();
        assert_eq!(words(&reader.head(&field("f")).unwrap_err()), error);
    }
}

#[test]
fn a_commit_that_is_missing_in_the_middle_is_named_by_the_chain_and_by_the_storage_check() {
    let (dir, _) = filled(3);
    sql(dir.path(), "DELETE FROM commits WHERE position = 2");
    let engine = open(dir.path());
    let broken = crate::verify_chain(&engine, &field("f"), Head::EMPTY, &mut |_| Ok(()));
    assert_eq!(words(&broken.unwrap_err()), "position 3: expected position 2 here");
    let damage = check_storage(dir.path(), &field("f")).unwrap_err();
    assert!(damage.to_string().contains("2 commits are stored"), "{damage}");
}

#[test]
fn names_the_way_out_when_the_acknowledged_tail_is_missing() {
    let (dir, _) = filled(3);
    fs::remove_file(log_file(dir.path())).unwrap();
    let error = refusal(dir.path());
    assert!(error.starts_with("position 1: log ends at 0 but 3 was acknowledged"), "{error}");
    assert!(error.contains("delete the field's `head` file"), "{error}");
    assert!(!log_file(dir.path()).exists(), "a refused log is not replaced by an empty one");
    fs::remove_file(dir.path().join("fields/f/head")).unwrap();
    assert_eq!(open(dir.path()).head(&field("f")).unwrap(), Head::EMPTY);
}

#[test]
fn refuses_another_log_than_the_acknowledged_one() {
    let (dir, _) = filled(3);
    let (other, _) = {
        let dir = tempfile::tempdir().unwrap();
        let batch = Chain::new(9).take(4);
        open(dir.path()).append(&field("f"), &Head::EMPTY, &batch).unwrap();
        (dir, ())
    };
    fs::copy(log_file(other.path()), log_file(dir.path())).unwrap();
    let error = refusal(dir.path());
    assert!(
        error.starts_with("position 3: commit is not the one that was acknowledged"),
        "{error}"
    );
}

#[test]
fn goes_on_without_a_head_mark_and_makes_a_new_one() {
    let (dir, chain) = filled(3);
    let head = dir.path().join("fields/f/head");
    fs::remove_file(&head).unwrap();
    check_storage(dir.path(), &field("f")).unwrap();
    assert_eq!(open(dir.path()).head(&field("f")).unwrap(), chain.head());
    let text = fs::read_to_string(&head).unwrap();
    assert!(text.contains("position 3\n"), "{text}");
}

#[test]
fn survives_one_damaged_slot_of_the_head_mark_and_reports_it() {
    let (dir, mut chain) = filled(1);
    let (path, name) = (dir.path().join("fields/f/head"), field("f"));
    let end = chain.head();
    open(dir.path()).append(&name, &end, &chain.take(1)).unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole.len(), 1024);
    for slot in [0, 512] {
        let mut bytes = whole.clone();
        bytes[slot + 20] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(open(dir.path()).head(&name).unwrap(), chain.head());
        let damage = check_files(dir.path(), &name).unwrap_err().to_string();
        assert_eq!(damage, "position 0: head mark unreadable: a slot of it is damaged");
        assert_eq!(check_storage(dir.path(), &name).unwrap_err().to_string(), damage);
    }
    let both: Vec<u8> = whole.iter().map(|byte| byte ^ 1).collect();
    for unreadable in [&both[..], &whole[..100], &[]] {
        fs::write(&path, unreadable).unwrap();
        let error = refusal(dir.path());
        assert_eq!(error, "position 0: head mark unreadable: no slot of it is whole");
    }
}

#[test]
fn answers_full_and_goes_on_reading_erasing_and_later_appending() {
    let dir = tempfile::tempdir().unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    let small = SqliteOptions { max_log_bytes: Some(64 * 1024) };
    let engine = SqliteEngine::open(dir.path(), small).unwrap();
    let error = loop {
        let head = chain.head();
        let mut next = chain.clone();
        match engine.append(&name, &head, &[next.next_with(&"x".repeat(900))]) {
            Ok(_) => chain = next,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, EngineError::Full), "{error}");
    let count = chain.head().position;
    assert!(count > 20, "{count} commits fitted");
    assert_eq!(engine.head(&name).unwrap(), chain.head());
    assert_eq!(engine.read(&name, 1, 1000).unwrap().len(), usize::try_from(count).unwrap());
    let erased = engine.erase(&name, &[BodyAddress { position: 1, event: 0 }]).unwrap();
    assert_eq!(erased.bodies_erased, 1);
    let again = engine.append(&name, &chain.head(), &[chain.clone().next_with(&"x".repeat(900))]);
    assert!(matches!(again, Err(EngineError::Full)), "{again:?}");
    assert!(fs::metadata(log_file(dir.path())).unwrap().len() <= 64 * 1024);
    drop(engine);
    let roomy = open(dir.path());
    let head = chain.head();
    roomy.append(&name, &head, &chain.take(1)).unwrap();
    assert_eq!(verify_chain(&roomy, &name, Head::EMPTY, &mut |_| Ok(())).unwrap(), chain.head());
}

#[test]
fn poisons_a_field_whose_storage_failed_until_it_is_reopened() {
    let (dir, mut chain) = filled(2);
    let (name, other) = (field("f"), field("other"));
    let engine = open(dir.path());
    let end = chain.head();
    let batch = chain.take(1);
    engine.fail_next_commit(&name, ffi::SQLITE_IOERR_FSYNC);
    let error = engine.append(&name, &end, &batch).unwrap_err();
    assert!(matches!(error, EngineError::Io { .. }), "{error}");
    for error in [
        engine.append(&name, &end, &batch).unwrap_err(),
        engine.erase(&name, &[]).unwrap_err(),
        engine.seal(&name).unwrap_err(),
    ] {
        assert!(matches!(&error, EngineError::Poisoned { reason } if reason.contains("append")));
    }
    assert_eq!(engine.head(&name).unwrap(), end);
    assert_eq!(engine.read(&name, 1, 9).unwrap().len(), 2);
    engine.append(&other, &Head::EMPTY, &Chain::new(2).take(1)).unwrap();
    drop(engine);
    let engine = open(dir.path());
    assert_eq!(engine.append(&name, &end, &batch).unwrap(), chain.head());
}

#[test]
fn rolls_back_and_goes_on_when_the_disk_is_full() {
    let (dir, mut chain) = filled(2);
    let (engine, name) = (open(dir.path()), field("f"));
    let end = chain.head();
    let batch = chain.take(2);
    engine.fail_next_commit(&name, ffi::SQLITE_FULL);
    assert!(matches!(engine.append(&name, &end, &batch), Err(EngineError::Full)));
    assert_eq!(engine.read(&name, 1, 9).unwrap().len(), 2);
    assert_eq!(engine.append(&name, &end, &batch).unwrap(), chain.head());
}

fn files_under(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found
}

/// The words of [`secrets`] that stand anywhere in the directory's files.
fn words_on_disk(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, bytes) in files_under(dir) {
        // A word that a page's end cuts in two is passed over: each text repeats its word.
        for word in bytes.windows(9).filter(|window| window.starts_with(b"secret")) {
            if word[6..].iter().all(u8::is_ascii_digit) {
                found.insert(String::from_utf8(word.to_vec()).unwrap());
            }
        }
    }
    found
}

/// Texts of many sizes, so that rows share pages, fill them, and overflow them; each repeats one word of its own.
fn secrets() -> Vec<(String, String)> {
    let mut state = 7_u32;
    (0..60)
        .map(|n| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let word = format!("secret{n:03}");
            let times = [2, 5, 30, 130, 600, 2200][state as usize / 7 % 6];
            (word.clone(), word.repeat(times))
        })
        .collect()
}

#[test]
fn leaves_erased_text_in_no_file_also_not_in_the_wal() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, name, mut chain) = (open(dir.path()), field("f"), Chain::new(1));
    let secrets = secrets();
    for (_, text) in &secrets {
        let head = chain.head();
        engine.append(&name, &head, &[chain.next_with(text)]).unwrap();
    }
    let wal = fs::metadata(dir.path().join("fields/f/log.sqlite-wal")).unwrap();
    assert!(wal.len() > 0, "the text is in the write-ahead log before it is erased");
    let mut left: BTreeSet<String> = secrets.iter().map(|(word, _)| word.clone()).collect();
    assert_eq!(words_on_disk(dir.path()), left);
    // Every second one first: their neighbours stay, and a copy of one of those would be noticed later.
    for index in (0..60_u32).step_by(2).chain((1..60).step_by(2).rev()) {
        let address = BodyAddress { position: u64::from(index) + 1, event: 0 };
        assert_eq!(engine.erase(&name, &[address]).unwrap().bodies_erased, 1);
        left.remove(&secrets[usize::try_from(index).unwrap()].0);
        assert_eq!(words_on_disk(dir.path()), left);
        // Writing goes on between two erasures.
        if index % 5 == 0 {
            let head = chain.head();
            engine.append(&name, &head, &[chain.next_with("public")]).unwrap();
        }
    }
    assert_eq!(left, BTreeSet::new());
    verify_chain(&engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap();
    drop(engine);
    check_storage(dir.path(), &name).unwrap();
}

#[test]
fn leaves_no_wal_behind_when_closed() {
    let (dir, _) = filled(3);
    let names = fs::read_dir(dir.path().join("fields/f")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["head", "log.sqlite"]);
}

#[test]
fn keeps_bodies_readable_with_plain_sql() {
    let (dir, _) = filled(1);
    let connection = rusqlite::Connection::open(log_file(dir.path())).unwrap();
    let text: String = connection
        .query_row("SELECT bodies->0->'body'->>'text' FROM commits", [], |row| row.get(0))
        .unwrap();
    assert_eq!(text, "text of 1 number 1");
}

#[test]
fn a_statement_is_planned_once_whatever_is_bound_to_it() {
    let (dir, _) = filled(3);
    let connection = schema::open_reader(&log_file(dir.path())).unwrap();
    for limit in 1..=3 {
        let page = rows::read(&connection, 1, 3, limit).unwrap();
        assert_eq!(page.len(), limit);
    }
    let statement = connection.prepare_cached(rows::READ).unwrap();
    assert_eq!(statement.get_status(rusqlite::StatementStatus::Run), 3, "it is the one that ran");
    assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
}
