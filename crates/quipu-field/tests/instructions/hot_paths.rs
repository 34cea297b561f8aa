//! The hot paths, each as a function that takes it so many times. What it prepares is the same however often that is,
//! so that the difference of two runs is the path alone. Each checks its answers: what does nothing is fast.

use std::{hint::black_box, sync::Arc};

use quipu_core::{
    Event, Sight,
    origin::ScriptedOrigin,
    rules::{self, Command},
};
use quipu_field::{Field, FieldOptions, RankingOptions, glance, view::Published};
use quipu_log::{Engine, FieldName, MemoryEngine};
use quipu_recall::{analyze, embed::builtin};
use quipu_wire::{
    akashik::{AttunePayload, RecordPayload, RecordResponse, RecordStatus, ReplayPayload},
    json::canon,
};
use serde_json::json;

use crate::{
    counting,
    material::{AGENTS, Growing, message, payload, sentence},
};

/// A path that a change must not make dearer unseen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HotPath {
    /// Its name in the table of figures.
    pub(crate) name: &'static str,
    /// How often it is taken in the shorter run; twice as often in the longer one.
    pub(crate) times: usize,
    /// How many of what the figure is about one time has.
    pub(crate) parts: usize,
    /// Takes it so many times.
    pub(crate) take: fn(usize),
}

/// All of them.
pub(crate) const HOT_PATHS: [HotPath; 6] = [
    HotPath { name: "attune_10k_units", times: ATTUNES, parts: 1, take: attune },
    HotPath { name: "commit_seal_and_verify", times: COMMITS, parts: 1, take: commit },
    HotPath { name: "embed_text", times: TEXTS, parts: 1, take: embed },
    HotPath { name: "record_decide_and_apply", times: RECORDS, parts: 1, take: record },
    HotPath { name: "record_request_and_answer", times: REQUESTS, parts: 1, take: request },
    HotPath { name: "replay_full_trace_event", times: REPLAYS, parts: REPLAYED, take: replay },
];

/// One that does the work of another twice.
pub(crate) const DOUBLED: HotPath =
    HotPath { name: "embed_text_twice", times: TEXTS, parts: 1, take: embed_twice };

const ATTUNES: usize = 3;
const COMMITS: usize = 100;
const TEXTS: usize = 200;
const RECORDS: usize = 200;
const REQUESTS: usize = 200;
const REPLAYS: usize = 2;
/// How many events the replayed task has.
const REPLAYED: usize = 100;
/// How many units there are to choose from, far more than are scored one by one.
const UNITS: usize = 10_000;
/// How many texts they have: analysing ten thousand would take longer than all that is counted.
const ANALYZED: usize = 1_000;

/// The commands of RECORDs, for twice a number of times.
fn records(log: &Growing, times: usize) -> Vec<Command> {
    (0..2 * times).map(|number| log.record(payload(number), number)).collect()
}

/// RECORD as the writer sees it: the rule, and what it makes of the state.
fn record(times: usize) {
    let (mut log, _) = Growing::begun();
    for command in records(&log, RECORDS).iter().take(times) {
        log.follow(command);
    }
    assert_eq!(log.state.units.next_ordinal() as usize, times);
}

/// A commit as it is written and read again: canonical JSON, hashes, the chain.
fn commit(times: usize) {
    let (mut log, _) = Growing::begun();
    let mut drafts = Vec::new();
    for command in records(&log, COMMITS) {
        let decision = rules::decide(&log.state, &command).unwrap();
        drafts.push(log.draft(&command, decision));
        log.follow(&command);
    }
    let mut head = log.head;
    for draft in drafts.into_iter().take(times) {
        let commit = draft.seal(head.position + 1, head.hash).unwrap();
        head = commit.verify(&head).unwrap();
        assert_eq!(commit.decode_header::<Event>().unwrap().events.len(), 1);
    }
    assert_eq!(head.position, log.head.position + times as u64);
}

/// ATTUNE with a hint: filters, candidates, scores, diversity. Texts are read and fitted later.
fn attune(times: usize) {
    let (mut log, _) = Growing::begun();
    let mut published = Published::empty();
    let texts: Vec<_> = (0..ANALYZED).map(|number| analyze(&sentence(number))).collect();
    for (number, ordinal) in (0..UNITS).zip(0..) {
        log.grow(number);
        published.index.insert(ordinal, &texts[number % ANALYZED]);
    }
    (published.state, published.head) = (log.state, log.head);
    let state = &published.state;
    let (reader, sight) = (state.agents.get(AGENTS[1]).unwrap(), Sight::of(state, AGENTS[1], None));
    let options = RankingOptions::default();
    let look = |number: usize| {
        let scope = json!({"role": "engineer", "max_units": 10});
        let asked = json!({"scope": scope, "context_hint": sentence(number * 7)});
        let (asked, _) = AttunePayload::parse(asked).unwrap();
        glance(&published, reader, &sight, &asked, &options, None, 1)
    };
    let said = format!("{:?}", look(0));
    assert_eq!(said.matches("Pick {").count(), 10, "{said}");
    for number in 0..times {
        black_box(look(number));
    }
}

/// A text to its vector.
fn embed(times: usize) {
    embed_each(times, 1);
}

fn embed_twice(times: usize) {
    embed_each(times, 2);
}

fn embed_each(times: usize, often: usize) {
    let texts: Vec<String> = (0..2 * TEXTS).map(sentence).collect();
    assert!(builtin().vector("disk").iter().any(|part| *part != 0.0));
    for text in texts.iter().take(times) {
        for _ in 0..often {
            assert_eq!(builtin().vector(text).len(), 256);
        }
    }
}

/// The body of a request to a checked payload, and an answer to its bytes.
fn request(times: usize) {
    let bodies: Vec<String> = (0..2 * REQUESTS).map(|number| payload(number).to_string()).collect();
    for (body, epoch) in bodies.iter().zip(1..).take(times) {
        let body = canon::parse(body.as_bytes()).unwrap();
        let (_, warnings) = RecordPayload::parse(body).unwrap();
        let answer = RecordResponse {
            status: RecordStatus::Accepted,
            memory_unit_id: format!("mem-{epoch:032x}"),
            epoch,
            conflicts_detected: Vec::new(),
            conflict_detection: None,
            warnings,
        };
        assert!(serde_json::to_vec(&answer).unwrap().starts_with(b"{\"status\""));
    }
}

/// REPLAY of a task, every event of it, from the log.
fn replay(times: usize) {
    let (mut log, mut commits) = Growing::begun();
    for number in 0..REPLAYED {
        commits.push(log.carry_out(&log.record(payload(number * 10), number)));
    }
    let engine = Arc::new(MemoryEngine::new());
    let name = FieldName::default_field();
    engine.append(&name, &quipu_log::Head::EMPTY, &commits).unwrap();
    let options = FieldOptions::new(Arc::new(ScriptedOrigin::default()));
    let field = Field::open(engine, name, options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let asked = json!({"target_type": "task", "target_id": "task-0", "depth": "full_trace"});
    let (asked, _) = ReplayPayload::parse(asked).unwrap();
    for number in 0..times {
        let message = message(format!("replay-{number}"), AGENTS[1]);
        let answer = runtime.block_on(field.replay(message, asked.clone())).unwrap();
        assert_eq!(answer.timeline.len(), REPLAYED);
    }
    runtime.block_on(field.close());
}

/// What valgrind runs; by itself it takes every path once.
#[test]
fn every_path_gives_the_answers_that_it_is_there_for() {
    if let Some((name, times)) = counting::asked_for() {
        let mut all = HOT_PATHS.iter().chain([&DOUBLED]);
        let path = all.find(|path| path.name == name).expect("a path of this name");
        (path.take)(times);
    } else {
        for path in HOT_PATHS {
            (path.take)(1);
        }
    }
}
