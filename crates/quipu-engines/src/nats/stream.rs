//! The stream of a field: its name, its subjects, its settings.

use async_nats::Client;
use quipu_log::{EngineError, FieldName};
use serde_json::{Value, json};

use super::{
    api::{self, ApiError, NAME_IN_USE, NO_STREAM},
    message::Kind,
};

const NAME: &str = "QUIPU_";
/// The subject at which servers announce that a group was stored. Nobody keeps these messages; they are hints.
pub(super) const HEADS: &str = "quipu_heads";

#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) field: FieldName,
    pub(super) name: String,
}

impl Stream {
    pub(super) fn of(field: &FieldName) -> Self {
        Self { field: field.clone(), name: format!("{NAME}{field}") }
    }

    pub(super) fn field_of(name: &str) -> Option<FieldName> {
        FieldName::try_from(name.strip_prefix(NAME)?).ok()
    }

    pub(super) fn subject(&self, kind: Kind) -> String {
        format!("quipu.{}.{}", self.field, kind.token())
    }

    /// The wildcard for all subjects of the stream.
    pub(super) fn everything(&self) -> String {
        format!("quipu.{}.>", self.field)
    }

    fn settings(&self, replicas: usize) -> Value {
        json!({
            "name": self.name,
            "subjects": [self.everything()],
            "retention": "limits",
            "storage": "file",
            "discard": "new",
            "num_replicas": replicas,
            "max_consumers": -1,
            "max_msgs": -1,
            "max_msgs_per_subject": -1,
            "max_bytes": -1,
            "max_msg_size": -1,
            "max_age": 0,
            "deny_purge": true,
            "allow_direct": true,
            "allow_atomic": true,
            "republish": {
                "src": self.subject(Kind::Group),
                "dest": format!("{HEADS}.{}", self.field),
                "headers_only": true,
            },
        })
    }

    pub(super) async fn create(&self, client: &Client, replicas: usize) -> Result<(), ApiError> {
        let made = format!("STREAM.CREATE.{}", self.name);
        match api::call(client, &made, &self.settings(replicas)).await {
            Err(error) if error.code() != NAME_IN_USE => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The stream's last sequence; none if there is no stream.
    pub(super) async fn last_sequence(&self, client: &Client) -> Result<Option<u64>, EngineError> {
        let info = api::ask(client, &format!("STREAM.INFO.{}", self.name), &json!({})).await;
        let info = match info {
            Ok(info) => info,
            Err(error) if error.code() == NO_STREAM => return Ok(None),
            Err(error) => return Err(error.explain("look")),
        };
        if let Some(wrong) = wrong_setting(&info) {
            let action = format!("use stream {}", self.name);
            return Err(api::io(
                &action,
                format!("its {wrong} is not what quipu sets: it could lose commits"),
            ));
        }
        let last = info.pointer("/state/last_seq").and_then(Value::as_u64);
        last.map(Some).ok_or_else(|| api::io("look", "its state is not told"))
    }
}

/// A setting that somebody changed so that the stream would lose messages, or could not take a batch.
fn wrong_setting(info: &Value) -> Option<&'static str> {
    let setting = |name: &str| info.pointer(&format!("/config/{name}"));
    let number = |name: &str| setting(name).and_then(Value::as_i64).unwrap_or(0);
    let text = |name: &str| setting(name).and_then(Value::as_str).unwrap_or_default();
    if text("storage") != "file" {
        return Some("storage");
    }
    if text("discard") != "new" {
        return Some("discard");
    }
    if setting("allow_atomic").and_then(Value::as_bool) != Some(true) {
        return Some("allow_atomic");
    }
    ["max_age", "max_msgs", "max_msgs_per_subject", "max_bytes"]
        .into_iter()
        .find(|name| number(name) > 0)
}
