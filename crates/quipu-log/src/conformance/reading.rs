//! What reads and followers see.

use std::{thread, time::Duration};

use super::{
    factory::EngineFactory,
    sample::{Chain, field},
};
use crate::{
    commit::{Commit, Damage, DamageKind, Head, StoredBodies, StoredHeader},
    engine::EngineError,
    verify::verify_chain,
};

/// Long enough that only an engine that never wakes its followers reaches it.
const LONG: Duration = Duration::from_secs(60);

fn positions(commits: &[Commit]) -> Vec<u64> {
    commits.iter().map(|commit| commit.position).collect()
}

/// A read starts at `from` and stops at the limit.
pub fn honours_start_and_limit(factory: &dyn EngineFactory) {
    let (engine, name) = (factory.open(), field("f"));
    engine.append(&name, &Head::EMPTY, &Chain::new(1).take(5)).expect("append");
    let cases: [(u64, usize, &[u64]); 7] = [
        (1, 2, &[1, 2]),
        (0, 2, &[1, 2]),
        (3, 2, &[3, 4]),
        (4, 9, &[4, 5]),
        (6, 9, &[]),
        (1, 0, &[]),
        (u64::MAX, usize::MAX, &[]),
    ];
    for (from, limit, expected) in cases {
        let read = engine.read(&name, from, limit).expect("read");
        assert_eq!(positions(&read), expected, "from {from}, limit {limit}");
        let headers = engine.read_headers(&name, from, limit).expect("read headers");
        let of_read = read.iter().cloned().map(StoredHeader::from);
        assert_eq!(headers, of_read.collect::<Vec<_>>(), "from {from}, limit {limit}");
        let bodies = engine.read_bodies(&name, from, limit).expect("read bodies");
        let of_read = read.into_iter().map(StoredBodies::from);
        assert_eq!(bodies, of_read.collect::<Vec<_>>(), "from {from}, limit {limit}");
    }
    let followed = engine.follow(&name, 2, LONG, 2).expect("follow");
    assert_eq!(positions(&followed), [2, 3]);
}

/// A released field is unchanged and can be released again, also if it does not exist.
pub fn goes_on_after_a_release(factory: &dyn EngineFactory) {
    let (engine, name) = (factory.open(), field("f"));
    engine.release(&name);
    let mut chain = Chain::new(1);
    let head = engine.append(&name, &Head::EMPTY, &chain.take(3)).expect("append");
    engine.release(&name);
    engine.release(&name);
    assert_eq!(engine.head(&name).expect("head"), head);
    engine.release(&name);
    assert_eq!(positions(&engine.read(&name, 2, 9).expect("read")), [2, 3]);
    engine.release(&name);
    engine.append(&name, &head, &chain.take(2)).expect("append");
    assert_eq!(positions(&engine.follow(&name, 1, LONG, 9).expect("follow")), [1, 2, 3, 4, 5]);
}

/// The head of a field that does not exist is empty; all other calls are refused with its name.
pub fn names_an_unknown_field(factory: &dyn EngineFactory) {
    let (engine, name) = (factory.open(), field("nowhere"));
    assert_eq!(engine.head(&name).expect("head"), Head::EMPTY);
    let errors = [
        engine.read(&name, 1, 1).expect_err("read"),
        engine.read_headers(&name, 1, 1).expect_err("read headers"),
        engine.read_bodies(&name, 1, 1).expect_err("read bodies"),
        engine.follow(&name, 1, Duration::ZERO, 1).expect_err("follow"),
        engine.erase(&name, &[]).expect_err("erase"),
        engine.seal(&name).expect_err("seal"),
    ];
    for error in errors {
        assert!(matches!(&error, EngineError::UnknownField { field } if *field == name), "{error}");
    }
    assert_eq!(engine.fields().expect("fields"), []);
}

/// A follower that waits at the head is woken by each append.
pub fn wakes_a_follower(factory: &dyn EngineFactory) {
    const COMMITS: u64 = 20;
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let first = chain.take(1);
    engine.append(&name, &Head::EMPTY, &first).expect("append");
    let seen = thread::scope(|scope| {
        let follower = scope.spawn(|| {
            let mut seen: Vec<Commit> = Vec::new();
            loop {
                let next = seen.last().map_or(1, |commit| commit.position + 1);
                if next > COMMITS {
                    return seen;
                }
                let page = engine.follow(&name, next, LONG, 3).expect("follow");
                assert!(!page.is_empty(), "the follower was not woken");
                seen.extend(page);
            }
        });
        for _ in 1..COMMITS {
            let head = chain.head();
            engine.append(&name, &head, &chain.take(1)).expect("append");
        }
        follower.join().expect("the follower ends")
    });
    assert_eq!(positions(&seen), (1..=COMMITS).collect::<Vec<_>>());
}

/// While a log is written, the head is always one of its commits and never goes back.
pub fn says_its_head_while_it_is_written(factory: &dyn EngineFactory) {
    const HEADS: usize = 50;
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let heads = (0..HEADS).map(|_| engine.head(&name).expect("head").position);
            heads.collect::<Vec<_>>()
        });
        while !asker.is_finished() {
            let head = chain.head();
            engine.append(&name, &head, &chain.take(1)).expect("append");
        }
        let heads = asker.join().expect("the asker ends");
        assert!(heads.is_sorted(), "{heads:?}");
    });
    assert_eq!(engine.head(&name).expect("head"), chain.head());
}

/// A follower at the end of the log gets an empty answer after the timeout.
pub fn gives_up_following_after_the_timeout(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    engine.append(&name, &Head::EMPTY, &chain.take(2)).expect("append");
    for from in [3, 4, u64::MAX] {
        let waited = engine.follow(&name, from, Duration::from_millis(5), 10).expect("follow");
        assert_eq!(waited, [], "from {from}");
    }
}

/// A chain is verified from any head in it, every commit is visited, and a wrong head is named.
pub fn verifies_from_any_head(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let commits = chain.take(1500);
    engine.append(&name, &Head::EMPTY, &commits).expect("append");
    let mut heads = vec![Head::EMPTY];
    heads.extend(commits.iter().map(Commit::head));
    for after in [0, 1, 1023, 1024, 1500] {
        let mut visited = Vec::new();
        let after_head = *heads.get(after).expect("a head in the chain");
        let end = verify_chain(&*engine, &name, after_head, &mut |commit| {
            visited.push(commit.position);
            Ok(())
        });
        assert_eq!(end.expect("the chain verifies"), chain.head());
        assert_eq!(visited.len(), 1500 - after);
    }
    let wrong = Head { hash: chain.head().hash, ..*heads.get(7).expect("a head") };
    let error = verify_chain(&*engine, &name, wrong, &mut |_| Ok(())).expect_err("another chain");
    let expected = Damage::new(8, DamageKind::PrevMismatch);
    assert!(matches!(&error, EngineError::Damaged(damage) if *damage == expected), "{error}");
    let beyond = Head { position: 1501, ..chain.head() };
    let error = verify_chain(&*engine, &name, beyond, &mut |_| Ok(())).expect_err("too short");
    let kind = DamageKind::Truncated { ends_at: 1500, acknowledged: 1501 };
    let expected = Damage::new(1501, kind);
    assert!(matches!(&error, EngineError::Damaged(damage) if *damage == expected), "{error}");
}
