//! What an append does, and what it must not do.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use super::{
    factory::EngineFactory,
    sample::{Chain, field},
};
use crate::{
    commit::{Body, BodyContent, Commit, Head, Salt},
    engine::{Engine, EngineError},
    field_name::FieldName,
    verify::verify_chain,
};

fn stored(engine: &dyn Engine, name: &FieldName) -> Vec<Commit> {
    engine.read(name, 1, usize::MAX).expect("the field can be read")
}

/// What was appended is read back equal, and the head is its end.
pub fn reads_back_what_was_appended(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let first = chain.take(3);
    let head = engine.append(&name, &Head::EMPTY, &first).expect("append to an empty log");
    let second = chain.take(2);
    engine.append(&name, &head, &second).expect("append to the head");
    assert_eq!(engine.head(&name).expect("head"), chain.head());
    assert_eq!(stored(&*engine, &name), [first, second].concat());
    let verified = verify_chain(&*engine, &name, Head::EMPTY, &mut |_| Ok(()));
    assert_eq!(verified.expect("the chain verifies"), chain.head());
}

/// A wrong expected head is answered with the right one and changes nothing.
pub fn refuses_an_append_to_another_head(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let batch = chain.take(2);
    engine.append(&name, &Head::EMPTY, &batch).expect("append");
    let stale = Chain::new(2).take(1);
    let mut ahead = chain.clone();
    ahead.take(1);
    let forked = Head { hash: batch.first().expect("two commits").hash, ..chain.head() };
    let cases = [
        (Head::EMPTY, stale),
        (ahead.head(), ahead.clone().take(1)),
        (forked, Chain::from(forked, 3).take(1)),
    ];
    for (expected, wrong) in cases {
        let error = engine.append(&name, &expected, &wrong).expect_err("another head");
        assert!(matches!(error, EngineError::HeadMoved { actual } if actual == chain.head()));
        assert_eq!(stored(&*engine, &name), batch);
    }
    let late = Chain::from(ahead.head(), 1).take(1);
    let error = engine.append(&field("none"), &ahead.head(), &late).expect_err("no such field");
    assert!(matches!(error, EngineError::HeadMoved { actual } if actual == Head::EMPTY));
    assert_eq!(engine.fields().expect("fields"), [name]);
}

/// A batch that is no chain from the expected head is refused whole.
pub fn refuses_an_invalid_batch_whole(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let good = chain.take(1);
    let head = engine.append(&name, &Head::EMPTY, &good).expect("append");
    let next = chain.take(3);
    let mut gap = next.clone();
    gap.remove(1);
    let mut swapped = next.clone();
    swapped.swap(1, 2);
    let mut unlinked = next.clone();
    unlinked.iter_mut().skip(2).for_each(|commit| commit.prev = head.hash);
    let mut stale_epoch = next.clone();
    stale_epoch.iter_mut().skip(2).for_each(|commit| commit.epoch = head.epoch);
    let with_json = |json: &[u8]| {
        let mut batch = next.clone();
        for stored in batch.iter_mut().skip(2).flat_map(|commit| &mut commit.bodies) {
            let salt = Salt::from_bytes([0; 16]);
            stored.content = BodyContent::Present(Body { salt, json: json.to_vec() });
        }
        batch
    };
    let (no_json, two, spaced) = (with_json(b"\xff"), with_json(b"1},{"), with_json(b" 1"));
    let mut twice = next;
    twice.iter_mut().skip(2).for_each(|commit| commit.bodies.extend(commit.bodies.clone()));
    for wrong in [Vec::new(), gap, swapped, unlinked, stale_epoch, no_json, two, spaced, twice] {
        let error = engine.append(&name, &head, &wrong).expect_err("an invalid batch");
        assert!(matches!(error, EngineError::InvalidBatch { .. }), "{error}");
        assert_eq!(stored(&*engine, &name), good);
    }
    let error = engine.append(&field("new"), &Head::EMPTY, &[]).expect_err("an empty batch");
    assert!(matches!(error, EngineError::InvalidBatch { position: 1, .. }), "{error}");
    assert_eq!(engine.fields().expect("fields"), [name]);
}

/// Fields share nothing: neither positions nor heads nor commits.
pub fn keeps_fields_independent(factory: &dyn EngineFactory) {
    let engine = factory.open();
    let (mut one, mut two) = (Chain::new(1), Chain::new(2));
    let (first, second) = (one.take(3), two.take(1));
    engine.append(&field("b-two"), &Head::EMPTY, &second).expect("append");
    engine.append(&field("a-one"), &Head::EMPTY, &first).expect("append");
    assert_eq!(engine.fields().expect("fields"), [field("a-one"), field("b-two")]);
    assert_eq!(stored(&*engine, &field("a-one")), first);
    assert_eq!(stored(&*engine, &field("b-two")), second);
    engine.seal(&field("b-two")).expect("seal");
    engine.append(&field("a-one"), &one.head(), &one.clone().take(1)).expect("append");
}

/// Of many appenders at one head exactly one wins; nothing is lost and nothing is doubled.
pub fn lets_one_of_many_appenders_win(factory: &dyn EngineFactory) {
    const APPENDERS: u8 = 4;
    const WINS: u64 = 8;
    let (engine, name) = (factory.open(), field("f"));
    let conflicts = AtomicU64::new(0);
    thread::scope(|scope| {
        for seed in 0..APPENDERS {
            let (engine, name, conflicts) = (&engine, &name, &conflicts);
            scope.spawn(move || {
                let mut won = 0;
                let mut head = engine.head(name).expect("head");
                while won < WINS {
                    let batch = Chain::from(head, seed).take(2);
                    match engine.append(name, &head, &batch) {
                        Ok(end) => {
                            won += 1;
                            head = end;
                        }
                        Err(EngineError::HeadMoved { actual }) => {
                            assert!(actual.position > head.position, "a conflict means progress");
                            conflicts.fetch_add(1, Ordering::Relaxed);
                            head = actual;
                        }
                        Err(other) => panic!("an appender failed: {other}"),
                    }
                }
            });
        }
    });
    let head = verify_chain(&*engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("a chain");
    assert_eq!(head.position, u64::from(APPENDERS) * WINS * 2);
    assert!(conflicts.into_inner() <= u64::from(APPENDERS) * u64::from(APPENDERS) * WINS * 2);
}

/// A sealed field refuses appends, still reads, and may be sealed again.
pub fn refuses_appends_to_a_sealed_field(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let batch = chain.take(2);
    engine.append(&name, &Head::EMPTY, &batch).expect("append");
    let end = chain.head();
    assert_eq!(engine.seal(&name).expect("seal"), end);
    assert_eq!(engine.seal(&name).expect("seal again"), end);
    let error = engine.append(&name, &end, &chain.take(1)).expect_err("sealed");
    assert!(matches!(&error, EngineError::Sealed { field } if *field == name), "{error}");
    assert_eq!(engine.head(&name).expect("head"), end);
    assert_eq!(stored(&*engine, &name), batch);
}

/// A body of a mebibyte goes through unharmed.
pub fn keeps_a_body_of_a_mebibyte(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let text = "aß\"\n".repeat(256 * 1024);
    let batch = vec![chain.next_with(&text), chain.next_with("small")];
    engine.append(&name, &Head::EMPTY, &batch).expect("append");
    assert_eq!(stored(&*engine, &name), batch);
}

/// What was acknowledged is there after reopening, and the log goes on from it.
pub fn finds_everything_after_reopening(factory: &dyn EngineFactory) {
    if !factory.is_persistent() {
        return;
    }
    let (name, sealed, mut chain) = (field("f"), field("sealed"), Chain::new(1));
    let mut all = chain.take(3);
    let engine = factory.open();
    engine.append(&name, &Head::EMPTY, &all).expect("append");
    engine.append(&sealed, &Head::EMPTY, &all).expect("append");
    engine.seal(&sealed).expect("seal");
    drop(engine);
    let engine = factory.open();
    assert_eq!(engine.fields().expect("fields"), [name.clone(), sealed.clone()]);
    assert_eq!(engine.head(&name).expect("head"), chain.head());
    let more = chain.take(2);
    let head = all.last().map_or(Head::EMPTY, Commit::head);
    engine.append(&name, &head, &more).expect("append after reopening");
    all.extend(more.iter().cloned());
    assert_eq!(stored(&*engine, &name), all);
    let error = engine.append(&sealed, &head, &more).expect_err("still sealed");
    assert!(matches!(error, EngineError::Sealed { .. }), "{error}");
}
