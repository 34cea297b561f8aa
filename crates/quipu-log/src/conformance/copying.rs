//! How a field receives a copy of a log from elsewhere and becomes a log of its own.

use super::{
    factory::EngineFactory,
    sample::{Chain, field},
};
use crate::{
    commit::{Commit, Head},
    engine::{BodyAddress, Engine, EngineError},
    memory::MemoryEngine,
    verify::verify_chain,
};

/// Commits of a log of which a body was erased.
fn source() -> Vec<Commit> {
    let (engine, name) = (MemoryEngine::new(), field("f"));
    engine.append(&name, &Head::EMPTY, &Chain::new(1).take(6)).expect("append");
    engine.erase(&name, &[BodyAddress { position: 2, event: 0 }]).expect("erase");
    engine.read(&name, 1, 9).expect("read")
}

fn ends(commits: &[Commit]) -> Head {
    commits.last().map_or(Head::EMPTY, Commit::head)
}

/// A copy is equal to its source, erased bodies too; until it is opened it takes only what is copied.
pub fn receives_a_copy_that_nobody_else_writes_to(factory: &dyn EngineFactory) {
    let (engine, name, commits) = (factory.open(), field("f"), source());
    let (first, rest) = commits.split_at(4);
    assert!(!engine.is_sealed(&name).expect("is sealed"), "a field that does not exist");
    let head = engine.receive(&name, &Head::EMPTY, first).expect("receive");
    assert_eq!(head, ends(first));
    assert!(engine.is_sealed(&name).expect("is sealed"), "a copy is sealed from the first");
    let error = engine.append(&name, &head, rest).expect_err("sealed");
    assert!(matches!(error, EngineError::Sealed { .. }), "{error}");
    let error = engine.receive(&name, &Head::EMPTY, first).expect_err("again");
    assert!(matches!(error, EngineError::HeadMoved { actual } if actual == head), "{error}");
    let head = engine.receive(&name, &head, rest).expect("receive");
    assert_eq!(engine.read(&name, 1, 9).expect("read"), commits);
    assert_eq!(engine.unseal(&name).expect("unseal"), head);
    assert_eq!(engine.unseal(&name).expect("unseal again"), head);
    assert!(!engine.is_sealed(&name).expect("is sealed"));
    engine.append(&name, &head, &Chain::from(head, 3).take(2)).expect("append");
    let end = verify_chain(&*engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("a chain");
    assert_eq!(end.position, 8);
}

/// A field that takes appends is no place for a copy, whatever its head.
pub fn receives_nothing_where_a_field_is_in_use(factory: &dyn EngineFactory) {
    let (engine, name, commits) = (factory.open(), field("f"), source());
    let (first, rest) = commits.split_at(4);
    engine.append(&name, &Head::EMPTY, first).expect("append");
    let error = engine.receive(&name, &ends(first), rest).expect_err("in use");
    assert!(matches!(error, EngineError::InvalidBatch { .. }), "{error}");
    assert_eq!(engine.head(&name).expect("head"), ends(first));
    engine.seal(&name).expect("seal");
    engine.receive(&name, &ends(first), rest).expect("a sealed one is behind its copy");
    assert!(engine.unseal(&field("other")).is_err(), "there is nothing to open");
}

/// An interrupted copy is still sealed and continues where it was.
pub fn goes_on_with_a_copy_after_reopening(factory: &dyn EngineFactory) {
    if !factory.is_persistent() {
        return;
    }
    let (name, commits) = (field("f"), source());
    let (first, rest) = commits.split_at(4);
    let engine = factory.open();
    engine.receive(&name, &Head::EMPTY, first).expect("receive");
    drop(engine);
    let engine = factory.open();
    assert!(engine.is_sealed(&name).expect("is sealed"));
    engine.receive(&name, &ends(first), rest).expect("receive");
    drop(engine);
    let engine = factory.open();
    engine.unseal(&name).expect("unseal");
    drop(engine);
    let engine = factory.open();
    assert!(!engine.is_sealed(&name).expect("is sealed"));
    assert_eq!(engine.read(&name, 1, 9).expect("read"), commits);
}

/// An engine that was refused by a sealed copy can write to it as soon as it is unsealed.
pub fn opens_a_copy_for_engines_that_saw_it_sealed(factory: &dyn EngineFactory) {
    if !factory.is_shared() {
        return;
    }
    let (mover, node, name, commits) = (factory.open(), factory.open(), field("f"), source());
    let head = mover.receive(&name, &Head::EMPTY, &commits).expect("receive");
    let more = Chain::from(head, 3).take(1);
    let error = node.append(&name, &head, &more).expect_err("sealed");
    assert!(matches!(error, EngineError::Sealed { .. }), "{error}");
    mover.unseal(&name).expect("unseal");
    node.append(&name, &head, &more).expect("append");
}
