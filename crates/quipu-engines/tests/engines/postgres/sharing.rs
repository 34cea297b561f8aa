//! Several engines over one database, as several nodes have them.

use std::thread;

use quipu_engines::PostgresEngine;
use quipu_log::{
    BodyAddress, Damage, DamageKind, Engine, EngineError, Head,
    conformance::{self, Chain, field},
    verify_chain,
};

use quipu_testbed::{PostgresServer, is_in_files, wait_until};

use crate::support::PgBouncerFactory;

#[test]
fn nodes_that_start_together_make_the_tables_once() {
    let server = PostgresServer::start();
    let engines: Vec<PostgresEngine> = thread::scope(|scope| {
        let open = || PostgresEngine::open(&server.url()).expect("every node starts");
        let starting: Vec<_> = (0..6).map(|_| scope.spawn(open)).collect();
        starting.into_iter().map(|node| node.join().unwrap()).collect()
    });
    let versions = "SELECT string_agg(version::text, ' ' ORDER BY version) FROM quipu.format";
    assert_eq!(server.sql(versions), "1 2 3");
    let (name, mut chain) = (field("f"), Chain::new(1));
    for engine in &engines {
        engine.append(&name, &chain.head(), &chain.clone().take(1)).unwrap();
        chain.take(1);
    }
}

#[test]
fn tables_of_an_earlier_version_are_brought_up_to_date() {
    let server = PostgresServer::start();
    let (name, commits) = (field("f"), Chain::new(1).take(3));
    PostgresEngine::open(&server.url()).unwrap().append(&name, &Head::EMPTY, &commits).unwrap();
    server.sql(
        "DROP TABLE quipu.notes; DROP FUNCTION quipu.append; DROP FUNCTION quipu.page; \
         DELETE FROM quipu.format WHERE version > 1",
    );
    let engine = PostgresEngine::open(&server.url()).unwrap();
    assert_eq!(engine.read(&name, 1, 9).unwrap(), commits);
    let notes = engine.notes().unwrap();
    assert_eq!(notes.put("keys", 0, b"none yet").unwrap(), Some(1));
}

#[test]
fn functions_that_a_copy_of_the_tables_lacks_are_made_anew() {
    let server = PostgresServer::start();
    let (name, commits) = (field("f"), Chain::new(1).take(3));
    PostgresEngine::open(&server.url()).unwrap().append(&name, &Head::EMPTY, &commits).unwrap();
    server.sql("DROP FUNCTION quipu.page");
    let engine = PostgresEngine::open(&server.url()).unwrap();
    assert_eq!(engine.read(&name, 1, 9).unwrap(), commits);
}

#[test]
fn plans_that_were_made_for_small_tables_go_by_the_keys_too() {
    let server = PostgresServer::start();
    let scans = |kind: &str| -> u64 {
        let tables = "pg_stat_user_tables WHERE relname IN ('commits', 'bodies')";
        server.sql(&format!("SELECT sum({kind}) FROM {tables}")).parse().unwrap()
    };
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    engine.append(&name, &Head::EMPTY, &chain.take(2)).unwrap();
    // The database knows how small they are, as it does after a while by itself.
    server.sql("ANALYZE quipu.commits, quipu.bodies");
    // More often than a plan is made anew for the values at hand.
    let rounds = 12;
    for _ in 0..rounds {
        let head = chain.head();
        engine.append(&name, &head, &chain.take(1)).unwrap();
        assert_eq!(engine.read(&name, head.position + 1, 9).unwrap().len(), 1);
    }
    // What a session did is counted for good when it ends.
    drop(engine);
    let searches = || scans("idx_scan") + scans("seq_scan");
    wait_until(60, "the searches are counted", || (searches() >= 3 * rounds).then_some(()));
    // To make a key, a table is read from its beginning once.
    let whole = scans("seq_scan");
    assert!(whole < rounds, "tables were read from their beginning {whole} times");
}

#[test]
fn a_pooler_that_gives_every_transaction_another_session_may_stand_between() {
    // Each behaviour expects to find nothing.
    conformance::follows_what_another_engine_appends(&PgBouncerFactory::default());
    conformance::shows_erasures_and_seals_to_others(&PgBouncerFactory::default());
}

#[test]
fn turns_are_kept_through_such_a_pooler() {
    conformance::lets_whoever_has_the_turn_append_next(&PgBouncerFactory::default());
    conformance::hands_the_turn_on_with_the_head(&PgBouncerFactory::default());
}

#[test]
fn an_erased_text_is_in_no_table_any_more() {
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    let secret = "the-secret-of-7f3a ".repeat(64);
    let batch = [chain.next_with(&secret), chain.next_with("kept")];
    engine.append(&name, &Head::EMPTY, &batch).unwrap();
    server.sql("CHECKPOINT");
    assert!(!is_in_files(&server.data().join("base"), "the-secret-of-7f3a").is_empty());
    engine.erase(&name, &[BodyAddress { position: 1, event: 0 }]).unwrap();
    // What an operator does who cannot wait until the space is used again (docs/engines.md).
    server.sql("VACUUM FULL quipu.bodies");
    server.sql("CHECKPOINT");
    let left = is_in_files(&server.data().join("base"), "the-secret-of-7f3a");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_log_that_was_set_back_is_caught_by_the_chain() {
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    engine.append(&name, &Head::EMPTY, &chain.take(5)).unwrap();
    let follower = chain.head();
    // An older backup: two commits fewer, and the head where it was then.
    server.sql("DELETE FROM quipu.bodies WHERE position > 3");
    server.sql("DELETE FROM quipu.commits WHERE position > 3");
    server.sql(
        "UPDATE quipu.fields SET (position, epoch, hash) = \
         (SELECT position, epoch, hash FROM quipu.commits WHERE position = 3)",
    );
    let error = engine.append(&name, &follower, &chain.clone().take(1)).unwrap_err();
    assert!(matches!(error, EngineError::HeadMoved { actual } if actual.position == 3), "{error}");
    let error = verify_chain(&engine, &name, follower, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, EngineError::Damaged(_)), "{error}");
    // A header that was rewritten in place.
    server.sql("UPDATE quipu.commits SET header = header || ' ' WHERE position = 2");
    let error = verify_chain(&engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(&error, EngineError::Damaged(damage) if damage.position == 2), "{error}");
}

#[test]
fn of_a_field_that_no_statistics_know_only_what_is_asked_for_is_read() {
    const TABLES: [&str; 2] = ["commits", "bodies"];
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    for table in TABLES {
        server.sql(&format!("ALTER TABLE quipu.{table} SET (autovacuum_enabled = false)"));
    }
    for (name, analyze) in [("known", true), ("new", false)] {
        engine.append(&field(name), &Head::EMPTY, &Chain::new(1).take(2000)).unwrap();
        if analyze {
            server.sql("ANALYZE");
        }
    }
    drop(engine);
    // A session tells what it touched when it ends.
    let counted = |table: &str, what: &str| -> u64 {
        let sql = format!("SELECT {what} FROM pg_stat_user_tables WHERE relname = '{table}'");
        server.sql(&sql).parse().unwrap()
    };
    let until = |table: &str, what: &str, enough: u64| {
        wait_until(60, what, || (counted(table, what) >= enough).then_some(()));
    };
    let touched = "seq_tup_read + idx_tup_fetch";
    let before = TABLES.map(|table| {
        until(table, "n_tup_ins", 4000);
        (counted(table, touched), counted(table, "idx_scan"))
    });
    let engine = PostgresEngine::open(&server.url()).unwrap();
    assert_eq!(engine.read(&field("new"), 1990, 512).unwrap().len(), 11, "the end");
    assert_eq!(engine.read(&field("new"), 10, 8).unwrap().len(), 8, "a page of the beginning");
    assert_eq!(engine.read_bodies(&field("new"), 700, 1).unwrap().len(), 1, "one text");
    drop(engine);
    for (table, (rows, scans)) in TABLES.into_iter().zip(before) {
        until(table, "idx_scan", scans + 1);
        let rows = counted(table, touched) - rows;
        assert!(rows <= 100, "{rows} rows of {table} were touched to read 20");
    }
}

#[test]
fn commits_that_are_missing_are_damage_however_many_they_are() {
    let server = PostgresServer::start();
    let engine = PostgresEngine::open(&server.url()).unwrap();
    let name = field("f");
    engine.append(&name, &Head::EMPTY, &Chain::new(1).take(3000)).unwrap();
    for (first, last) in [(2999, 2999), (3, 2900), (1, 2950)] {
        server.sql(&format!("DELETE FROM quipu.bodies WHERE position BETWEEN {first} AND {last}"));
        server.sql(&format!("DELETE FROM quipu.commits WHERE position BETWEEN {first} AND {last}"));
        let error = verify_chain(&engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap_err();
        let gap = |damage: &Damage| damage.kind == DamageKind::Gap { expected: first };
        assert!(matches!(&error, EngineError::Damaged(damage) if gap(damage)), "{first}: {error}");
    }
}
