//! The server is killed, or the way to it is cut, in the middle of things.

use std::time::Duration;

use quipu_engines::PostgresEngine;
use quipu_log::{
    Engine, EngineError, FieldName, Head,
    conformance::{Chain, field},
    verify_chain,
};

use quipu_testbed::{PostgresServer, Proxy, url_at};

/// Long enough that a statement which fits is carried out; if it is not, the cut comes earlier, that is all.
const SHORT: Duration = Duration::from_millis(500);
/// How long an append may take to reach the server while nobody hears of it, and how often that is tried.
const LOST: Duration = Duration::from_secs(5);
const LOST_ROUNDS: usize = 6;

#[test]
fn what_was_acknowledged_survives_kill_9_of_the_server() {
    let mut server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    for _ in 0..20 {
        engine.append(&name, &chain.head(), &chain.clone().take(2)).unwrap();
        chain.take(2);
    }
    server.kill();
    // A helper of the server may carry out what reaches it before it notices.
    let away = loop {
        match engine.append(&name, &chain.head(), &chain.clone().take(1)) {
            Ok(_) => drop(chain.take(1)),
            Err(away) => break away,
        }
    };
    assert!(matches!(away, EngineError::Unavailable { .. } | EngineError::Io { .. }), "{away}");
    server.run(&[]);
    assert_eq!(engine.head(&name).unwrap(), chain.head());
    let end = verify_chain(&engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap();
    assert_eq!(end, chain.head());
    engine.append(&name, &end, &chain.take(1)).expect("the same engine goes on");
}

/// Asks several things at once, so that several connections are there: what tells other nodes may have one of them.
fn connect(engine: &PostgresEngine, name: &FieldName) {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| engine.head(name).unwrap());
        }
    });
}

#[test]
fn an_append_whose_answer_was_lost_is_settled_as_committed() {
    let server = PostgresServer::start();
    let proxy = Proxy::to(server.port());
    let engine = PostgresEngine::open(&url_at(proxy.port())).unwrap();
    let direct = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    engine.append(&name, &Head::EMPTY, &chain.take(1)).unwrap();
    let mut before = chain.head();
    let mut batch = chain.take(1);
    for _ in 0..LOST_ROUNDS {
        connect(&engine, &name);
        proxy.mute();
        let (arrived, outcome) = std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let seen = direct.follow(&name, batch[0].position, LOST, 1).unwrap();
                proxy.heal();
                !seen.is_empty()
            });
            let outcome = engine.append(&name, &before, &batch);
            (watching.join().unwrap(), outcome)
        });
        if arrived {
            assert_eq!(outcome.expect("it was committed"), chain.head());
            assert_eq!(direct.head(&name).unwrap(), chain.head());
            return;
        }
        // What tells other nodes had the only connection when the answers stopped: the append waited for another one.
        match outcome {
            Ok(head) => (before, batch) = (head, chain.take(1)),
            Err(_) => assert_eq!(direct.head(&name).unwrap(), before, "nothing was sent"),
        }
    }
    panic!("no append reached the server while its answers were held back");
}

#[test]
fn an_append_that_is_cut_anywhere_happened_or_never_will() {
    cut_anywhere(false);
}

#[test]
fn so_does_one_in_a_turn() {
    cut_anywhere(true);
}

fn cut_anywhere(in_turn: bool) {
    let server = PostgresServer::start();
    let proxy = Proxy::to(server.port());
    let engine = PostgresEngine::open(&url_at(proxy.port())).unwrap();
    let direct = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut head) = (field("f"), Head::EMPTY);
    let mut outcomes = [0, 0];
    for (round, bytes) in (0..).step_by(173).take(24).enumerate() {
        let batch = Chain::from(head, u8::try_from(round).unwrap()).take(2);
        let end = batch.last().unwrap().head();
        connect(&engine, &name);
        if in_turn {
            engine.take_turn(&name, &head).unwrap();
        }
        proxy.mute_and_cut_after(bytes);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                proxy.wait_for_cut_within(SHORT);
                proxy.heal();
            });
            engine.append(&name, &head, &batch)
        });
        match outcome {
            Ok(moved) => {
                assert_eq!(moved, end);
                head = end;
                outcomes[0] += 1;
            }
            Err(EngineError::Unavailable { .. }) => outcomes[1] += 1,
            Err(other) => panic!("cut after {bytes} bytes: {other}"),
        }
        assert_eq!(direct.head(&name).unwrap(), head, "cut after {bytes} bytes");
    }
    assert!(outcomes.iter().all(|count| *count > 0), "committed, not committed: {outcomes:?}");
    assert_eq!(verify_chain(&direct, &name, Head::EMPTY, &mut |_| Ok(())).unwrap(), head);
}

#[test]
fn a_server_that_is_away_is_told_and_writes_go_on_when_it_is_back() {
    let server = PostgresServer::start();
    let proxy = Proxy::to(server.port());
    let engine = PostgresEngine::open(&url_at(proxy.port())).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    engine.append(&name, &Head::EMPTY, &chain.take(1)).unwrap();
    proxy.close();
    // The first may be sent before the end of the connection is seen; then nobody can be asked.
    let before = chain.head();
    let batch = chain.take(1);
    std::thread::scope(|scope| {
        let appended = scope.spawn(|| engine.append(&name, &before, &batch));
        proxy.wait_for_cut();
        proxy.heal();
        match appended.join().unwrap() {
            Ok(head) => assert_eq!(head, chain.head()),
            Err(EngineError::Unavailable { .. }) => {
                engine.append(&name, &before, &batch).expect("nothing was written before");
            }
            Err(other) => panic!("{other}"),
        }
    });
    assert_eq!(engine.head(&name).unwrap(), chain.head());
}

#[test]
fn a_full_disk_says_so_and_writes_nothing() {
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    engine.append(&name, &Head::EMPTY, &chain.take(1)).unwrap();
    // The database's own way to say it, at the very statement.
    server.sql(
        "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$; \
         CREATE TRIGGER no_room BEFORE INSERT ON quipu.bodies EXECUTE FUNCTION no_room()",
    );
    let head = chain.head();
    let full = engine.append(&name, &head, &chain.clone().take(1)).unwrap_err();
    assert!(matches!(full, EngineError::Full), "{full}");
    assert_eq!(engine.head(&name).unwrap(), head);
    server.sql("DROP TRIGGER no_room ON quipu.bodies");
    engine.append(&name, &head, &chain.take(1)).expect("there is room again");
}
