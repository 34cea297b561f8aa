//! Turns of several engines over one storage. An engine that cannot keep others from appending skips these.

use std::thread;

use super::{
    factory::EngineFactory,
    sample::{Chain, field},
};
use crate::{
    commit::Head,
    engine::{Engine, EngineError},
    field_name::FieldName,
    verify::verify_chain,
};

/// Engines over a field with one commit, if they keep turns.
fn with_turns(
    factory: &dyn EngineFactory,
    count: usize,
) -> Option<(Vec<std::sync::Arc<dyn Engine>>, Head)> {
    if !factory.keeps_turns() {
        return None;
    }
    let engines: Vec<_> = (0..count).map(|_| factory.open()).collect();
    let first = engines.first()?;
    let head = first.append(&field("f"), &Head::EMPTY, &Chain::new(1).take(1)).expect("append");
    Some((engines, head))
}

/// The engine that has the turn appends next; others are refused before their turn.
pub fn lets_whoever_has_the_turn_append_next(factory: &dyn EngineFactory) {
    let Some((engines, head)) = with_turns(factory, 2) else { return };
    let [one, other] = &engines[..] else { panic!("two engines") };
    let name = field("f");
    let turn = one.take_turn(&name, &head).expect("a turn").expect("it is free");
    assert_eq!(turn, head);
    thread::scope(|scope| {
        let late = scope.spawn(|| other.append(&name, &head, &Chain::from(head, 2).take(1)));
        let end = one.append(&name, &head, &Chain::from(head, 3).take(2)).expect("its own turn");
        let error = late.join().expect("the other ends").expect_err("it was not its turn");
        assert!(matches!(error, EngineError::HeadMoved { actual } if actual == end), "{error}");
        // The turn ended with the append.
        other.append(&name, &end, &Chain::from(end, 4).take(1)).expect("nobody else wants to");
    });
}

/// Engines that take turns are never refused, and each learns the head that the others left.
pub fn hands_the_turn_on_with_the_head(factory: &dyn EngineFactory) {
    const ENGINES: usize = 3;
    const ROUNDS: u64 = 10;
    let Some((engines, first)) = with_turns(factory, ENGINES) else { return };
    let name = field("f");
    thread::scope(|scope| {
        for (engine, seed) in engines.iter().zip(0..) {
            let name = &name;
            scope.spawn(move || {
                let mut head = first;
                for _ in 0..ROUNDS {
                    head = append_in_turn(&**engine, name, head, seed);
                }
            });
        }
    });
    for engine in &engines {
        let head = verify_chain(&**engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("a chain");
        assert_eq!(head.position, 1 + u64::try_from(ENGINES).expect("few") * ROUNDS * 2);
    }
}

fn append_in_turn(engine: &dyn Engine, name: &FieldName, known: Head, seed: u8) -> Head {
    let head = engine.take_turn(name, &known).expect("a turn").expect("there are turns");
    let found = verify_chain(engine, name, known, &mut |_| Ok(())).expect("a chain");
    assert_eq!(found, head, "what can be read leads to the head");
    engine.append(name, &head, &Chain::from(head, seed).take(2)).expect("nobody is faster")
}

/// A turn that is returned, or taken twice, makes nobody wait.
pub fn lets_others_append_once_a_turn_is_given_back(factory: &dyn EngineFactory) {
    let Some((engines, head)) = with_turns(factory, 2) else { return };
    let [one, other] = &engines[..] else { panic!("two engines") };
    let name = field("f");
    for _ in 0..2 {
        one.take_turn(&name, &head).expect("a turn").expect("it is free");
    }
    one.end_turn(&name);
    let end = other.append(&name, &head, &Chain::from(head, 2).take(1)).expect("nobody has a turn");
    let late = one.append(&name, &head, &Chain::from(head, 3).take(1)).expect_err("no turn");
    assert!(matches!(late, EngineError::HeadMoved { actual } if actual == end), "{late}");
    let unused = one.take_turn(&name, &end).expect("a turn").expect("it is free");
    assert_eq!(unused, end);
    let wrong = one.append(&name, &end, &[]).expect_err("nothing to append");
    assert!(matches!(wrong, EngineError::InvalidBatch { .. }), "{wrong}");
    other.append(&name, &end, &Chain::from(end, 4).take(1)).expect("any append ends a turn");
}
