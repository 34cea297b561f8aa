//! What a server must promise before it is trusted with a log.

use quipu_engines::{OpenError, PostgresEngine};
use quipu_log::{
    Engine, EngineError, Head,
    conformance::{Chain, field},
};

use quipu_testbed::PostgresServer;

fn refused(server: &PostgresServer) -> OpenError {
    PostgresEngine::open(&server.url()).expect_err("the server is not fit")
}

#[test]
fn a_server_that_may_lose_what_it_acknowledged_is_refused_with_the_line_to_change() {
    for (setting, line) in
        [("fsync=off", "fsync = on"), ("synchronous_commit=off", "synchronous_commit = on")]
    {
        let error = refused(&PostgresServer::with_settings(&[setting]));
        assert!(matches!(error, OpenError::Unfit { .. }), "{setting}: {error}");
        assert!(error.advice().contains(line), "{setting}: {}", error.advice());
    }
}

#[test]
fn a_promise_that_is_broken_later_stops_appends_and_not_reads() {
    let server = PostgresServer::start();
    let (name, mut chain) = (field("f"), Chain::new(1));
    let engine = PostgresEngine::open(&server.url()).unwrap();
    engine.append(&name, &Head::EMPTY, &chain.take(1)).unwrap();
    server.sql("ALTER SYSTEM SET synchronous_commit = off");
    server.sql("SELECT pg_reload_conf()");
    let head = chain.head();
    // The server's sessions take the change a moment later, so the first may still be taken, and durably.
    let mut expected = head;
    let error = loop {
        let batch = Chain::from(expected, 1).take(1);
        match engine.append(&name, &expected, &batch) {
            Ok(moved) => expected = moved,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, EngineError::Unavailable { .. }), "{error}");
    assert_eq!(engine.head(&name).unwrap(), expected);
    server.sql("ALTER SYSTEM RESET synchronous_commit");
    server.sql("SELECT pg_reload_conf()");
    let again = PostgresEngine::open(&server.url()).expect("it promises again");
    again.append(&name, &expected, &Chain::from(expected, 1).take(1)).expect("append");
}

#[test]
fn tables_of_a_newer_version_are_refused_and_left_alone() {
    let server = PostgresServer::start();
    drop(PostgresEngine::open(&server.url()).unwrap());
    server.sql("INSERT INTO quipu.format (version) VALUES (99)");
    let error = refused(&server);
    assert!(matches!(error, OpenError::NewerFormat { found: 99, .. }), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    let error = PostgresEngine::open("postgres://me:secret@127.0.0.1:1/quipu").unwrap_err();
    let text = with_causes(&error);
    assert!(matches!(error, OpenError::Unreachable { .. }), "{text}");
    assert!(text.contains("127.0.0.1:1") && !text.contains("secret"), "{text}");
}

/// The error with its causes, as an operator sees it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
