//! What holds for every ranking: hidden units change nothing, the same log gives the same answer, less
//! is a beginning of more, budgets are kept, and no text breaks it.

use std::{path::PathBuf, sync::Arc};

use crate::support::{message, open, register};
use proptest::prelude::*;
use quipu_core::Message;
use quipu_field::{Field, restore::restore, snapshot::format::SnapshotDir};
use quipu_log::{Engine, FieldName, MemoryEngine, Pace};
use quipu_recall::text::tokens::Encoding;
use quipu_wire::akashik::{
    AttunePayload, AttuneResponse, RecordPayload, ScopedMemoryUnit, UnitView,
};
use serde_json::{Value, json};

const WORDS: &[&str] =
    &["harbour", "fees", "ship", "crane", "never", "prefer", "anna", "strike", "market", "oil"];
const TYPES: &[&str] = &["finding", "decision", "observation", "human_directive", "constraint"];

/// A unit to record: who, in a session that the reader does not see or in none, what.
#[derive(Debug, Clone)]
struct Planned {
    author: usize,
    hidden: bool,
    kind: &'static str,
    task: Option<usize>,
    text: String,
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 1..8).prop_map(|words| words.join(" "))
}

fn planned() -> impl Strategy<Value = Planned> {
    let facts = (0_usize..3, any::<bool>(), prop::sample::select(TYPES));
    (facts, prop::option::of(0_usize..2), text()).prop_map(
        |((author, hidden, kind), task, text)| Planned { author, hidden, kind, task, text },
    )
}

fn memory() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

async fn field_with(engine: &Arc<dyn Engine>, units: &[Planned]) -> Arc<Field> {
    let field = open(engine, None);
    for agent in ["anna", "bert", "cleo", "reader"] {
        register(&field, agent).await.unwrap();
    }
    for (number, unit) in units.iter().enumerate() {
        let agent = ["anna", "bert", "cleo"][unit.author];
        let session = unit.hidden.then(|| "closed".to_owned());
        let message = Message { session, ..message(&format!("m-{number}"), agent) };
        let mut intent = json!({"purpose": "to know"});
        if let Some(task) = unit.task {
            intent["task_id"] = json!(format!("task-{task}"));
        }
        let payload = json!({"type": unit.kind, "content": unit.text, "intent": intent,
                             "confidence": {"score": 0.5, "reasoning": "r"}});
        let (payload, _) = RecordPayload::parse(payload).unwrap();
        field.record(message, payload).await.unwrap();
    }
    field
}

async fn ask(field: &Arc<Field>, payload: Value) -> AttuneResponse {
    let (payload, _) = AttunePayload::parse(payload).unwrap();
    field.attune(message("ask", "reader"), payload).await.unwrap()
}

/// What the answer says, without ids, which are drawn.
fn told(answer: &AttuneResponse) -> Vec<(String, u64, String, Option<Value>)> {
    let entry = |scoped: &ScopedMemoryUnit| {
        let UnitView::Unit(unit) = &scoped.memory_unit else { panic!("asked for units") };
        let explained = scoped.explanation.as_ref().map(|all| serde_json::to_value(all).unwrap());
        let score = scoped.relevance_score.to_bits();
        (unit.content.clone(), score, scoped.relevance_reason.clone(), explained)
    };
    answer.record.iter().map(entry).collect()
}

fn question(hint: Option<&str>) -> Value {
    let scope = json!({"role": "harbour master", "max_units": 50, "explain": true,
                       "interests": ["oil market"], "active_task_id": "task-0"});
    match hint {
        Some(hint) => json!({"scope": scope, "context_hint": hint}),
        None => json!({ "scope": scope }),
    }
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_hidden_unit_changes_nothing_that_a_reader_sees(
        units in prop::collection::vec(planned(), 1..20),
        hint in prop::option::of(text()),
    ) {
        wait(async {
            let with = field_with(&memory(), &units).await;
            let open: Vec<Planned> = units.iter().filter(|unit| !unit.hidden).cloned().collect();
            let without = field_with(&memory(), &open).await;
            let asked = question(hint.as_deref());
            let (with, without) = (ask(&with, asked.clone()).await, ask(&without, asked).await);
            assert!(told(&with) == told(&without), "the answers differ");
            assert_eq!(with.context_budget, without.context_budget);
            assert_eq!(with.warnings, without.warnings);
        });
    }

    #[test]
    fn the_same_log_gives_the_same_answer_after_a_restart_from_the_log_or_a_snapshot(
        units in prop::collection::vec(planned(), 1..20),
        hint in prop::option::of(text()),
    ) {
        wait(async {
            let engine = memory();
            let asked = question(hint.as_deref());
            let field = field_with(&engine, &units).await;
            let first = ask(&field, asked.clone()).await;
            field.close().await;
            let folder = tempfile::tempdir().unwrap();
            let name = FieldName::default_field();
            let restored = restore(engine.as_ref(), &name, None, Pace::Alone, &mut |_| true).unwrap();
            SnapshotDir::new(folder.path().to_owned()).save(&restored.published).unwrap();
            for snapshots in [None, Some(PathBuf::from(folder.path()))] {
                let again = open(&engine, snapshots);
                assert_eq!(ask(&again, asked.clone()).await.record, first.record);
                again.close().await;
            }
        });
    }

    #[test]
    fn fewer_units_are_a_beginning_of_more_and_scores_fall_from_0_to_1(
        units in prop::collection::vec(planned(), 1..20),
        hint in prop::option::of(text()),
        max_units in 1_usize..10,
    ) {
        wait(async {
            let field = field_with(&memory(), &units).await;
            let mut asked = question(hint.as_deref());
            let all = ask(&field, asked.clone()).await.record;
            asked["scope"]["max_units"] = json!(max_units);
            let some = ask(&field, asked).await.record;
            assert_eq!(some[..], all[..max_units.min(all.len())]);
            assert!(all.iter().all(|unit| (0.0..=1.0).contains(&unit.relevance_score)));
            assert!(all.windows(2).all(|two| two[0].relevance_score >= two[1].relevance_score));
        });
    }

    #[test]
    fn a_budget_is_never_exceeded_and_what_is_used_is_what_is_sent(
        units in prop::collection::vec(planned(), 1..8),
        long in any::<bool>(),
        max_tokens in 1_usize..900,
        tokenizer in prop::sample::select(vec!["o200k", "cl100k"]),
    ) {
        wait(async {
            let mut units = units;
            if long {
                units[0].text = "The harbour raised its fees again. ".repeat(80);
            }
            let field = field_with(&memory(), &units).await;
            let scope = json!({"role": "r", "max_units": 9, "max_tokens": max_tokens,
                               "tokenizer": tokenizer});
            let answer = ask(&field, json!({"scope": scope, "context_hint": "harbour"})).await;
            let used = answer.context_budget.tokens_used.unwrap();
            assert!(used <= max_tokens);
            let encoding =
                if tokenizer == "o200k" { Encoding::O200k } else { Encoding::Cl100k };
            let sent = serde_json::to_string(&answer.record).unwrap();
            assert_eq!(used, if answer.record.is_empty() { 0 } else { encoding.count(&sent) });
        });
    }
}

/// More units than are ranked one by one.
async fn crowd() -> Arc<Field> {
    let words = |number: usize| {
        (0..6)
            .map(|at| WORDS[(number * 7 + at * at * (number % 13)) % WORDS.len()])
            .collect::<Vec<_>>()
    };
    let unit = |number: usize| Planned {
        author: number % 3,
        hidden: false,
        kind: TYPES[number % TYPES.len()],
        task: Some(number % 2).filter(|_| number.is_multiple_of(5)),
        text: format!("{} {number}", words(number).join(" ")),
    };
    let units: Vec<Planned> = (0..2600).map(unit).collect();
    field_with(&memory(), &units).await
}

#[tokio::test]
async fn in_a_large_field_less_is_a_beginning_of_more_and_the_needle_is_found() {
    let field = crowd().await;
    let mut asked = question(Some("about number 1234"));
    asked["scope"]["max_units"] = json!(2600);
    let all = ask(&field, asked.clone()).await;
    assert_eq!(all.record.len(), 2600);
    let UnitView::Unit(first) = &all.record[0].memory_unit else { panic!("a unit") };
    assert!(first.content.ends_with(" 1234"), "{}", first.content);
    assert!(all.record.windows(2).all(|two| two[0].relevance_score >= two[1].relevance_score));
    for max_units in [1, 10, 400, 1500] {
        asked["scope"]["max_units"] = json!(max_units);
        let some = ask(&field, asked.clone()).await.record;
        let differing = some.iter().zip(&all.record).find(|(some, all)| some != all);
        assert_eq!((differing, some.len()), (None, max_units));
    }
}

#[tokio::test]
async fn little_is_explained_by_what_was_left_out() {
    let unit = Planned {
        author: 0,
        hidden: false,
        kind: "finding",
        task: None,
        text: "the ship is late".to_owned(),
    };
    let field = field_with(&memory(), &[unit.clone(), Planned { hidden: true, ..unit }]).await;
    let scope = json!({"role": "r", "max_units": 5, "relevance_threshold": 1.0});
    let answer = ask(&field, json!({"scope": scope, "context_hint": "bananas"})).await;
    let said = "0 units found; left out: 1 below relevance_threshold";
    assert_eq!(answer.warnings, [said]);
    let scope = json!({"role": "r", "max_units": 5});
    let mine = AttunePayload::parse(json!({ "scope": scope })).unwrap().0;
    let answer = field.attune(message("own", "anna"), mine).await.unwrap();
    assert_eq!(
        answer.warnings,
        ["0 units found; left out: 1 your own (scope.include_own returns them)"]
    );
}

#[tokio::test]
async fn no_text_and_no_hint_breaks_the_ranking() {
    let base64 = "bWFya2V0IGdyb3d0aCBpbiBhc2lh/+".repeat(3500);
    let code = "fn main() { let täxt = vec![0u8; 1 << 20]; }\n".repeat(2000);
    let emoji = "👩‍👩‍👧‍👦🏳️‍🌈 ".repeat(500);
    let homoglyphs = "Тhе hаrbоur rаisеd its fееs".to_owned();
    let texts = [
        "word".to_owned(),
        base64,
        code,
        emoji,
        homoglyphs,
        "\u{202E}שלום עולם\u{202C}".to_owned(),
        "市場は成長しています".to_owned(),
        "...".to_owned(),
    ];
    let unit = |text: &String| Planned {
        author: 0,
        hidden: false,
        kind: "finding",
        task: None,
        text: text.clone(),
    };
    let field = field_with(&memory(), &texts.iter().map(unit).collect::<Vec<_>>()).await;
    for hint in texts.iter().chain([&" ".to_owned(), &"\u{0}\u{FFFD}".to_owned()]) {
        let hint = hint.get(..hint.floor_char_boundary(60_000)).unwrap();
        let answer = ask(&field, question(Some(hint))).await;
        assert_eq!(answer.record.len(), texts.len(), "{hint:.20}");
    }
    let asked = ask(&field, question(Some(&texts[6]))).await;
    let UnitView::Unit(first) = &asked.record[0].memory_unit else { panic!("a unit") };
    assert_eq!(first.content, texts[6]);
}
