//! A turn is lost: its holder hangs, is cut off, or the database ends it.

use quipu_engines::PostgresEngine;
use quipu_log::{
    Engine, EngineError, FieldName, Head,
    conformance::{Chain, field},
};

use quipu_testbed::{PostgresServer, Proxy, url_at};

/// A field with one commit.
fn begun(engine: &PostgresEngine) -> (FieldName, Head) {
    let name = field("f");
    let head = engine.append(&name, &Head::EMPTY, &Chain::new(1).take(1)).unwrap();
    (name, head)
}

#[test]
fn a_turn_that_nobody_uses_ends_by_itself() {
    let server = PostgresServer::start();
    let [idle, other] = [(); 2].map(|()| PostgresEngine::open(&server.url()).unwrap());
    let (name, head) = begun(&idle);
    idle.take_turn(&name, &head).unwrap().expect("it is free");
    let end = other.append(&name, &head, &Chain::from(head, 2).take(1)).expect("it waits for it");
    let late = idle.append(&name, &head, &Chain::from(head, 3).take(1)).unwrap_err();
    assert!(matches!(late, EngineError::HeadMoved { actual } if actual == end), "{late}");
    assert_eq!(idle.take_turn(&name, &head).unwrap().expect("it is free"), end);
}

#[test]
fn a_node_that_is_cut_off_does_not_keep_its_turn() {
    let server = PostgresServer::start();
    let proxy = Proxy::to(server.port());
    let cut_off = PostgresEngine::open(&url_at(proxy.port())).unwrap();
    let other = PostgresEngine::open(&server.url()).unwrap();
    let (name, head) = begun(&cut_off);
    cut_off.take_turn(&name, &head).unwrap().expect("it is free");
    // Not a byte arrives any more, and no connection ends: only the database can end the turn.
    proxy.mute();
    proxy.deafen();
    let end = other.append(&name, &head, &Chain::from(head, 2).take(1)).expect("it waits for it");
    proxy.heal();
    let late = cut_off.append(&name, &head, &Chain::from(head, 3).take(1)).unwrap_err();
    assert!(matches!(late, EngineError::HeadMoved { actual } if actual == end), "{late}");
}

#[test]
fn an_append_whose_turn_the_database_ended_is_one_as_any_other() {
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut head) = begun(&engine);
    for seed in 0..4 {
        engine.take_turn(&name, &head).unwrap().expect("it is free");
        let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE state = 'idle in transaction'";
        assert_eq!(server.sql(ended), "1", "the turn is a transaction");
        let batch = Chain::from(head, seed).take(1);
        head = match engine.append(&name, &head, &batch) {
            Ok(end) => end,
            // The end of the connection was not seen before the append was sent: it is settled that it never happens.
            Err(EngineError::Unavailable { .. }) => engine.append(&name, &head, &batch).unwrap(),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(engine.head(&name).unwrap(), head);
    }
}

#[test]
fn more_turns_than_a_node_has_connections_are_refused_and_nothing_waits() {
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let names: Vec<FieldName> = (0..20).map(|at| field(&format!("f{at}"))).collect();
    let head = Chain::new(1).take(1).pop().unwrap().head();
    for name in &names {
        engine.append(name, &Head::EMPTY, &Chain::new(1).take(1)).unwrap();
    }
    let taken =
        names.iter().filter(|name| engine.take_turn(name, &head).unwrap().is_some()).count();
    assert!((1..names.len()).contains(&taken), "{taken} turns");
    for name in &names {
        engine.append(name, &head, &Chain::from(head, 2).take(1)).expect("with a turn or without");
    }
}
