//! Moves that must not be: each is refused in a sentence, and changes nothing.

use quipu_log::{Engine as _, FieldName, SqliteEngine, SqliteOptions};
use tempfile::TempDir;

use super::work::{embedded, move_log, verified};
use crate::support::Settings;

fn log_of(agents: &[&str]) -> TempDir {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    for agent in agents {
        server.client().register(agent, "researcher");
    }
    server.stop();
    data
}

/// The field as its engine sees it, which nothing else may have open.
fn is_sealed(data: &TempDir) -> bool {
    let engine = SqliteEngine::open(data.path(), SqliteOptions::default()).unwrap();
    engine.is_sealed(&FieldName::default_field()).unwrap()
}

#[track_caller]
fn is_refused(from: &str, to: &str, word: &str) {
    let refused = move_log(from, to).failed();
    assert!(refused.stderr.contains(word), "{}", refused.stderr);
}

#[test]
fn what_is_no_log_or_the_same_one_is_refused() {
    let data = log_of(&["ana"]);
    let source = embedded(data.path());
    is_refused(&source, &source, "the same place");
    is_refused(&source, &format!("{source}/."), "the same place");
    is_refused(&source, "redis://me:secret@host/1", "`redis:`");
    is_refused(&source, "memory:", "in memory");
    is_refused("sqlite:/no/such/directory", &source, "/no/such/directory");
    let empty = TempDir::new().unwrap();
    is_refused(&embedded(empty.path()), &source, "nothing to move");
    assert!(!is_sealed(&data));
}

#[test]
fn a_directory_that_a_server_uses_is_refused() {
    let (data, target) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = Settings::dev(data.path()).start();
    server.client().register("ana", "researcher");
    is_refused(&embedded(data.path()), &embedded(target.path()), "in use");
    server.client().register("bob", "researcher");
}

#[test]
fn a_target_with_another_history_is_refused_and_nothing_is_sealed() {
    let (one, other) = (log_of(&["ana", "bob"]), log_of(&["cleo"]));
    let (source, target) = (embedded(one.path()), embedded(other.path()));
    let before = (verified(&source), verified(&target));
    is_refused(&source, &target, "another history");
    assert_eq!((verified(&source), verified(&target)), before);
    assert!(!is_sealed(&one) && !is_sealed(&other));
    // Nor is a copy of the beginning one, if it takes writes of its own.
    let copy = TempDir::new().unwrap();
    let engine = SqliteEngine::open(one.path(), SqliteOptions::default()).unwrap();
    let field = FieldName::default_field();
    let page = engine.read(&field, 1, 1).unwrap();
    let begun = SqliteEngine::open(copy.path(), SqliteOptions::default()).unwrap();
    begun.append(&field, &quipu_log::Head::EMPTY, &page).unwrap();
    drop((engine, begun));
    is_refused(&source, &embedded(copy.path()), "writes of its own");
}

#[test]
fn a_log_that_somebody_else_sealed_is_refused() {
    let (data, target) = (log_of(&["ana"]), TempDir::new().unwrap());
    let engine = SqliteEngine::open(data.path(), SqliteOptions::default()).unwrap();
    engine.seal(&FieldName::default_field()).unwrap();
    drop(engine);
    is_refused(&embedded(data.path()), &embedded(target.path()), "sealed, and by no move");
}

#[test]
fn a_log_that_was_moved_goes_nowhere_else_unless_it_is_meant() {
    let (data, first, second) =
        (log_of(&["ana"]), TempDir::new().unwrap(), TempDir::new().unwrap());
    let source = embedded(data.path());
    move_log(&source, &embedded(first.path())).succeeded();
    is_refused(&source, &embedded(second.path()), "was moved to");
    let second = embedded(second.path());
    crate::support::quipu(["move", "--from", &source, "--to", &second, "--instead"]).succeeded();
    assert_eq!(verified(&source), verified(&second));
}

#[test]
fn a_damaged_log_is_refused_before_it_is_sealed() {
    let (data, target) = (log_of(&["ana", "bob", "cleo"]), TempDir::new().unwrap());
    let file = data.path().join("fields/default/log.sqlite");
    let database = rusqlite::Connection::open(&file).unwrap();
    let sql = "UPDATE commits SET header = replace(header, 'bob', 'rob') WHERE position = 2";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    drop(database);
    is_refused(&embedded(data.path()), &embedded(target.path()), "position 2");
    assert!(!is_sealed(&data));
}
