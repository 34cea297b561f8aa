//! In a Field that is too large to score every unit, choosing candidates first changes next to nothing.

use std::sync::Arc;

use quipu_core::origin::ScriptedOrigin;
use quipu_field::{Field, FieldOptions, RankingOptions};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_wire::akashik::{AttunePayload, RecordPayload, UnitView};
use serde_json::json;

use crate::{
    sentences::{Dice, question, statement},
    support::{message, register},
};

const UNITS: usize = 20_000;
const AT_ONCE: usize = 500;
const HINTS: usize = 60;

fn open(engine: &Arc<dyn Engine>, exact_units_max: usize) -> Arc<Field> {
    let ranking = RankingOptions { exact_units_max, ..RankingOptions::default() };
    let origin = Arc::new(ScriptedOrigin::default());
    let options = FieldOptions { ranking, ..FieldOptions::new(origin) };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

async fn fill(field: &Arc<Field>, dice: &mut Dice) {
    const TYPES: [&str; 4] = ["finding", "observation", "decision", "question"];
    for first in (0..UNITS).step_by(AT_ONCE) {
        let mut waiting = Vec::new();
        for number in first..first + AT_ONCE {
            let payload = json!({
                "type": TYPES[dice.below(4)], "content": statement(dice),
                "intent": {"purpose": "to know", "task_id": format!("task-{}", number / 20)},
                "confidence": {"score": 0.5, "reasoning": "seen"},
            });
            let (payload, _) = RecordPayload::parse(payload).unwrap();
            let (field, from) = (Arc::clone(field), message(&format!("m-{number}"), "author"));
            waiting.push(tokio::spawn(async move { field.record(from, payload).await.unwrap() }));
        }
        for recorded in waiting {
            recorded.await.unwrap();
        }
    }
}

async fn first_ten(field: &Arc<Field>, hint: &str) -> Vec<String> {
    let asked = json!({"scope": {"role": "reader", "max_units": 10}, "context_hint": hint,
                       "format": "ids_only"});
    let (payload, _) = AttunePayload::parse(asked).unwrap();
    let answer = field.attune(message("ask", "reader"), payload).await.unwrap();
    let id = |view: &UnitView| match view {
        UnitView::Id { id } => id.clone(),
        UnitView::Unit(unit) => unit.id.clone(),
    };
    answer.record.iter().map(|scoped| id(&scoped.memory_unit)).collect()
}

// One thread, so that the units are recorded in the same order each time.
#[tokio::test]
async fn of_the_ten_best_of_all_98_in_100_are_among_the_ten_best_of_the_candidates() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let fast = open(&engine, RankingOptions::default().exact_units_max);
    for agent in ["author", "reader"] {
        register(&fast, agent).await.unwrap();
    }
    let mut dice = Dice(11);
    fill(&fast, &mut dice).await;
    let hints: Vec<String> = (0..HINTS).map(|_| question(&mut dice)).collect();
    let mut chosen = Vec::new();
    for hint in &hints {
        chosen.push(first_ten(&fast, hint).await);
    }
    fast.close().await;
    let exact = open(&engine, usize::MAX);
    let mut same = 0;
    for (hint, chosen) in hints.iter().zip(&chosen) {
        let best = first_ten(&exact, hint).await;
        same += best.iter().filter(|id| chosen.contains(id)).count();
    }
    assert!(same * 100 >= HINTS * 10 * 98, "{same} of {}", HINTS * 10);
}
