//! Small labelled sets of our own about agents' work: what should come first for a role, for interests,
//! for a task, and unasked. The floors may only rise.

use std::sync::Arc;

use crate::support::{message, open};
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::akashik::{AttunePayload, RecordPayload, RegisterPayload, UnitView};
use serde_json::{Value, json};

/// Author, type, task, text.
type Said = (&'static str, &'static str, &'static str, &'static str);

const TEAM: &[(&str, &str)] = &[
    ("dana", "database engineer"),
    ("finn", "frontend developer"),
    ("lena", "legal counsel"),
    ("otto", "operations"),
    ("hugo", "human operator"),
    ("mara", "market researcher"),
];

const SAID: &[Said] = &[
    (
        "dana",
        "finding",
        "checkout",
        "The orders table needs an index on customer_id; queries take 4 s.",
    ),
    ("dana", "decision", "checkout", "We shard the orders by region, not by customer."),
    ("dana", "observation", "", "Nightly vacuum of the replica took two hours."),
    (
        "finn",
        "finding",
        "checkout",
        "The payment form loses its state when the browser tab sleeps.",
    ),
    ("finn", "observation", "redesign", "The new buttons fail the contrast check in dark mode."),
    ("finn", "decision", "redesign", "Fonts are served by us, not by a third party."),
    ("lena", "constraint", "", "Personal data of customers in the EU must never leave EU servers."),
    ("lena", "finding", "", "The licence of the charting library forbids use by competitors."),
    (
        "lena",
        "observation",
        "",
        "The supervisory authority opened a consultation on cookie banners.",
    ),
    ("otto", "finding", "migration", "The cluster runs out of memory when two builds overlap."),
    (
        "otto",
        "decision",
        "migration",
        "We move to the new data centre on the first weekend of May.",
    ),
    ("otto", "observation", "", "Fan three in rack seven is loud."),
    ("hugo", "human_directive", "", "Always answer customers in their own language."),
    ("hugo", "human_directive", "", "From now on, deployments on Fridays need my approval."),
    ("hugo", "human_directive", "", "I prefer short reports with the numbers first."),
    ("mara", "finding", "", "Demand for cargo bikes grows by 23 percent a year in Germany."),
    ("mara", "observation", "", "Rivals lowered prices in spring."),
    ("mara", "finding", "", "Customers leave the shop when delivery takes more than three days."),
];

/// What is asked, and where the units that matter begin.
struct Case {
    role: &'static str,
    interests: &'static [&'static str],
    task: Option<&'static str>,
    hint: Option<&'static str>,
    wanted: &'static [&'static str],
}

const UNASKED: Case =
    Case { role: "assistant", interests: &[], task: None, hint: None, wanted: &[] };

async fn team() -> Arc<Field> {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open(&engine, None);
    for (agent, role) in TEAM.iter().chain(&[("reader", "assistant")]) {
        let (payload, _) = RegisterPayload::parse(json!({"id": agent, "role": role})).unwrap();
        field.register(message(&format!("register-{agent}"), agent), payload).await.unwrap();
    }
    for (number, (author, kind, task, content)) in SAID.iter().enumerate() {
        let mut intent = json!({"purpose": "Keep the team informed"});
        if !task.is_empty() {
            intent["task_id"] = json!(task);
        }
        let payload = json!({"type": kind, "content": content, "intent": intent,
                             "confidence": {"score": 0.7, "reasoning": "seen"}});
        let (payload, _) = RecordPayload::parse(payload).unwrap();
        field.record(message(&format!("m-{number}"), author), payload).await.unwrap();
    }
    field
}

fn payload(case: &Case, max_units: usize) -> Value {
    let mut payload =
        json!({"scope": {"role": case.role, "max_units": max_units, "interests": case.interests}});
    if let Some(task) = case.task {
        payload["scope"]["active_task_id"] = json!(task);
    }
    if let Some(hint) = case.hint {
        payload["context_hint"] = json!(hint);
    }
    payload
}

/// The share of what is wanted that is among the first `depth`, over all cases.
async fn found(cases: &[Case], depth: usize) -> f64 {
    let field = team().await;
    let (mut hits, mut wanted) = (0, 0);
    for case in cases {
        let (payload, _) = AttunePayload::parse(payload(case, depth)).unwrap();
        let answer = field.attune(message("ask", "reader"), payload).await.unwrap();
        let given: Vec<String> = answer
            .record
            .iter()
            .map(|scoped| match &scoped.memory_unit {
                UnitView::Unit(unit) => unit.content.clone(),
                UnitView::Id { .. } => String::new(),
            })
            .collect();
        for start in case.wanted {
            wanted += 1;
            let hit = given.iter().any(|content| content.starts_with(start));
            hits += usize::from(hit);
            assert!(SAID.iter().any(|(.., text)| text.starts_with(start)), "{start}");
        }
    }
    f64::from(u32::try_from(hits).unwrap()) / f64::from(u32::try_from(wanted).unwrap())
}

#[tokio::test]
async fn a_role_is_given_what_concerns_it() {
    let of = |role, wanted| Case { role, wanted, ..UNASKED };
    let share = found(
        &[
            of("database administrator", &["The orders table", "We shard the orders"]),
            of("frontend designer", &["The new buttons", "Fonts are served"]),
            of("privacy lawyer", &["Personal data of customers", "The licence of"]),
            of("site reliability engineer for servers", &["The cluster runs out"]),
            of("market analyst", &["Demand for cargo bikes"]),
        ],
        6,
    )
    .await;
    assert!(share >= 0.75, "{share}");
}

#[tokio::test]
async fn interests_bring_up_what_they_name_or_mean() {
    let of = |interests, wanted| Case { interests, wanted, ..UNASKED };
    let share = found(
        &[
            of(&["payment"], &["The payment form"]),
            of(&["accessibility"], &["The new buttons"]),
            of(&["competitors' pricing"], &["Rivals lowered prices"]),
            of(&["data protection"], &["Personal data of customers"]),
            of(&["shipping speed"], &["Customers leave the shop"]),
            of(&["hardware noise"], &["Fan three in rack seven"]),
        ],
        5,
    )
    .await;
    assert!(share >= 0.65, "{share}");
}

#[tokio::test]
async fn a_task_brings_its_own_units_first() {
    let of = |task, wanted| Case { task: Some(task), wanted, ..UNASKED };
    let share = found(
        &[
            of("checkout", &["The orders table", "We shard the orders", "The payment form"]),
            of("redesign", &["The new buttons", "Fonts are served"]),
            of("migration", &["The cluster runs", "We move to the new data centre"]),
        ],
        4,
    )
    .await;
    assert!(share >= 1.0, "{share}");
}

#[tokio::test]
async fn standing_instructions_surface_unasked() {
    let of = |hint, wanted| Case { hint: Some(hint), wanted, ..UNASKED };
    let share = found(
        &[
            of("Write a reply to Frau Schmidt about her late parcel", &["Always answer customers"]),
            of("Ship the new release this Friday evening", &["From now on, deployments"]),
            of("Summarise this month's sales for the operator", &["I prefer short reports"]),
            of("Copy customer records to the new region", &["Personal data of customers"]),
        ],
        5,
    )
    .await;
    assert!(share >= 1.0, "{share}");
    let share = found(
        &[Case {
            wanted: &["Always answer customers", "From now on", "I prefer short", "Personal data"],
            ..UNASKED
        }],
        6,
    )
    .await;
    assert!(share >= 1.0, "{share}");
}

#[tokio::test]
async fn a_hint_finds_what_it_means_without_its_words() {
    let of = |hint, wanted| Case { hint: Some(hint), wanted, ..UNASKED };
    let share = found(
        &[
            of("slow SQL", &["The orders table"]),
            of("typefaces from a CDN", &["Fonts are served"]),
            of("bicycle sales are rising", &["Demand for cargo bikes"]),
            of("computers crash during compilation", &["The cluster runs out"]),
            of("what did lena find about software licences", &["The licence of"]),
        ],
        5,
    )
    .await;
    assert!(share >= 0.8, "{share}");
}
