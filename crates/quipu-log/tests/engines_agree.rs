//! Whatever the batches, the memory engine and the SQLite engine end with the same heads, commits and refusals.
#![cfg(test)]

use proptest::prelude::*;
use quipu_log::{
    Body, BodyAddress, Commit, Draft, DraftEvent, Engine, EngineError, FieldName, Head,
    MemoryEngine, Salt, SqliteEngine, SqliteOptions, verify_chain,
};
use serde_json::json;

#[derive(Debug, Clone)]
enum Step {
    /// Appends a batch of commits, each with the texts of its events.
    Append {
        field: u8,
        batch: Vec<Vec<Option<String>>>,
    },
    /// Appends to a head that was left behind.
    Stale {
        field: u8,
    },
    Erase {
        field: u8,
        position: u64,
        event: u32,
    },
    Seal {
        field: u8,
    },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let texts = prop::collection::vec(prop::option::of(".{0,40}"), 1..4);
    let batch = prop::collection::vec(texts, 0..5);
    let field = || 0..3_u8;
    let step = prop_oneof![
        8 => (field(), batch).prop_map(|(field, batch)| Step::Append { field, batch }),
        1 => field().prop_map(|field| Step::Stale { field }),
        3 => (field(), 0..12_u64, 0..4_u32)
            .prop_map(|(field, position, event)| Step::Erase { field, position, event }),
        1 => field().prop_map(|field| Step::Seal { field }),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..16)
}

fn name(field: u8) -> FieldName {
    format!("field-{field}").parse().unwrap()
}

fn sealed(mut head: Head, batch: &[Vec<Option<String>>]) -> Vec<Commit> {
    let mut commits = Vec::new();
    for texts in batch {
        let position = head.position + 1;
        let salt = Salt::from_bytes([u8::try_from(position % 251).unwrap(); 16]);
        let event = |text: &Option<String>| DraftEvent {
            event: json!({ "n": position }),
            body: text.as_ref().map(|text| Body::new(salt, text).unwrap()),
        };
        let draft = Draft {
            epoch: head.epoch + 2,
            time_ms: position,
            actor: "a".to_owned(),
            session: None,
            request: Some("r".to_owned()),
            events: texts.iter().map(event).collect(),
        };
        let commit = draft.seal(position, head.hash).unwrap();
        head = commit.head();
        commits.push(commit);
    }
    commits
}

fn take(engine: &dyn Engine, step: &Step) -> String {
    let answer = |result: Result<String, EngineError>| result.unwrap_or_else(|e| e.to_string());
    match step {
        Step::Append { field, batch } => {
            let head = engine.head(&name(*field)).unwrap();
            let batch = sealed(head, batch);
            answer(engine.append(&name(*field), &head, &batch).map(|head| format!("{head:?}")))
        }
        Step::Stale { field } => {
            let batch = sealed(Head::EMPTY, &[vec![None]]);
            let done = engine.append(&name(*field), &Head::EMPTY, &batch);
            answer(done.map(|head| format!("{head:?}")))
        }
        Step::Erase { field, position, event } => {
            let address = BodyAddress { position: *position, event: *event };
            answer(engine.erase(&name(*field), &[address]).map(|erasure| format!("{erasure:?}")))
        }
        Step::Seal { field } => answer(engine.seal(&name(*field)).map(|head| format!("{head:?}"))),
        Step::Reopen => String::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_agree_on_any_sequence(steps in steps()) {
        let dir = tempfile::tempdir().unwrap();
        let open = || SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap();
        let (memory, mut sqlite) = (MemoryEngine::new(), Some(open()));
        for step in &steps {
            if matches!(step, Step::Reopen) {
                drop(sqlite.take());
            }
            let sqlite = sqlite.get_or_insert_with(open);
            prop_assert_eq!(take(&memory, step), take(sqlite, step));
        }
        let sqlite = sqlite.unwrap();
        prop_assert_eq!(memory.fields().unwrap(), sqlite.fields().unwrap());
        for field in memory.fields().unwrap() {
            let head = verify_chain(&sqlite, &field, Head::EMPTY, &mut |_| Ok(())).unwrap();
            prop_assert_eq!(head, memory.head(&field).unwrap());
            let all = |engine: &dyn Engine| engine.read(&field, 1, usize::MAX).unwrap();
            prop_assert_eq!(all(&memory), all(&sqlite));
        }
    }
}
