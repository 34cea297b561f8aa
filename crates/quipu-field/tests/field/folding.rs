//! A summarize leaves what holds, says things once and in fewer characters, and finds nothing to do the second time.

use std::{collections::BTreeSet, sync::Arc};

use proptest::prelude::*;
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::akashik::{
    AttunePayload, CompactResponse, MemoryType, MemoryUnit, RecordPayload, UnitView,
};
use serde_json::{Value, json};

use crate::{
    compact::{attune, compact},
    state_from_log::runtime,
    support::{message, open_across, record, register},
};

async fn field() -> Arc<Field> {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_across(&engine, None);
    register(&field, "a").await.unwrap();
    field
}

/// RECORD of some type, in a session and for a task where these are named.
async fn put(field: &Field, id: &str, kind: &str, content: &str, change: Value) -> String {
    let mut payload = json!({"type": kind, "content": content, "intent": {"purpose": "to test"},
                             "confidence": {"score": 0.5, "reasoning": "because"}});
    payload["relations"] = change["relations"].clone();
    if !change["task"].is_null() {
        payload["intent"]["task_id"] = change["task"].clone();
    }
    if !change["score"].is_null() {
        payload["confidence"]["score"] = change["score"].clone();
    }
    let mut sent = message(id, "a");
    sent.session = change["session"].as_str().map(str::to_owned);
    let (payload, _) = RecordPayload::parse(payload).unwrap();
    field.record(sent, payload).await.unwrap().memory_unit_id
}

async fn summarize(field: &Arc<Field>, id: &str, filter: Value) -> CompactResponse {
    compact(field, id, json!({"strategy": "summarize", "filter": filter})).await.unwrap()
}

fn of_type(units: &[MemoryUnit], kind: MemoryType) -> Vec<&MemoryUnit> {
    units.iter().filter(|unit| unit.kind == kind).collect()
}

/// A week of a harbour, as its people wrote it down.
const WEEK: [&str; 8] = [
    "Pilot Okafor brought the Meridian in at 06:40 and moored it at berth 7. The crew was tired after the storm.",
    "The crane at berth 7 lifted 212 containers before noon. Its brake was loud but held all day.",
    "Customs opened 14 of the containers and found nothing. They asked for the papers of the Meridian again.",
    "The crane at berth 7 lifted 212 containers before noon.",
    "Fuel for the tugs costs 3.5 percent more since 3 March. Weber wants another offer by Friday.",
    "The Meridian leaves on 9 March for Rotterdam with 180 containers. Okafor takes it out again.",
    "It rained. Some of us had soup, others had coffee, and we talked about the football for a while.",
    "The brake of the crane was checked by Lindqvist and needs new pads before the summer.",
];

#[tokio::test]
async fn a_summary_is_shorter_says_things_once_and_keeps_figures_names_and_dates() {
    let field = field().await;
    for (at, text) in WEEK.into_iter().enumerate() {
        put(&field, &at.to_string(), "finding", text, json!({"session": "s"})).await;
    }
    let before: usize = WEEK.iter().map(|text| text.chars().count()).sum();
    let answer = summarize(&field, "c", json!({"session_id": "s"})).await;
    assert_eq!((answer.units_affected, answer.synthesis_units_created), (8, 1));
    let units = attune(&field, false).await;
    let text = &units[0].content;
    assert!(text.chars().count() * 2 < before, "{text}");
    assert_eq!(text.matches("2026-03-01").count(), 1, "the date stands once: {text}");
    assert_eq!(text.matches("lifted 212 containers").count(), 1, "{text}");
    let fidelity = answer.fidelity.unwrap();
    assert!(fidelity.numbers.kept * 10 >= fidelity.numbers.of * 7, "{fidelity:?}\n{text}");
    assert!(fidelity.dates.kept * 10 >= fidelity.dates.of * 7, "{fidelity:?}\n{text}");
    assert!(fidelity.entities.kept * 10 >= fidelity.entities.of * 7, "{fidelity:?}\n{text}");
    assert!(fidelity.answers.of > 5, "{fidelity:?}");
}

#[tokio::test]
async fn what_holds_stays_unless_the_filter_names_it() {
    let field = field().await;
    let rule = "Always moor tankers at berth 9, and never at night.";
    for kind in ["human_directive", "constraint", "decision"] {
        put(&field, kind, kind, rule, json!({})).await;
        put(&field, &format!("{kind} again"), kind, rule, json!({})).await;
    }
    let open = put(&field, "q1", "question", "Who pays for the new crane?", json!({})).await;
    let asked = put(&field, "q2", "question", "When does the Meridian leave?", json!({})).await;
    let answers = json!([{"type": "answers", "target_id": asked}]);
    put(&field, "a2", "finding", "It leaves on 9 March.", json!({"relations": answers})).await;
    let first = put(&field, "d1", "finding", "Berth 7 has 3 cranes.", json!({})).await;
    let against = json!([{"type": "contradicts", "target_id": first}]);
    put(&field, "d2", "finding", "Berth 7 has 4 cranes.", json!({"relations": against})).await;
    for (at, text) in WEEK.into_iter().enumerate() {
        put(&field, &at.to_string(), "finding", text, json!({})).await;
    }
    let answer = summarize(&field, "c1", json!({})).await;
    assert_eq!(answer.units_affected, 8 + 2, "the week, the answered question and its answer");
    let units = attune(&field, false).await;
    for kind in [MemoryType::HumanDirective, MemoryType::Constraint, MemoryType::Decision] {
        assert_eq!(of_type(&units, kind).len(), 2, "{kind}");
    }
    assert_eq!(of_type(&units, MemoryType::Question)[0].id, open);
    assert_eq!(of_type(&units, MemoryType::Finding).len(), 2, "what is disputed");
    let told = of_type(&units, MemoryType::Synthesis);
    assert!(told[0].content.contains("When does the Meridian leave? — a: It leaves on 9 March."));

    let named = json!({"types": ["decision", "constraint", "human_directive", "question"]});
    let answer = summarize(&field, "c2", named).await;
    let fidelity = answer.fidelity.unwrap();
    assert_eq!((fidelity.decisions.of, fidelity.decisions.kept), (2, 2));
    assert_eq!((fidelity.rules.of, fidelity.rules.kept), (4, 4));
    let units = attune(&field, false).await;
    let told: Vec<&str> =
        of_type(&units, MemoryType::Synthesis).iter().map(|unit| unit.content.as_str()).collect();
    let told = told.join("\n");
    assert!(
        told.contains(&format!("decision: {rule}")) && told.contains("open question: Who pays")
    );
}

#[tokio::test]
async fn what_few_short_units_say_is_left_alone() {
    let field = field().await;
    for (id, text) in [("1", "It is late."), ("2", "Nobody came."), ("3", "Berth 4 is free.")] {
        put(&field, id, "finding", text, json!({})).await;
    }
    let head = field.head();
    let answer = summarize(&field, "c", json!({})).await;
    assert_eq!((answer.units_affected, answer.fidelity), (0, None));
    assert_eq!(field.head(), head);
}

#[tokio::test]
async fn a_later_summarize_writes_the_originals_and_what_is_new_in_place_of_the_old_summary() {
    let field = field().await;
    let session = json!({"session": "s", "task": "week"});
    let mut originals = BTreeSet::new();
    for (at, text) in WEEK[..4].iter().enumerate() {
        originals.insert(put(&field, &at.to_string(), "finding", text, session.clone()).await);
    }
    summarize(&field, "c1", json!({"session_id": "s"})).await;
    let old = attune(&field, false).await.remove(0);
    for (at, text) in WEEK[4..].iter().enumerate() {
        originals.insert(put(&field, &format!("n{at}"), "finding", text, session.clone()).await);
    }
    let answer = summarize(&field, "c2", json!({"session_id": "s"})).await;
    assert_eq!((answer.units_affected, answer.synthesis_units_created), (5, 1));
    let units = attune(&field, false).await;
    assert_eq!(units.len(), 1, "the old summary is not there any more");
    let elaborated: BTreeSet<String> =
        units[0].relations.iter().map(|relation| relation.target_id.clone()).collect();
    originals.insert(old.id.clone());
    assert_eq!(elaborated, originals);
    assert_eq!(units[0].content.matches("2026-03-01").count(), 1, "no summary within a summary");
    assert!(!units[0].content.contains("synthesis"), "{}", units[0].content);
    let head = field.head();
    assert_eq!(summarize(&field, "c3", json!({"session_id": "s"})).await.units_affected, 0);
    assert_eq!(field.head(), head);
}

#[tokio::test]
async fn a_synthesis_that_an_agent_wrote_is_a_unit_like_others() {
    let field = field().await;
    let first = put(&field, "1", "finding", WEEK[0], json!({})).await;
    let elaborates = json!([{"type": "elaborates", "target_id": first}]);
    put(&field, "2", "synthesis", WEEK[2], json!({"relations": elaborates})).await;
    for (at, text) in WEEK[4..].iter().enumerate() {
        put(&field, &format!("n{at}"), "finding", text, json!({})).await;
    }
    let answer = summarize(&field, "c", json!({})).await;
    assert_eq!(answer.units_affected, 6, "its words are told as those of anybody");
}

#[tokio::test]
async fn a_summary_that_loses_more_than_was_said_is_refused_and_nothing_is_done() {
    let field = field().await;
    for (at, text) in WEEK.into_iter().enumerate() {
        put(&field, &at.to_string(), "finding", text, json!({})).await;
    }
    let head = field.head();
    for dry_run in [true, false] {
        let strict = json!({"strategy": "summarize", "minimum_fidelity": 1.0, "dry_run": dry_run});
        let (payload, _) = quipu_wire::akashik::CompactPayload::parse(strict).unwrap();
        let refused = field.compact(message("c", "a"), payload).await.unwrap_err();
        assert!(refused.to_string().contains("payload.minimum_fidelity: is 1"), "{refused}");
        assert_eq!(field.head(), head);
    }
    let lax = json!({"strategy": "summarize", "minimum_fidelity": 0.3});
    assert_eq!(compact(&field, "d", lax).await.unwrap().units_affected, 8);
}

#[tokio::test]
async fn texts_in_other_scripts_are_condensed_too() {
    let field = field().await;
    let texts = [
        "港は氷のため月曜日まで閉鎖されている。船長は沖で待つと言った。水先案内人は火曜日に来る。倉庫には木箱が340個ある。",
        "Гавань закрыта льдом до понедельника. Капитан Орлов ждёт на рейде. На складе осталось 340 ящиков.",
        "الميناء مغلق بسبب الجليد حتى يوم الاثنين. القبطان ينتظر في عرض البحر. في المستودع 340 صندوقا.",
        "बंदरगाह सोमवार तक बर्फ के कारण बंद है। कप्तान समुद्र में प्रतीक्षा कर रहा है। गोदाम में 340 बक्से हैं।",
        "ท่าเรือปิดเพราะน้ำแข็งจนถึงวันจันทร์ กัปตันรออยู่ในทะเล ในโกดังมีลัง 340 ใบ และเรือลำใหม่จะมาถึงในสัปดาห์หน้า",
        "\u{202e}🚢🧊🧊🧊\u{200b} … \u{0} 340 \u{fffd}",
    ];
    for (at, text) in texts.into_iter().enumerate() {
        put(&field, &at.to_string(), "observation", text, json!({})).await;
        put(&field, &format!("again-{at}"), "observation", text, json!({})).await;
    }
    let before: usize = texts.iter().map(|text| 2 * text.chars().count()).sum();
    let answer = summarize(&field, "c", json!({})).await;
    assert_eq!(answer.units_affected, 12);
    let units = attune(&field, false).await;
    let after: usize = units.iter().map(|unit| unit.content.chars().count()).sum();
    assert!(after < before && after > 0, "{units:?}");
    assert!(units.iter().all(|unit| !unit.content.contains('\u{202e}')), "{units:?}");
}

/// The place of a unit among what ATTUNE gives for a hint.
async fn rank_of(field: &Arc<Field>, unit: &str, hint: &str) -> usize {
    let scope = json!({"role": "tester", "max_units": 100, "include_own": true});
    let payload = json!({"scope": scope, "context_hint": hint});
    let (payload, _) = AttunePayload::parse(payload).unwrap();
    let answer = field.attune(message("rank", "a"), payload).await.unwrap();
    let is_it = |found: &UnitView| matches!(found, UnitView::Unit(found) if found.id == unit);
    answer.record.iter().position(|found| is_it(&found.memory_unit)).expect("the rule is given")
}

#[tokio::test]
async fn a_rule_keeps_its_rank_for_a_hint_about_it() {
    let field = field().await;
    let rules = [
        ("Tankers are moored at berth 9 and nowhere else.", "where to moor a tanker"),
        ("No offer for fuel is signed without Weber.", "an offer for fuel of the tugs came in"),
        ("Every crane is checked before it lifts containers.", "lifting containers with the crane"),
    ];
    let mut ids = Vec::new();
    for (at, (text, _)) in rules.iter().enumerate() {
        ids.push(put(&field, &format!("r{at}"), "constraint", text, json!({})).await);
    }
    for day in 0..6 {
        for (at, text) in WEEK.into_iter().enumerate() {
            let text = format!("Day {day}. {text}");
            let session = json!({"session": format!("day-{day}")});
            put(&field, &format!("{day}-{at}"), "finding", &text, session).await;
        }
    }
    let mut before = Vec::new();
    for (id, (_, hint)) in ids.iter().zip(&rules) {
        before.push(rank_of(&field, id, hint).await);
    }
    let answer = summarize(&field, "c", json!({})).await;
    assert_eq!(answer.units_affected, 48);
    for ((id, (_, hint)), before) in ids.iter().zip(&rules).zip(before) {
        let after = rank_of(&field, id, hint).await;
        assert!(after <= before + 3, "{hint}: from {before} to {after}");
    }
}

/// A unit of a Field that is compacted again and again.
#[derive(Debug, Clone)]
struct Put {
    kind: usize,
    place: usize,
    words: Vec<usize>,
    answers: bool,
}

const KINDS: [&str; 5] = ["finding", "observation", "decision", "question", "assumption"];
const PLACES: [(Option<&str>, Option<&str>); 5] = [
    (None, None),
    (Some("s"), None),
    (Some("s"), Some("task-1")),
    (None, Some("task-1")),
    (None, Some("task-2")),
];

fn puts() -> impl Strategy<Value = Vec<Put>> {
    let words = proptest::collection::vec(0..WEEK.len(), 0..3);
    let put = (0..KINDS.len(), 0..PLACES.len(), words, any::<bool>());
    let put = put.prop_map(|(kind, place, words, answers)| Put { kind, place, words, answers });
    proptest::collection::vec(put, 0..24)
}

async fn put_all(field: &Field, round: usize, puts: &[Put], made: &mut Vec<String>) {
    for (at, put_in) in puts.iter().enumerate() {
        let texts: Vec<&str> =
            put_in.words.iter().filter_map(|at| WEEK.get(*at).copied()).collect();
        let content = if texts.is_empty() { "Brief.".to_owned() } else { texts.join(" ") };
        let (session, task) = PLACES[put_in.place];
        let target = made.last().filter(|_| put_in.answers);
        let relations = target.map(|id| json!([{"type": "answers", "target_id": id}]));
        let change = json!({"session": session, "task": task, "relations": relations});
        let id = format!("{round}-{at}");
        made.push(put(field, &id, KINDS[put_in.kind], &content, change).await);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_second_summarize_changes_nothing(
        rounds in proptest::collection::vec(puts(), 1..4),
        filter in prop_oneof![
            Just(json!({})),
            Just(json!({"session_id": "s"})),
            Just(json!({"types": ["finding", "decision"]})),
            Just(json!({"status": ["active"], "max_age_epochs": 3})),
        ],
    ) {
        runtime().block_on(async {
            let field = field().await;
            let mut made = Vec::new();
            for (round, puts) in rounds.iter().enumerate() {
                put_all(&field, round, puts, &mut made).await;
                let shown = |units: &[MemoryUnit]| -> usize {
                    units.iter().map(|unit| unit.content.chars().count()).sum()
                };
                let before = shown(&attune(&field, false).await);
                // Ages are told from the message's own epoch, which is the same both times.
                let first = summarize(&field, &format!("{round}-c1"), filter.clone()).await;
                let after = attune(&field, false).await;
                prop_assert!(first.units_affected == 0 || shown(&after) < before);
                let head = field.head();
                let second = summarize(&field, &format!("{round}-c2"), filter.clone()).await;
                if filter.get("max_age_epochs").is_none() {
                    prop_assert_eq!(second.units_affected, 0);
                    prop_assert_eq!(field.head(), head);
                }
                let mut told = BTreeSet::new();
                let all = attune(&field, true).await;
                for unit in attune(&field, false).await.iter().filter(|unit| unit.kind == MemoryType::Synthesis) {
                    for relation in &unit.relations {
                        let target = all.iter().find(|it| it.id == relation.target_id);
                        let is_original = target.is_some_and(|it| it.kind != MemoryType::Synthesis);
                        prop_assert!(!is_original || told.insert(relation.target_id.clone()), "told twice");
                    }
                }
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_filter_that_matches_nothing_asks_nobody_and_writes_nothing() {
    let field = field().await;
    record(&field, message("1", "a"), WEEK[0], json!([])).await.unwrap();
    let head = field.head();
    for filter in [json!({"session_id": "nowhere"}), json!({"types": ["correction"]})] {
        let answer = summarize(&field, &filter.to_string(), filter).await;
        assert_eq!((answer.units_affected, answer.fidelity), (0, None));
    }
    assert_eq!(field.head(), head);
}
