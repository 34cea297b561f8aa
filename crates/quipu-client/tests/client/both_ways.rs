//! The same calls over HTTP and inside the process have the same answers, but for ids and times.

use std::collections::HashMap;

use quipu_client::{
    Agent, ClientError, Field,
    akashik::{
        AttunePayload, CompactFilter, CompactPayload, CompactStrategy, DetectFilter, DetectMode,
        DetectPayload, Format, MemoryType, Operation, RecordPayload, RelationType, ReplayDepth,
        ReplayTarget, Scope,
    },
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::support::TestServer;

/// Answers as they came, with the particulars of one run taken out.
#[derive(Default)]
struct Notes {
    answers: Vec<Value>,
    names: HashMap<String, String>,
}

impl Notes {
    fn take<T: Serialize>(&mut self, answer: Result<T, ClientError>) {
        let answer = match answer {
            Ok(answer) => serde_json::to_value(answer).unwrap(),
            Err(error) => {
                let refusal = error.refusal().unwrap_or_else(|| panic!("{error:?}"));
                json!([refusal.status, serde_json::from_slice::<Value>(&refusal.body).unwrap()])
            }
        };
        let plain = self.plain(answer);
        self.answers.push(plain);
    }

    fn plain(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.plain_text(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.plain(value)).collect(),
            Value::Object(map) => {
                map.into_iter().map(|(key, value)| (key, self.plain(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// Ids are replaced by the order in which they first came, times by one word: whether two
    /// commits share a millisecond is chance, so the order of times would be too.
    fn plain_text(&mut self, text: &str) -> String {
        let mut words = Vec::new();
        for word in text.split(' ') {
            let id = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            let drawn = id.len() > 18
                && id.bytes().any(|b| b.is_ascii_digit())
                && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b));
            if drawn && is_time(id) {
                words.push(word.replace(id, "a time"));
            } else if drawn {
                let next = format!("#{}", self.names.len());
                let name = self.names.entry(id.to_owned()).or_insert(next);
                words.push(word.replace(id, name));
            } else {
                words.push(word.to_owned());
            }
        }
        words.join(" ")
    }
}

/// Whether the word is a moment as the wire writes it, `2026-01-31T…`.
fn is_time(word: &str) -> bool {
    word.as_bytes().get(10) == Some(&b'T') && word.contains(':')
}

fn finding(content: &str) -> RecordPayload {
    RecordPayload::committed(MemoryType::Finding, content, "Plan the route", 0.8, "It was seen")
}

async fn converse(field: &Field) -> Result<Vec<Value>, ClientError> {
    let mut notes = Notes::default();
    let ada = field.agent("ada", "researcher")?.interested_in(["harbours"]);
    let bo = field.agent("bo", "planner")?;
    notes.take(ada.record(&finding("Nobody knows me yet.")).await);
    notes.take(ada.register().await);
    notes.take(ada.register().await);
    notes.take(bo.register().await);
    let first = ada.record(&finding("The harbour opens at six.")).await?;
    let second = finding("The harbour opens at nine.")
        .relating(RelationType::Contradicts, first.memory_unit_id.as_str());
    let second = bo.record(&second).await?;
    let scope = Scope { include_own: true, explain: true, ..Scope::new("planner", 10) };
    let hint = Some("when does the harbour open".to_owned());
    let ask = AttunePayload { scope, context_hint: hint, format: Format::Full, since_epoch: None };
    notes.take(bo.attune(&ask).await);
    let list = DetectPayload {
        mode: DetectMode::List,
        target_id: None,
        filter: DetectFilter::default(),
        cursor: None,
    };
    notes.take(bo.detect(&list).await);
    notes.take(Ok(&first));
    notes.take(Ok(&second));
    reads(&mut notes, &bo, &first.memory_unit_id).await;
    let target = ReplayTarget::MemoryUnit;
    notes.take(bo.replay(target, &second.memory_unit_id, ReplayDepth::FullTrace).await);
    let compact = CompactPayload {
        dry_run: false,
        strategy: CompactStrategy::Archive,
        filter: CompactFilter::default(),
        reason: Some("a test".to_owned()),
        confirm: None,
        minimum_fidelity: None,
    };
    notes.take(ada.compact(&compact).await);
    notes.take(ada.record_all(vec![finding("The pier is wet."), finding("It is long.")]).await);
    notes.take(ada.record_all(Vec::new()).await);
    notes.take(ada.retract(&first.memory_unit_id, "It was wrong").await);
    notes.take(ada.deregister().await);
    notes.take(ada.deregister().await);
    Ok(notes.answers)
}

async fn reads(notes: &mut Notes, bo: &Agent, unit: &str) {
    notes.take(bo.unit(unit).await);
    notes.take(bo.unit("../../etc").await);
    notes.take(bo.conflicts().await);
    notes.take(bo.agents().await);
    let wrong = json!({"type": "rumour", "content": "x", "intent": {"purpose": "p"}});
    let wrong = bo.call_raw(Operation::Record, &wrong, Some("msg-wrong")).await;
    notes.take(wrong.map(|raw| String::from_utf8_lossy(&raw).into_owned()));
    let status = bo.status().await.map(|mut status| {
        status.head.clear();
        status
    });
    notes.take(status);
}

#[tokio::test]
async fn the_same_calls_have_the_same_answers() {
    let server = TestServer::start().await;
    let over_http = converse(&server.field()).await.unwrap();
    let field = Field::in_memory().await.unwrap();
    let inside = converse(&field).await.unwrap();
    assert_eq!(over_http.len(), inside.len());
    for (number, (one, other)) in over_http.iter().zip(&inside).enumerate() {
        assert_eq!(one, other, "answer {number}");
    }
    field.close().await;
    server.stop().await;
}

#[tokio::test]
async fn a_message_that_is_sent_again_is_carried_out_once_on_either_way() {
    let server = TestServer::start().await;
    let inside = Field::in_memory().await.unwrap();
    for field in [server.field(), inside.clone()] {
        let ada = field.agent("ada", "researcher").unwrap();
        ada.register().await.unwrap();
        let unit = finding("The tide is high.");
        let first = ada.call_raw(Operation::Record, &unit, Some("msg-1")).await.unwrap();
        let again = ada.call_raw(Operation::Record, &unit, Some("msg-1")).await.unwrap();
        assert_eq!(first, again);
        assert_eq!(field.status().await.unwrap().units.total, 1);
    }
    inside.close().await;
    server.stop().await;
}
