//! An agent that speaks to the Field: envelopes, its clock, and the operations every case uses.

use std::{cell::Cell, rc::Rc};

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Field,
        check::{Checked, Failed, ensure, same, wrong},
        ids::token,
        json::{JsonAccess, with},
        unit::Unit,
    },
    http::Reply,
    limits::ALL_UNITS,
};

/// The name of an agent, and the key and session with which it sends messages. It need not be registered.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) field: Rc<Field>,
    pub(crate) id: String,
    pub(crate) key: Option<String>,
    session: Option<String>,
    epoch: Rc<Cell<u64>>,
}

/// A complete message with a new id.
pub(crate) fn envelope(
    operation: &str,
    agent: &str,
    session: Option<&str>,
    epoch: u64,
    payload: Value,
) -> Value {
    let mut message = json!({
        "protocol": "akashik", "version": "0.1.0", "id": format!("cf-{}", token()),
        "operation": operation, "agent_id": agent, "session_id": session, "epoch": epoch,
    });
    message["payload"] = payload;
    message
}

/// The HTTP route of an operation.
pub(crate) fn route(operation: &str) -> String {
    format!("/v1/{}", operation.to_ascii_lowercase())
}

impl Agent {
    pub(crate) fn new(field: Rc<Field>, id: String, key: Option<String>) -> Self {
        Self { field, id, key, session: None, epoch: Rc::new(Cell::new(0)) }
    }

    /// The same agent, sending its messages inside a session.
    pub(crate) fn within(&self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self.clone() }
    }

    /// The same agent, sending its messages with another key or none.
    pub(crate) fn keyed(&self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self.clone() }
    }

    /// The message that this agent would send.
    pub(crate) fn message(&self, operation: &str, payload: Value) -> Value {
        envelope(operation, &self.id, self.session.as_deref(), self.epoch.get(), payload)
    }

    /// Sends a message as it is.
    pub(crate) fn deliver(&self, route: &str, message: &Value) -> Checked<Reply> {
        let reply = self.field.client.post(route, self.key.as_deref(), message);
        let reply = reply.map_err(|error| Failed::Wrong(format!("POST {route}: {error}")))?;
        if let Some(epoch) = reply.body.get("epoch").and_then(Value::as_u64) {
            self.epoch.set(self.epoch.get().max(epoch));
        }
        Ok(reply)
    }

    /// Sends an operation, whatever the answer.
    pub(crate) fn send(&self, operation: &str, payload: Value) -> Checked<Reply> {
        self.deliver(&route(operation), &self.message(operation, payload))
    }

    /// Sends an operation that must succeed.
    pub(crate) fn ok(&self, operation: &str, payload: Value) -> Checked<Value> {
        self.send(operation, payload)?.done(operation)
    }

    /// Sends an operation that must be refused with this code.
    pub(crate) fn refused(&self, operation: &str, payload: Value, code: &str) -> Checked<Value> {
        let reply = self.send(operation, payload)?;
        reply.is_refused(operation)?;
        same("code", reply.body.text("/code")?, code)?;
        Ok(reply.body)
    }

    /// Sends an operation that must be refused, whatever the code.
    pub(crate) fn refused_somehow(&self, operation: &str, payload: Value) -> Checked<Value> {
        let reply = self.send(operation, payload)?;
        reply.is_refused(operation)?;
        Ok(reply.body)
    }

    /// Records a unit from a payload such as that of [`crate::actors::unit::finding`], which must be accepted.
    pub(crate) fn record(&self, payload: Value) -> Checked<Unit> {
        let content = payload.text("/content").unwrap_or_default().to_owned();
        let answer = self.ok("RECORD", payload)?;
        same("status", answer.text("/status")?, "accepted")?;
        Ok(Unit {
            id: answer.text("/memory_unit_id")?.to_owned(),
            epoch: answer.integer("/epoch")?,
            conflicts: answer.texts("/conflicts_detected").unwrap_or_default(),
            content,
        })
    }

    /// Attunes with these keys in the scope.
    pub(crate) fn attune(&self, scope: Value) -> Checked<Value> {
        let scope = with(json!({"role": "analyst", "max_units": ALL_UNITS}), scope);
        self.ok("ATTUNE", json!({"scope": scope}))
    }

    /// What ATTUNE returns of the units recorded since an epoch, with these keys in the scope.
    pub(crate) fn attune_since(&self, epoch: u64, scope: Value) -> Checked<Value> {
        let scope = with(json!({"role": "analyst", "max_units": ALL_UNITS}), scope);
        let since = if self.field.level == 0 { Value::Null } else { json!(epoch) };
        self.ok("ATTUNE", json!({"scope": scope, "since_epoch": since}))
    }

    /// The unit as ATTUNE returns it to this agent, with these keys in the scope; `None` if it does not.
    pub(crate) fn finds(&self, unit: &Unit, scope: Value) -> Checked<Option<Value>> {
        let answer = self.attune_since(unit.epoch, scope)?;
        let record = answer.list("/record")?;
        Ok(record
            .iter()
            .find(|item| item.pointer("/memory_unit/id") == Some(&json!(unit.id)))
            .cloned())
    }

    /// The unit as ATTUNE returns it; fails if it does not.
    pub(crate) fn sees(&self, unit: &Unit) -> Checked<Value> {
        match self.finds(unit, json!({}))? {
            Some(item) => Ok(item.at("/memory_unit")?.clone()),
            None => wrong(format!("ATTUNE does not give {} to {}", unit.id, self.id)),
        }
    }

    /// Fails if ATTUNE returns the unit to this agent.
    pub(crate) fn misses(&self, unit: &Unit) -> Checked {
        let found = self.finds(unit, json!({}))?;
        ensure(found.is_none(), format!("ATTUNE gives {} to {}", unit.id, self.id))
    }

    /// The conflicts that DETECT lists with this filter.
    pub(crate) fn conflicts(&self, filter: Value) -> Checked<Vec<Value>> {
        let mut payload = json!({"mode": "list"});
        payload["filter"] = filter;
        let answer = self.ok("DETECT", payload)?;
        Ok(answer.list("/conflicts")?.to_vec())
    }

    /// The conflict of this id as DETECT lists it.
    pub(crate) fn conflict(&self, id: &str) -> Checked<Value> {
        let all = self.conflicts(json!({}))?;
        let found = all.into_iter().find(|conflict| conflict["id"] == id);
        found.map_or_else(|| wrong(format!("DETECT list does not have conflict {id}")), Ok)
    }

    /// The answer of REPLAY about a target.
    pub(crate) fn replay(&self, kind: &str, target: &str, depth: &str) -> Checked<Value> {
        let payload = json!({"target_type": kind, "target_id": target, "depth": depth});
        self.ok("REPLAY", payload)
    }
}

impl Reply {
    /// The body of a success.
    pub(crate) fn done(self, operation: &str) -> Checked<Value> {
        if self.status >= 300 || self.says_no(operation) || !self.body.is_object() {
            return wrong(format!("{operation} answered {} {}", self.status, self.body));
        }
        Ok(self.body)
    }

    /// Fails if this is a success.
    pub(crate) fn is_refused(&self, operation: &str) -> Checked {
        let refused = self.status >= 400 || self.says_no(operation);
        ensure(refused, format!("{operation} was accepted: {} {}", self.status, self.body))
    }

    /// Whether the answer is an error object or has the status `rejected`, which for HANDOFF is a normal result.
    fn says_no(&self, operation: &str) -> bool {
        let rejected = self.body.get("status").is_some_and(|status| status == "rejected");
        self.body.get("code").is_some() || (rejected && operation != "HANDOFF")
    }
}
