//! What the Field's tests share: a Field over any engine with scripted time and ids, and messages.

use std::{ops::Range, path::PathBuf, sync::Arc, time::Duration};

use quipu_core::{Message, origin::ScriptedOrigin};
use quipu_field::{Field, FieldError, FieldOptions, restore::restore, view::Published};
use quipu_log::{Engine, FieldName, Head, MemoryEngine, Pace};
use quipu_wire::akashik::{RecordPayload, RecordResponse, RegisterPayload, RegisterResponse};
use serde_json::{Value, json};

/// Opens the default Field.
pub(crate) fn open(engine: &Arc<dyn Engine>, snapshots: Option<PathBuf>) -> Arc<Field> {
    let options =
        FieldOptions { snapshots, ..FieldOptions::new(Arc::new(ScriptedOrigin::default())) };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

/// Opens the default Field with sessions that see each other, for what is not about sessions.
pub(crate) fn open_across(engine: &Arc<dyn Engine>, snapshots: Option<PathBuf>) -> Arc<Field> {
    let options = FieldOptions {
        snapshots,
        cross_session_visibility: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

/// Opens the default Field with every ATTUNE traced.
pub(crate) fn open_traced(engine: &Arc<dyn Engine>) -> Arc<Field> {
    let options = FieldOptions {
        trace_attunes: true,
        ..FieldOptions::new(Arc::new(ScriptedOrigin::default()))
    };
    Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap()
}

/// A message of an agent with full authority.
pub(crate) fn message(id: &str, agent: &str) -> Message {
    Message {
        id: id.to_owned(),
        agent: agent.to_owned(),
        session: None,
        epoch: 0,
        authority: 10,
        own_key: true,
        key: None,
    }
}

/// REGISTER.
pub(crate) async fn register(field: &Field, agent: &str) -> Result<RegisterResponse, FieldError> {
    let payload = json!({"id": agent, "role": format!("role of {agent}"), "interests": ["ships"]});
    let (payload, _) = RegisterPayload::parse(payload).unwrap();
    field.register(message(&format!("register-{agent}"), agent), payload).await
}

/// RECORD of a committed finding with relations.
pub(crate) async fn record(
    field: &Field,
    message: Message,
    content: &str,
    relations: Value,
) -> Result<RecordResponse, FieldError> {
    let payload = json!({
        "type": "finding", "content": content, "intent": {"purpose": "to test"},
        "confidence": {"score": 0.5, "reasoning": "because"}, "relations": relations,
    });
    let (payload, _) = RecordPayload::parse(payload).unwrap();
    field.record(message, payload).await
}

/// RECORD of some units of a session, each of which lays down a rule, too.
pub(crate) async fn record_of_session(field: &Field, session: &str, units: Range<usize>) {
    for at in units {
        let id = format!("{session}-{at}");
        let text =
            format!("the {session} fleet has {at} ships; from now on count the {at} anchors");
        let from = Message { session: Some(session.to_owned()), ..message(&id, "a") };
        record(field, from, &text, json!([])).await.unwrap();
    }
}

/// A copy of a log up to a position.
pub(crate) fn copy_of_log(log: &Arc<dyn Engine>, position: u64) -> MemoryEngine {
    let (name, copy) = (FieldName::default_field(), MemoryEngine::new());
    let mut head = Head::EMPTY;
    while head.position < position {
        let missing = usize::try_from(position - head.position).unwrap();
        let page = log.read(&name, head.position + 1, missing).unwrap();
        head = copy.append(&name, &head, &page).unwrap();
    }
    copy
}

/// What a log says up to a position, rebuilt from nothing.
pub(crate) fn rebuilt_at(log: &Arc<dyn Engine>, position: u64) -> Published {
    let (name, until) = (FieldName::default_field(), copy_of_log(log, position));
    restore(&until, &name, None, Pace::Alone, &mut |_| true).unwrap().published
}

/// Whether two of them are the same, byte by byte.
pub(crate) fn assert_same(made: &Published, expected: &Published) {
    assert_eq!((made.head, made.state.hash()), (expected.head, expected.state.hash()));
    assert_eq!(made.state.replacers, expected.state.replacers);
    let stored = |published: &Published| {
        let mut bytes = Vec::new();
        published.index.write_to(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(made.index.len(), expected.index.len());
    assert!(stored(made) == stored(expected), "the indexes differ");
}

/// Waits for what happens in the background.
pub(crate) async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        while !is_so() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect(what);
}
