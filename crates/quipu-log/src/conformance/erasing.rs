//! What erasing bodies leaves behind.

use super::{
    factory::EngineFactory,
    sample::{Chain, field},
};
use crate::{
    commit::{BodyContent, Commit, Head},
    engine::{BodyAddress, Erasure},
    verify::verify_chain,
};

const fn at(position: u64) -> BodyAddress {
    BodyAddress { position, event: 0 }
}

fn is_erased(commit: &Commit) -> bool {
    let contents = || commit.bodies.iter().map(|stored| &stored.content);
    commit.body(0).is_none() && contents().any(|content| *content == BodyContent::Erased)
}

/// Erased bodies read as erased, the others stay, and the chain still verifies and grows.
pub fn erases_bodies_and_still_verifies(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let commits = chain.take(6);
    engine.append(&name, &Head::EMPTY, &commits).expect("append");
    let text = |position: u64| commits.iter().find(|c| c.position == position)?.body(0);
    let bytes = [2, 5].iter().filter_map(|p| text(*p)).map(|body| body.json.len()).sum::<usize>();
    let erased = engine.erase(&name, &[at(5), at(2), at(5)]).expect("erase");
    let expected = Erasure { bodies_erased: 2, bytes_reclaimed: bytes.try_into().expect("few") };
    assert_eq!(erased, expected);
    let head = engine.append(&name, &chain.head(), &chain.clone().take(1)).expect("append");
    let mut gone = Vec::new();
    let end = verify_chain(&*engine, &name, Head::EMPTY, &mut |commit| {
        if is_erased(commit) {
            gone.push(commit.position);
        } else {
            assert!(commit.body(0).is_some(), "position {} kept its body", commit.position);
        }
        Ok(())
    });
    assert_eq!(end.expect("the chain verifies"), head);
    assert_eq!(gone, [2, 5]);
}

/// Erasing again, or where there is no body, does nothing and says so.
pub fn erases_twice_without_effect(factory: &dyn EngineFactory) {
    let (engine, name) = (factory.open(), field("f"));
    engine.append(&name, &Head::EMPTY, &Chain::new(1).take(3)).expect("append");
    assert_eq!(engine.erase(&name, &[at(2)]).expect("erase").bodies_erased, 1);
    let before = engine.read(&name, 1, 9).expect("read");
    let no_body = BodyAddress { position: 1, event: 1 };
    let no_event = BodyAddress { position: 1, event: 9 };
    for again in [&[at(2)][..], &[], &[no_body, no_event, at(0), at(4), at(u64::MAX)]] {
        assert_eq!(engine.erase(&name, again).expect("erase"), Erasure::default());
        assert_eq!(engine.read(&name, 1, 9).expect("read"), before);
    }
}

/// However long a body is, nothing of it stays, and the field is written to as before.
pub fn erases_a_body_of_a_mebibyte(factory: &dyn EngineFactory) {
    let (engine, name, mut chain) = (factory.open(), field("f"), Chain::new(1));
    let long = chain.next_with(&"ä".repeat(1 << 19));
    let head = engine.append(&name, &Head::EMPTY, &[long]).expect("append");
    let erased = engine.erase(&name, &[at(1)]).expect("erase");
    assert!(erased.bodies_erased == 1 && erased.bytes_reclaimed > 1 << 20, "{erased:?}");
    assert!(engine.read(&name, 1, 1).expect("read").iter().all(is_erased));
    engine.append(&name, &head, &chain.take(1)).expect("append");
    verify_chain(&*engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("the chain verifies");
}

/// Bodies can be erased in a sealed field.
pub fn erases_in_a_sealed_field(factory: &dyn EngineFactory) {
    let (engine, name) = (factory.open(), field("f"));
    engine.append(&name, &Head::EMPTY, &Chain::new(1).take(2)).expect("append");
    engine.seal(&name).expect("seal");
    assert_eq!(engine.erase(&name, &[at(1)]).expect("erase").bodies_erased, 1);
    verify_chain(&*engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("the chain verifies");
}

pub fn keeps_erasures_after_reopening(factory: &dyn EngineFactory) {
    if !factory.is_persistent() {
        return;
    }
    let name = field("f");
    let engine = factory.open();
    engine.append(&name, &Head::EMPTY, &Chain::new(1).take(3)).expect("append");
    engine.erase(&name, &[at(3)]).expect("erase");
    drop(engine);
    let engine = factory.open();
    let commits = engine.read(&name, 1, 9).expect("read");
    assert_eq!(commits.iter().map(is_erased).collect::<Vec<_>>(), [false, false, true]);
    verify_chain(&*engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("the chain verifies");
}
