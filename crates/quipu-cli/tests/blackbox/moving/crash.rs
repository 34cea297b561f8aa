//! A move that is killed, again and again and each time a little later: the next call goes on.

use std::{process::Stdio, thread, time::Duration};

use quipu_testbed::{NatsServers, PostgresServer};
use tempfile::TempDir;

use super::work::{embedded, move_log, verified, work};
use crate::support::{Settings, binary, finding, refused};

/// How much later each kill comes.
const STEP: Duration = Duration::from_millis(25);
/// Enough steps that only a move that never ends reaches it.
const STEPS: u32 = 4000;

/// Starts a move and kills it after a while. True if it came to its end before.
fn cut_off(from: &str, to: &str, after: Duration) -> bool {
    let mut command = binary();
    command.args(["move", "--from", from, "--to", to]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::park_timeout(after);
    match child.try_wait().unwrap() {
        Some(status) => {
            assert!(status.success(), "it failed by itself: {status}");
            true
        }
        None => {
            child.kill().unwrap();
            child.wait().unwrap();
            false
        }
    }
}

fn survives_kills(target: &str) {
    let (data, node) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = Settings::dev(data.path()).start();
    work(&mut server.client(), 600);
    server.stop();
    let source = embedded(data.path());
    let before = verified(&source);
    let ended = (1..=STEPS).find(|step| cut_off(&source, target, STEP * *step));
    assert!(ended.is_some_and(|step| step > 1), "it was killed at least once: {ended:?}");
    let again = move_log(&source, target).succeeded().stdout;
    assert!(again.contains("was moved before"), "{again}");
    assert_eq!((verified(&source), verified(target)), (before.clone(), before));
    let server = Settings::dev(node.path()).argument("--log").argument(target).start();
    server.client().record("ana", finding("the target takes writes"));
}

#[test]
fn a_move_to_postgres_survives_a_kill_at_any_moment() {
    survives_kills(&PostgresServer::start().url());
}

#[test]
fn a_move_to_nats_survives_a_kill_at_any_moment() {
    survives_kills(&NatsServers::one().url());
}

#[test]
fn a_move_to_a_directory_survives_a_kill_at_any_moment() {
    let directory = TempDir::new().unwrap();
    let (data, target) = (TempDir::new().unwrap(), embedded(directory.path()));
    let server = Settings::dev(data.path()).start();
    work(&mut server.client(), 300);
    server.stop();
    let source = embedded(data.path());
    let before = verified(&source);
    let ended = (1..=STEPS).find(|step| cut_off(&source, &target, STEP * *step));
    assert!(ended.is_some());
    assert_eq!(verified(&target), before);
}

#[test]
fn a_target_takes_no_writes_before_it_is_whole() {
    use quipu_log::{Engine as _, FieldName, Head, SqliteEngine, SqliteOptions};
    let (data, target, postgres) =
        (TempDir::new().unwrap(), TempDir::new().unwrap(), PostgresServer::start());
    let server = Settings::dev(data.path()).start();
    work(&mut server.client(), 5);
    server.stop();
    // What a move that was killed in the middle of its copying leaves: a part of the log, and the secrets.
    let field = FieldName::default_field();
    let source = SqliteEngine::open(data.path(), SqliteOptions::default()).unwrap();
    let half = source.read(&field, 1, 4).unwrap();
    let engine = quipu_engines::PostgresEngine::open(&postgres.url()).unwrap();
    engine.receive(&field, &Head::EMPTY, &half).unwrap();
    drop((source, engine));
    for secret in ["vault.key", "receipt.key"] {
        std::fs::copy(data.path().join(secret), target.path().join(secret)).unwrap();
    }
    let node = Settings::dev(target.path()).argument("--log").argument(&postgres.url()).start();
    let refusal = node.client().operate("RECORD", "ana", finding("too early"));
    assert!(refused(&refusal, 503, "FIELD_UNAVAILABLE").contains("sealed"));
    move_log(&embedded(data.path()), &postgres.url()).succeeded();
    let mut client = node.client();
    crate::support::wait_until(60, "the node takes writes", || {
        let answer = client.operate("RECORD", "ana", finding("in time"));
        (answer.status == 200).then_some(())
    });
}
