//! ATTUNE by its rules: what is left out, how it is ranked and cut, and what it says of itself.

use std::sync::Arc;

use crate::{
    coordination,
    support::{message, open, register},
};
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{AttunePayload, AttuneResponse, Format, RecordPayload, UnitView},
};
use serde_json::{Value, json};

async fn team() -> Arc<Field> {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    for agent in ["researcher", "analyst", "strategist"] {
        register(&field, agent).await.unwrap();
    }
    field
}

async fn add(field: &Field, agent: &str, id: &str, payload: Value) -> String {
    let mut whole = json!({"type": "finding", "intent": {"purpose": "to know"},
                           "confidence": {"score": 0.5, "reasoning": "r"}});
    for (key, value) in payload.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let (payload, _) = RecordPayload::parse(whole).unwrap();
    field.record(message(id, agent), payload).await.unwrap().memory_unit_id
}

async fn ask(field: &Arc<Field>, agent: &str, payload: Value) -> AttuneResponse {
    let (payload, _) = AttunePayload::parse(payload).unwrap();
    field.attune(message("ask", agent), payload).await.unwrap()
}

fn contents(answer: &AttuneResponse) -> Vec<&str> {
    answer
        .record
        .iter()
        .map(|scoped| match &scoped.memory_unit {
            UnitView::Unit(unit) => unit.content.as_str(),
            UnitView::Id { id } => id.as_str(),
        })
        .collect()
}

#[tokio::test]
async fn own_units_are_left_out_unless_asked_for() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"content": "mine"})).await;
    add(&field, "analyst", "2", json!({"content": "theirs"})).await;
    let scope = json!({"scope": {"role": "r", "max_units": 9}});
    assert_eq!(contents(&ask(&field, "researcher", scope).await), ["theirs"]);
    let scope = json!({"scope": {"role": "r", "max_units": 9, "include_own": true}});
    assert_eq!(ask(&field, "researcher", scope).await.record.len(), 2);
}

#[tokio::test]
async fn the_hint_decides_what_comes_first_and_the_reason_says_so() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"content": "The European market grows by 23% a year."}))
        .await;
    for number in 0..20 {
        let content = format!("Note {number} about the office kitchen.");
        add(&field, "analyst", &format!("n{number}"), json!({"content": content})).await;
    }
    let hint = json!({"scope": {"role": "strategist", "max_units": 3}, "context_hint": "how fast does the market grow"});
    let answer = ask(&field, "strategist", hint).await;
    assert_eq!(contents(&answer)[0], "The European market grows by 23% a year.");
    assert!(
        answer.record[0].relevance_reason.contains("'market'"),
        "{}",
        answer.record[0].relevance_reason
    );
    assert_eq!(answer.context_budget.units_returned, 3);
    assert_eq!(answer.context_budget.units_available, 21);
    let scores: Vec<f64> = answer.record.iter().map(|unit| unit.relevance_score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
}

#[tokio::test]
async fn decisions_come_before_observations_and_drafts_after() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"type": "decision", "content": "x"})).await;
    add(&field, "researcher", "2", json!({"type": "observation", "content": "y"})).await;
    add(&field, "researcher", "3", json!({"type": "decision", "content": "z", "mode": "draft"}))
        .await;
    let scope = json!({"scope": {"role": "r", "max_units": 9, "recency_weight": 0}});
    assert_eq!(contents(&ask(&field, "analyst", scope).await), ["x", "z", "y"]);
    let scope = json!({"scope": {"role": "r", "max_units": 9, "exclude_drafts": true}});
    assert_eq!(ask(&field, "analyst", scope).await.record.len(), 2);
}

#[tokio::test]
async fn recency_can_be_ignored_or_decide_alone() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"type": "decision", "content": "old"})).await;
    add(&field, "researcher", "2", json!({"type": "observation", "content": "new"})).await;
    let with = |weight| json!({"scope": {"role": "r", "max_units": 9, "recency_weight": weight}});
    assert_eq!(contents(&ask(&field, "analyst", with(1)).await), ["new", "old"]);
    assert_eq!(contents(&ask(&field, "analyst", with(0)).await), ["old", "new"]);
}

#[tokio::test]
async fn units_of_the_active_task_are_favoured() {
    let field = team().await;
    let served = json!({"content": "x", "intent": {"purpose": "p", "task_id": "task-1"}});
    add(&field, "researcher", "1", served).await;
    add(&field, "researcher", "2", json!({"content": "y"})).await;
    let scope = json!({"scope": {"role": "r", "max_units": 9, "active_task_id": "task-1", "recency_weight": 0}});
    let answer = ask(&field, "analyst", scope).await;
    assert_eq!(contents(&answer), ["x", "y"]);
    assert!(
        answer.record[0].relevance_reason.contains("your task"),
        "{}",
        answer.record[0].relevance_reason
    );
}

#[tokio::test]
async fn the_task_that_an_agent_works_on_counts_as_the_one_it_names() {
    let agents = ["researcher", "analyst", "strategist"].map(|id| (id, "worker", 6));
    let (_, field) = coordination::team(&agents).await;
    let by = || coordination::from("analyst", None);
    coordination::make(&field, by(), "task-1", json!({})).await;
    coordination::act(&field, by(), "task-1", "claim").await.unwrap();
    coordination::act(&field, by(), "task-1", "start").await.unwrap();
    let served = json!({"content": "x", "intent": {"purpose": "p", "task_id": "task-1"}});
    add(&field, "researcher", "1", served).await;
    add(&field, "researcher", "2", json!({"content": "y"})).await;
    let scope = json!({"scope": {"role": "r", "max_units": 9, "recency_weight": 0}});
    let answer = ask(&field, "analyst", scope.clone()).await;
    assert_eq!(contents(&answer), ["x", "y"]);
    assert!(answer.record[0].relevance_reason.contains("your task"));
    let idle = ask(&field, "strategist", scope).await;
    assert!(!idle.record.iter().any(|unit| unit.relevance_reason.contains("your task")));
}

#[tokio::test]
async fn a_unit_of_no_session_is_not_found_by_the_words_of_other_authors_or_of_the_reader() {
    let field = team().await;
    let note = |content: &str| json!({ "content": content });
    add(&field, "researcher", "1", note("Nightly backups finish in 40 minutes.")).await;
    add(&field, "analyst", "2", note("We spend 4000 euros a month on servers.")).await;
    add(&field, "researcher", "3", note("The office plants were watered.")).await;
    let asked = json!({"scope": {"role": "r", "max_units": 9},
                       "context_hint": "How much do we spend on servers?"});
    for reader in ["analyst", "strategist"] {
        let answer = ask(&field, reader, asked.clone()).await;
        for unit in &answer.record {
            let reason = &unit.relevance_reason;
            assert!(!reason.contains("beside what your hint names"), "{reader}: {reason}");
        }
    }
    let answer = ask(&field, "strategist", asked).await;
    assert!(contents(&answer)[0].contains("4000 euros"));
}

#[tokio::test]
async fn the_summary_of_a_long_unit_has_the_sentence_that_answers_the_hint() {
    let field = team().await;
    let filler = "CI costs fell by 8% in week 31. Lunch on Thursday is at 12:30. ";
    let more: String =
        (1..30).map(|n| format!("Room {n} was painted on day {n} by crew {}. ", n + 40)).collect();
    let answer = "The vault token rotation interval is now seven days.";
    let content = format!("Notes of the weekly meeting. {filler}{more}{answer} Nobody objected.");
    add(&field, "researcher", "1", json!({ "content": content })).await;
    let scope = json!({"scope": {"role": "r", "max_units": 3, "max_tokens": 300},
                       "context_hint": "how often do vault tokens rotate"});
    let given = ask(&field, "analyst", scope).await;
    assert!(contents(&given)[0].contains(answer), "{:?}", contents(&given));
    assert!(contents(&given)[0].len() < content.len());
}

#[tokio::test]
async fn a_threshold_counts_all_that_is_below_it_however_few_are_asked_for() {
    let field = team().await;
    for number in 0..6 {
        let content = format!("Note {number} about the kitchen.");
        add(&field, "researcher", &number.to_string(), json!({ "content": content })).await;
    }
    for max_units in [2, 4, 9] {
        let scope = json!({"role": "r", "max_units": max_units, "relevance_threshold": 1.0});
        let answer = ask(&field, "analyst", json!({ "scope": scope })).await;
        let said = "0 units found; left out: 6 below relevance_threshold";
        assert_eq!(answer.warnings, [said], "max_units {max_units}");
    }
}

#[tokio::test]
async fn a_token_budget_is_kept_by_summarizing_and_leaving_out() {
    let field = team().await;
    for number in 0..10 {
        let content =
            format!("Finding {number}. {}", "It goes on and on about the matter. ".repeat(30));
        add(&field, "researcher", &format!("{number}"), json!({"content": content})).await;
    }
    let scope = json!({"scope": {"role": "r", "max_units": 10, "max_tokens": 700}});
    let answer = ask(&field, "analyst", scope).await;
    let budget = &answer.context_budget;
    let used = budget.tokens_used.unwrap();
    assert!(used <= 700 && used > 300, "{used}");
    assert_eq!(budget.tokens_budget, Some(700));
    assert!(!answer.record.is_empty() && answer.record.len() < 10);
    assert!(answer.record.iter().any(|unit| unit.format == Some(Format::Summary)));
    let none =
        ask(&field, "analyst", json!({"scope": {"role": "r", "max_units": 10, "max_tokens": 1}}))
            .await;
    assert_eq!((none.record.len(), none.context_budget.tokens_used), (0, Some(0)));
}

#[tokio::test]
async fn formats_return_as_much_as_was_asked_for() {
    let field = team().await;
    let content = format!("First sentence. {}", "Another sentence follows here. ".repeat(40));
    let id = add(&field, "researcher", "1", json!({"content": content})).await;
    let in_format = |format| json!({"scope": {"role": "r", "max_units": 1}, "format": format});
    let ids = ask(&field, "analyst", in_format("ids_only")).await;
    assert_eq!(ids.record[0].memory_unit, UnitView::Id { id });
    assert!(
        ids.record[0].relevance_reason.contains("finding from role of researcher"),
        "{}",
        ids.record[0].relevance_reason
    );
    let summary = ask(&field, "analyst", in_format("summary")).await;
    assert!(contents(&summary)[0].len() < content.len() / 2);
    assert_eq!(summary.record[0].format, Some(Format::Summary));
    let full = ask(&field, "analyst", in_format("full")).await;
    assert_eq!(contents(&full), [content.as_str()]);
}

#[tokio::test]
async fn a_threshold_leaves_out_what_scores_lower_and_layers_what_speaks_of_other_times() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"type": "finding", "content": "known"})).await;
    add(&field, "researcher", "2", json!({"type": "intention", "content": "planned"})).await;
    let scope = json!({"scope": {"role": "r", "max_units": 9, "temporal_layers": ["future"]}});
    assert_eq!(contents(&ask(&field, "analyst", scope).await), ["planned"]);
    let scope = json!({"scope": {"role": "r", "max_units": 9, "relevance_threshold": 1.0}});
    let nothing = ask(&field, "analyst", scope).await;
    assert_eq!((nothing.record.len(), nothing.context_budget.units_available), (0, 2));
}

#[tokio::test]
async fn an_explanation_adds_up_to_the_score() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"content": "The market grows."})).await;
    let payload =
        json!({"scope": {"role": "r", "max_units": 1, "explain": true}, "context_hint": "market"});
    let answer = ask(&field, "analyst", payload).await;
    let unit = &answer.record[0];
    let explanation = unit.explanation.as_ref().unwrap();
    let sum: f64 = explanation.factors.iter().map(|factor| factor.contribution).sum();
    assert!(
        (sum * (1.0 - explanation.diversity_discount) - unit.relevance_score).abs() < 1e-4,
        "{unit:?}"
    );
}

#[tokio::test]
async fn who_left_cannot_attune_and_what_it_left_stays() {
    let field = team().await;
    add(&field, "researcher", "1", json!({"content": "stays"})).await;
    let leave = quipu_wire::akashik::DeregisterPayload { agent_id: "researcher".to_owned() };
    let left = field.deregister(message("bye", "researcher"), leave).await.unwrap();
    assert_eq!(left.cleanup.units_orphaned, 1);
    let scope = json!({"scope": {"role": "r", "max_units": 9}});
    assert_eq!(contents(&ask(&field, "analyst", scope.clone()).await), ["stays"]);
    let (payload, _) = AttunePayload::parse(scope).unwrap();
    let refused = field.attune(message("ask", "researcher"), payload).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::AgentNotRegistered);
}

#[tokio::test]
async fn one_unit_that_is_too_large_hides_no_other() {
    let field = team().await;
    for number in 0..4 {
        let content = format!("Small note {number} about the market.");
        add(&field, "analyst", &format!("n{number}"), json!({"content": content})).await;
    }
    let evidence: Vec<String> =
        (0..200).map(|n| format!("https://example.com/market/{n}")).collect();
    let large = json!({"type": "decision", "content": "market ".repeat(4000),
        "intent": {"purpose": "market ".repeat(2000)},
        "confidence": {"score": 1.0, "reasoning": "r", "evidence": evidence}});
    add(&field, "researcher", "large", large).await;
    let payload = json!({"scope": {"role": "r", "max_units": 9, "max_tokens": 700}, "context_hint": "market"});
    let answer = ask(&field, "strategist", payload).await;
    assert!(contents(&answer).iter().any(|text| text.starts_with("Small note")), "{answer:?}");
    assert!(answer.context_budget.tokens_used.unwrap() <= 700);
}
