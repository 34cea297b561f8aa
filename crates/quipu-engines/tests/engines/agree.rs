//! Whatever the batches, all four engines end with the same heads, commits and refusals.

use std::sync::Arc;

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};
use quipu_engines::{NatsEngine, PostgresEngine};
use quipu_log::{
    BodyAddress, Engine, EngineError, FieldName, Head, MemoryEngine, SqliteEngine, SqliteOptions,
    conformance::{Chain, field},
    verify_chain,
};

use quipu_testbed::{NatsServers, PostgresServer};

/// What is done to one of two fields.
#[derive(Debug, Clone)]
enum Step {
    Append {
        field: u8,
        commits: usize,
        seed: u8,
    },
    /// Appends to a head that was left behind.
    Stale {
        field: u8,
    },
    Erase {
        field: u8,
        position: u64,
    },
    Seal {
        field: u8,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let field = || 0..2_u8;
    let step = prop_oneof![
        8 => (field(), 0..6_usize, any::<u8>())
            .prop_map(|(field, commits, seed)| Step::Append { field, commits, seed }),
        1 => field().prop_map(|field| Step::Stale { field }),
        3 => (field(), 0..12_u64).prop_map(|(field, position)| Step::Erase { field, position }),
        1 => field().prop_map(|field| Step::Seal { field }),
    ];
    prop::collection::vec(step, 1..14)
}

fn take(engine: &dyn Engine, name: &dyn Fn(u8) -> FieldName, step: &Step) -> String {
    let answer = |result: Result<String, EngineError>| result.unwrap_or_else(|e| e.to_string());
    let append = |field: u8, head: Head, commits: usize, seed: u8| {
        let batch = Chain::from(head, seed).take(commits);
        answer(engine.append(&name(field), &head, &batch).map(|head| format!("{head:?}")))
    };
    match *step {
        Step::Append { field, commits, seed } => {
            append(field, engine.head(&name(field)).unwrap(), commits, seed)
        }
        Step::Stale { field } => append(field, Head::EMPTY, 1, 7),
        Step::Erase { field, position } => {
            let address = BodyAddress { position, event: 0 };
            answer(engine.erase(&name(field), &[address]).map(|erasure| format!("{erasure:?}")))
        }
        Step::Seal { field } => answer(engine.seal(&name(field)).map(|head| format!("{head:?}"))),
    }
}

#[test]
fn all_engines_agree_on_any_sequence() {
    let (postgres, nats) = (PostgresServer::start(), NatsServers::one());
    let dir = tempfile::tempdir().unwrap();
    let engines: [Arc<dyn Engine>; 4] = [
        Arc::new(MemoryEngine::new()),
        Arc::new(SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap()),
        Arc::new(PostgresEngine::open(&postgres.url()).unwrap()),
        Arc::new(NatsEngine::open(&nats.url()).unwrap()),
    ];
    let cases = std::cell::Cell::new(0);
    let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(8), ..config });
    let agreed = runner.run(&steps(), |steps| {
        // The servers stay, so each case has fields of its own.
        cases.set(cases.get() + 1);
        let name = |at: u8| field(&format!("case-{}-{at}", cases.get()));
        for step in &steps {
            let answers: Vec<String> =
                engines.iter().map(|engine| take(&**engine, &name, step)).collect();
            let all_same = answers.windows(2).all(|two| two[0] == two[1]);
            prop_assert!(all_same, "{step:?}: {answers:#?}");
        }
        let [first, others @ ..] = &engines;
        for engine in others {
            prop_assert_eq!(first.fields().unwrap(), engine.fields().unwrap());
            for name in [name(0), name(1)] {
                let head = first.head(&name).unwrap();
                prop_assert_eq!(head, engine.head(&name).unwrap());
                if head != Head::EMPTY {
                    let all = |engine: &dyn Engine| engine.read(&name, 1, usize::MAX).unwrap();
                    prop_assert_eq!(all(&**first), all(&**engine));
                    let end = verify_chain(&**engine, &name, Head::EMPTY, &mut |_| Ok(()));
                    prop_assert_eq!(end.unwrap(), head);
                }
            }
        }
        Ok(())
    });
    agreed.unwrap();
}
