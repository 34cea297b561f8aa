//! The envelope around every request, and how it is told from a bare payload.

use serde::Serialize;
use serde_json::Value;

use super::Operation;
use crate::{
    error::error_code::ErrorCode,
    json::reader::{ObjectReader, Problem, ReadError},
    limits::PROTOCOL_VERSION,
};

/// A request in its envelope.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Envelope {
    /// The protocol's name, `akashik`.
    pub protocol: &'static str,
    pub version: &'static str,
    /// The message's own id, for idempotency and tracing.
    pub id: String,
    pub operation: Operation,
    pub agent_id: String,
    pub session_id: Option<String>,
    /// The sender's logical time.
    pub epoch: u64,
    /// The operation's own fields.
    pub payload: Value,
}

/// Whether a body is meant as an envelope: it names a protocol, or an operation with a payload.
#[must_use]
pub fn is_envelope(body: &Value) -> bool {
    body.get("protocol").is_some()
        || (body.get("operation").is_some() && body.get("payload").is_some())
}

impl Envelope {
    #[must_use]
    pub fn new(id: String, operation: Operation, agent_id: String, payload: Value) -> Self {
        Self {
            protocol: "akashik",
            version: PROTOCOL_VERSION,
            id,
            operation,
            agent_id,
            session_id: None,
            epoch: 0,
            payload,
        }
    }

    /// Reads an envelope. The schema is closed: all eight keys and no other.
    pub fn parse(body: Value) -> Result<Self, ReadError> {
        let mut object = ObjectReader::new("envelope", body)?;
        expect_protocol(&mut object)?;
        expect_version(&mut object)?;
        let id = object.require_id("id")?;
        let operation = object
            .take_word("operation", Operation::WORDS, Operation::parse)?
            .ok_or_else(|| object.refuse("operation", "is required"))?;
        let agent_id = object.require_id("agent_id")?;
        if !object.has("session_id") {
            return Err(object.refuse("session_id", "is required; send null if there is none"));
        }
        let session_id = object.take_id("session_id")?;
        let epoch = object
            .take_integer("epoch")?
            .ok_or_else(|| object.refuse("epoch", "is required; send 0 if you keep no clock"))?;
        let payload =
            object.take("payload").ok_or_else(|| object.refuse("payload", "is required"))?;
        if !payload.is_object() {
            return Err(object.refuse("payload", "must be an object"));
        }
        if let Some(path) = object.leftovers().into_iter().next() {
            return Err(ReadError::new(path, "is not a key of the envelope"));
        }
        let mut envelope = Self::new(id, operation, agent_id, payload);
        envelope.session_id = session_id;
        envelope.epoch = epoch;
        Ok(envelope)
    }
}

fn expect_protocol(object: &mut ObjectReader) -> Result<(), ReadError> {
    object
        .take_word("protocol", "`akashik`", |word| (word == "akashik").then_some(()))?
        .ok_or_else(|| object.refuse("protocol", "is required"))
}

fn expect_version(object: &mut ObjectReader) -> Result<(), ReadError> {
    let Some(version) = object.take("version") else {
        return Err(object.refuse("version", "is required"));
    };
    if version.as_str() == Some(PROTOCOL_VERSION) {
        return Ok(());
    }
    let problem = Problem::found(format!("must be \"{PROTOCOL_VERSION}\""), version);
    Err(object.refuse("version", problem).with_code(ErrorCode::UnsupportedVersion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole() -> Value {
        json!({"protocol": "akashik", "version": "0.1.0", "id": "msg-1", "operation": "RECORD",
               "agent_id": "a", "session_id": null, "epoch": 0, "payload": {}})
    }

    fn refusal(change: impl FnOnce(&mut Value)) -> String {
        let mut body = whole();
        change(&mut body);
        Envelope::parse(body).unwrap_err().to_string()
    }

    #[test]
    fn reads_what_it_writes() {
        let envelope = Envelope::parse(whole()).unwrap();
        assert_eq!(serde_json::to_value(&envelope).unwrap(), whole());
    }

    #[test]
    fn every_key_is_required_and_no_other_is_allowed() {
        for key in
            ["protocol", "version", "id", "operation", "agent_id", "session_id", "epoch", "payload"]
        {
            let problem = refusal(|body| {
                body.as_object_mut().unwrap().remove(key);
            });
            assert!(problem.starts_with(&format!("envelope.{key}: is required")), "{problem}");
        }
        assert_eq!(
            refusal(|body| body["token"] = json!("x")),
            "envelope.token: is not a key of the envelope"
        );
    }

    #[test]
    fn another_version_has_its_own_code() {
        let mut body = whole();
        body["version"] = json!("9.9.9");
        let error = Envelope::parse(body).unwrap_err();
        assert_eq!(error.code, ErrorCode::UnsupportedVersion);
    }

    #[test]
    fn values_of_the_wrong_kind_are_named() {
        assert_eq!(
            refusal(|body| body["protocol"] = json!("other")),
            "envelope.protocol: must be one of `akashik`, got \"other\""
        );
        assert!(refusal(|body| body["epoch"] = json!(1u64 << 60)).contains("envelope.epoch"));
        assert!(refusal(|body| body["payload"] = json!([])).contains("envelope.payload"));
        assert!(refusal(|body| body["operation"] = json!("SING")).contains("envelope.operation"));
    }
}
