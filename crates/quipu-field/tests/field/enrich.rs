//! Second vectors: they come after RECORD, survive a restart and not a purge, and a model that fails
//! fails nothing else.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
};

use crate::{
    compact::{attune, compact},
    support::{eventually, message, record, register},
};
use quipu_core::{Message, origin::ScriptedOrigin};
use quipu_field::{Field, FieldModels, FieldOptions, restore::restore};
use quipu_log::{Engine, FieldName, MemoryEngine, Pace};
use quipu_recall::{EmbedError, Embedder, Summarizer, SummarizerError};
use quipu_wire::akashik::{AttunePayload, UnitStatus, UnitView};
use serde_json::json;

/// A model that does as it is told.
#[derive(Debug)]
struct Model {
    id: String,
    failing: AtomicBool,
    asked: AtomicUsize,
    /// A text with this word is refused for good.
    taboo: Mutex<Option<String>>,
}

impl Model {
    fn new(id: &str) -> Arc<Self> {
        Arc::new(Self {
            id: id.to_owned(),
            failing: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
            taboo: Mutex::new(None),
        })
    }

    fn fail(&self, failing: bool) {
        self.failing.store(failing, Ordering::SeqCst);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Embedder for Model {
    fn model_id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (model, reason) = (self.id.clone(), "told so".to_owned());
        if self.failing.load(Ordering::SeqCst) {
            return Err(EmbedError::Unavailable { model, reason });
        }
        let taboo = self.taboo.lock().unwrap();
        if taboo.as_ref().is_some_and(|taboo| texts.iter().any(|text| text.contains(taboo))) {
            return Err(EmbedError::Unusable { model, reason });
        }
        self.asked.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(texts.iter().map(|_| vec![0.5, 0.5, 0.5, 0.5]).collect())
    }
}

fn open(engine: &Arc<dyn Engine>, model: &Arc<Model>, vectors: Option<&Path>) -> Arc<Field> {
    let models = FieldModels { embedder: Some(Arc::clone(model) as _), summarizer: None };
    let options = FieldOptions {
        models,
        vectors: vectors.map(Path::to_owned),
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

fn done(field: &Field) -> (u64, u64) {
    let progress = field.enrichment().unwrap();
    (progress.done, progress.of)
}

fn statuses(field: &Field) -> Vec<(String, u64)> {
    field.status().units.by_status.into_iter().collect()
}

fn all_are(field: &Field, status: &str, units: u64) -> bool {
    statuses(field) == [(status.to_owned(), units)]
}

#[tokio::test]
async fn a_unit_gets_its_vector_after_it_was_recorded() {
    let (engine, model) = (engine(), Model::new("m"));
    let field = open(&engine, &model, None);
    register(&field, "a").await.unwrap();
    for id in ["1", "2", "3"] {
        let answer = record(&field, message(id, "a"), "ships sail", json!([])).await.unwrap();
        assert!(answer.warnings.is_empty());
    }
    eventually("three vectors", || done(&field) == (3, 3)).await;
    let progress = field.enrichment().unwrap();
    assert_eq!((progress.model.as_str(), progress.failure), ("m", None));
    assert!(all_are(&field, "active", 3));
    assert_eq!(field.head().position, 4, "nothing of it is in the log");
    field.close().await;
}

#[tokio::test]
async fn while_the_model_fails_units_are_pending_and_become_active_later() {
    let (engine, model) = (engine(), Model::new("m"));
    let field = open(&engine, &model, None);
    register(&field, "a").await.unwrap();
    model.fail(true);
    record(&field, message("1", "a"), "the first is not known to fail", json!([])).await.unwrap();
    eventually("a failure", || field.enrichment().unwrap().failure.is_some()).await;
    let answer = record(&field, message("2", "a"), "ships sail", json!([])).await.unwrap();
    assert!(answer.warnings[0].starts_with("ENRICHMENT_FAILED: "), "{:?}", answer.warnings);
    let again = record(&field, message("2", "a"), "ships sail", json!([])).await.unwrap();
    assert_eq!(again, answer, "a message that is sent twice is answered alike");
    let found = attune(&field, false).await;
    let status = |at: usize| found[at].status;
    assert_eq!((status(0), status(1)), (UnitStatus::Active, UnitStatus::PendingEnrichment));
    model.fail(false);
    eventually("all active", || all_are(&field, "active", 2) && done(&field) == (2, 2)).await;
    let state =
        restore(engine.as_ref(), &FieldName::default_field(), None, Pace::Alone, &mut |_| true)
            .unwrap();
    assert_eq!(state.published.state.hash(), field.state_hash());
    field.close().await;
}

#[tokio::test]
async fn drafts_and_contested_units_keep_their_status() {
    let (engine, model) = (engine(), Model::new("m"));
    let field = open(&engine, &model, None);
    register(&field, "a").await.unwrap();
    model.fail(true);
    let first = record(&field, message("1", "a"), "it is blue", json!([])).await.unwrap();
    eventually("a failure", || field.enrichment().unwrap().failure.is_some()).await;
    let second = record(&field, message("2", "a"), "it is red", json!([])).await.unwrap();
    assert_eq!(second.warnings.len(), 1);
    let against = json!([{"type": "contradicts", "target_id": first.memory_unit_id},
                         {"type": "contradicts", "target_id": second.memory_unit_id}]);
    let third = record(&field, message("3", "a"), "it is green", against).await.unwrap();
    assert!(third.warnings.is_empty());
    let waiting = [("contested".to_owned(), 2), ("pending_enrichment".to_owned(), 1)];
    assert_eq!(statuses(&field), waiting);
    model.fail(false);
    eventually("all contested", || all_are(&field, "contested", 3)).await;
    field.close().await;
}

#[tokio::test]
async fn vectors_survive_a_restart_and_what_was_missing_is_fetched_then() {
    let directory = tempfile::tempdir().unwrap();
    let vectors = directory.path().join("vectors");
    let (engine, model) = (engine(), Model::new("m"));
    let field = open(&engine, &model, Some(&vectors));
    register(&field, "a").await.unwrap();
    record(&field, message("1", "a"), "ships sail", json!([])).await.unwrap();
    eventually("one vector", || done(&field) == (1, 1)).await;
    model.fail(true);
    record(&field, message("2", "a"), "ships sink", json!([])).await.unwrap();
    eventually("a failure", || field.enrichment().unwrap().failure.is_some()).await;
    record(&field, message("3", "a"), "ships float", json!([])).await.unwrap();
    field.close().await;
    model.fail(false);
    let asked = model.asked();
    let field = open(&engine, &model, Some(&vectors));
    eventually("all active", || done(&field) == (3, 3) && all_are(&field, "active", 3)).await;
    assert_eq!(model.asked() - asked, 2, "the first came from the file");
    field.close().await;
}

#[tokio::test]
async fn another_model_makes_all_vectors_anew() {
    let directory = tempfile::tempdir().unwrap();
    let vectors = directory.path().join("vectors");
    let engine = engine();
    for id in ["one", "other"] {
        let model = Model::new(id);
        let field = open(&engine, &model, Some(&vectors));
        if id == "one" {
            register(&field, "a").await.unwrap();
            for at in 0..100 {
                let text = format!("ship {at}");
                record(&field, message(&text, "a"), &text, json!([])).await.unwrap();
            }
        }
        eventually("all vectors", || done(&field) == (100, 100)).await;
        assert_eq!(model.asked(), 100);
        field.close().await;
    }
}

#[tokio::test]
async fn a_damaged_file_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let vectors = directory.path().join("vectors");
    let (engine, model) = (engine(), Model::new("m"));
    let field = open(&engine, &model, Some(&vectors));
    register(&field, "a").await.unwrap();
    for at in 0..3 {
        let text = format!("ship {at}");
        record(&field, message(&text, "a"), &text, json!([])).await.unwrap();
        eventually("a vector", || done(&field) == (at + 1, at + 1)).await;
    }
    field.close().await;
    let bytes = std::fs::read(&vectors).unwrap();
    std::fs::write(&vectors, &bytes[..bytes.len() - 5]).unwrap();
    let field = open(&engine, &model, Some(&vectors));
    eventually("three again", || done(&field) == (3, 3)).await;
    assert_eq!(model.asked(), 4);
    field.close().await;
    assert_eq!(std::fs::read(&vectors).unwrap().len(), bytes.len());
}

#[tokio::test]
async fn a_purged_unit_s_vector_is_gone_also_where_no_model_is_configured_any_more() {
    let directory = tempfile::tempdir().unwrap();
    let vectors = directory.path().join("vectors");
    let (engine, model) = (engine(), Model::new("m"));
    let field = open(&engine, &model, Some(&vectors));
    register(&field, "a").await.unwrap();
    for (id, session) in [("1", Some("s")), ("2", None), ("3", None)] {
        let sent = Message { session: session.map(str::to_owned), ..message(id, "a") };
        record(&field, sent, "ships sail", json!([])).await.unwrap();
    }
    eventually("three vectors", || done(&field) == (3, 3)).await;
    let size = || std::fs::metadata(&vectors).unwrap().len();
    let before = size();
    let oldest = json!({"strategy": "purge", "reason": "asked for", "filter": {"session_id": "s"}});
    assert_eq!(compact(&field, "purge", oldest).await.unwrap().units_affected, 1);
    assert!(size() < before);
    assert_eq!(done(&field), (2, 2));
    record(&field, message("4", "a"), "ships sink", json!([])).await.unwrap();
    eventually("one more", || done(&field) == (3, 3)).await;
    assert_eq!(size(), before);
    field.close().await;

    let options = FieldOptions {
        vectors: Some(vectors.clone()),
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    let field = Field::open(Arc::clone(&engine), FieldName::default_field(), options).unwrap();
    assert_eq!(field.enrichment(), None);
    let rest =
        json!({"strategy": "purge", "reason": "asked for", "filter": {"types": ["finding"]}});
    assert_eq!(compact(&field, "purge-all", rest).await.unwrap().units_affected, 3);
    assert!(size() < 40, "no vector is left, only the start of the file");
    field.close().await;
}

#[tokio::test]
async fn a_text_that_the_model_refuses_does_not_hold_up_the_others() {
    let (engine, model) = (engine(), Model::new("m"));
    *model.taboo.lock().unwrap() = Some("forbidden".to_owned());
    let field = open(&engine, &model, None);
    register(&field, "a").await.unwrap();
    for (id, text) in [("1", "ships"), ("2", "forbidden ships"), ("3", "more ships")] {
        record(&field, message(id, "a"), text, json!([])).await.unwrap();
    }
    eventually("the other two", || done(&field) == (2, 3)).await;
    record(&field, message("4", "a"), "later ships", json!([])).await.unwrap();
    eventually("one more", || done(&field) == (3, 4)).await;
    field.close().await;
}

/// Knows two meanings: that of a word together with the hint's, and that of everything else. May wait,
/// when it is asked about the hint, until the other end of a channel is gone.
#[derive(Debug)]
struct Oracle {
    like_the_hint: &'static str,
    hangs: Option<Mutex<mpsc::Receiver<()>>>,
}

impl Embedder for Oracle {
    fn model_id(&self) -> &str {
        self.like_the_hint
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let hint = texts.iter().any(|text| text.contains("zorp"));
        if let Some(hangs) = self.hangs.as_ref().filter(|_| hint) {
            hangs.lock().unwrap().recv().ok();
        }
        let near = |text: &str| text.contains("zorp") || text.contains(self.like_the_hint);
        Ok(texts
            .iter()
            .map(|text| if near(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] })
            .collect())
    }
}

/// The unit that comes first for a hint that shares no word with any.
async fn first_for(oracle: Oracle) -> String {
    let models = FieldModels { embedder: Some(Arc::new(oracle)), summarizer: None };
    let options = FieldOptions { models, ..FieldOptions::new(Arc::new(ScriptedOrigin::default())) };
    let field = Field::open(engine(), FieldName::default_field(), options).unwrap();
    for agent in ["a", "reader"] {
        register(&field, agent).await.unwrap();
    }
    for text in ["grok plin", "wug dax"] {
        record(&field, message(text, "a"), text, json!([])).await.unwrap();
    }
    eventually("both vectors", || done(&field) == (2, 2)).await;
    let asked = json!({"scope": {"role": "tester", "max_units": 2}, "context_hint": "zorp"});
    let (asked, _) = AttunePayload::parse(asked).unwrap();
    let answer = field.attune(message("attune", "reader"), asked).await.unwrap();
    field.close().await;
    match &answer.record[0].memory_unit {
        UnitView::Unit(unit) => unit.content.clone(),
        UnitView::Id { .. } => panic!("asked for units"),
    }
}

#[tokio::test]
async fn the_model_s_vectors_decide_what_a_hint_is_about() {
    for like_the_hint in ["grok", "wug"] {
        let first = first_for(Oracle { like_the_hint, hangs: None }).await;
        assert!(first.starts_with(like_the_hint), "{first}");
    }
}

#[tokio::test]
async fn a_model_that_hangs_does_not_keep_an_attune_from_its_answer() {
    let (hold, hangs) = mpsc::channel();
    let oracle = Oracle { like_the_hint: "grok", hangs: Some(Mutex::new(hangs)) };
    let first = first_for(oracle).await;
    assert!(["grok plin", "wug dax"].contains(&first.as_str()), "{first}");
    drop(hold);
}

/// Writes a fixed text, or nothing.
#[derive(Debug)]
struct Writer(Option<&'static str>);

impl Summarizer for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    fn summarize(&self, notes: &str, _tokens: usize) -> Result<String, SummarizerError> {
        assert!(notes.contains("a, finding: \"ships sail"), "{notes}");
        self.0.map(str::to_owned).ok_or_else(|| SummarizerError { reason: "told so".to_owned() })
    }
}

async fn summary_by(writer: Writer) -> (String, Vec<String>) {
    let models = FieldModels { summarizer: Some(Arc::new(writer)), ..FieldModels::default() };
    let options = FieldOptions { models, ..FieldOptions::new(Arc::new(ScriptedOrigin::default())) };
    let field = Field::open(engine(), FieldName::default_field(), options).unwrap();
    register(&field, "a").await.unwrap();
    for (id, text) in [("1", "ships sail to Kiel, and far"), ("2", "ships sail to Kiel, and far")] {
        record(&field, message(id, "a"), text, json!([])).await.unwrap();
    }
    let all = json!({"strategy": "summarize", "filter": {"types": ["finding"]}});
    let answer = compact(&field, "compact", all).await.unwrap();
    assert_eq!(answer.synthesis_units_created, 1);
    let units = attune(&field, false).await;
    field.close().await;
    (units[0].content.clone(), answer.warnings)
}

#[tokio::test]
async fn a_summarizer_writes_what_compact_keeps() {
    let (text, warnings) = summary_by(Writer(Some("Ships sail to Kiel, also far."))).await;
    assert_eq!(text, "Ships sail to Kiel, also far.");
    assert!(warnings.is_empty());
    for (bad, reason) in [
        ("ships sail to Kiel, and far ".repeat(9), "not shorter"),
        ("Ships sail to Kiel, 40 of them.".to_owned(), "a figure that"),
        ("Nothing happened.".to_owned(), "loses too much"),
    ] {
        let (text, warnings) = summary_by(Writer(Some(bad.leak()))).await;
        assert!(text.contains("ships sail to Kiel, and far (2 times)"), "{text}");
        assert!(warnings[0].contains(reason), "{warnings:?}");
    }
}

#[tokio::test]
async fn where_the_summarizer_fails_the_units_own_words_are_kept() {
    let (text, warnings) = summary_by(Writer(None)).await;
    assert!(text.contains("a: ships sail to Kiel, and far (2 times)"), "{text}");
    assert!(warnings[0].contains("told so"), "{warnings:?}");
}
