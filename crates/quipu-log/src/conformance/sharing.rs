//! What several engines over one storage see of each other. Engines for a single process skip these.

use std::{thread, time::Duration};

use super::{
    factory::EngineFactory,
    sample::{Chain, field},
};
use crate::{
    commit::Head,
    engine::{BodyAddress, Engine, EngineError},
    verify::verify_chain,
};

/// Long enough that only an engine that never looks at what others write reaches it.
const LONG: Duration = Duration::from_secs(60);

/// Of many engines at one head exactly one wins each time; nothing is lost and nothing is doubled.
pub fn lets_one_of_many_engines_win(factory: &dyn EngineFactory) {
    const ENGINES: u8 = 3;
    const WINS: u64 = 12;
    if !factory.is_shared() {
        return;
    }
    let name = field("f");
    let engines: Vec<_> = (0..ENGINES).map(|_| factory.open()).collect();
    thread::scope(|scope| {
        for (engine, seed) in engines.iter().zip(0..) {
            let name = &name;
            scope.spawn(move || win(&**engine, name, seed, WINS));
        }
    });
    for engine in &engines {
        let head = verify_chain(&**engine, &name, Head::EMPTY, &mut |_| Ok(())).expect("a chain");
        assert_eq!(head.position, u64::from(ENGINES) * WINS * 2);
    }
}

fn win(engine: &dyn Engine, name: &crate::FieldName, seed: u8, wins: u64) {
    let mut won = 0;
    let mut head = engine.head(name).expect("head");
    while won < wins {
        match engine.append(name, &head, &Chain::from(head, seed).take(2)) {
            Ok(end) => {
                won += 1;
                head = end;
            }
            Err(EngineError::HeadMoved { actual }) => {
                assert!(actual.position > head.position, "a conflict means progress");
                head = actual;
            }
            Err(other) => panic!("an appender failed: {other}"),
        }
    }
}

/// A follower is woken by what another engine appends, and sees it in order.
pub fn follows_what_another_engine_appends(factory: &dyn EngineFactory) {
    const COMMITS: u64 = 12;
    if !factory.is_shared() {
        return;
    }
    let (writer, reader) = (factory.open(), factory.open());
    let (name, mut chain) = (field("f"), Chain::new(1));
    writer.append(&name, &Head::EMPTY, &chain.take(1)).expect("append");
    thread::scope(|scope| {
        let follower = scope.spawn(|| {
            let mut head = Head::EMPTY;
            while head.position < COMMITS {
                let page = reader.follow(&name, head.position + 1, LONG, 3).expect("follow");
                assert!(!page.is_empty(), "the follower was not woken");
                for commit in page {
                    head = commit.verify(&head).expect("the next commit");
                }
            }
        });
        for _ in 1..COMMITS {
            let head = chain.head();
            writer.append(&name, &head, &chain.take(1)).expect("append");
        }
        follower.join().expect("the follower ends");
    });
}

/// What one engine erases or seals is erased and sealed for the others at once.
pub fn shows_erasures_and_seals_to_others(factory: &dyn EngineFactory) {
    if !factory.is_shared() {
        return;
    }
    let (one, other) = (factory.open(), factory.open());
    let (name, mut chain) = (field("f"), Chain::new(1));
    one.append(&name, &Head::EMPTY, &chain.take(3)).expect("append");
    // Read before, so that a stale cached copy would be noticed.
    assert_eq!(other.read(&name, 1, 9).expect("read").len(), 3);
    one.erase(&name, &[BodyAddress { position: 2, event: 0 }]).expect("erase");
    let seen = other.read(&name, 1, 9).expect("read");
    let texts: Vec<bool> = seen.iter().map(|commit| commit.body(0).is_some()).collect();
    assert_eq!(texts, [true, false, true]);
    one.seal(&name).expect("seal");
    let error = other.append(&name, &chain.head(), &chain.clone().take(1)).expect_err("sealed");
    assert!(matches!(error, EngineError::Sealed { .. }), "{error}");
}
