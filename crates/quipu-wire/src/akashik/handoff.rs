//! HANDOFF: a task and its context go to another agent (`POST /v1/handoff`). The protocol asks for it
//! and publishes no payload; this contract is ours.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::coordinate::read_ids;
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

words! {
    /// What to do with a handoff.
    HandoffAction {
        /// Ask another agent to take over.
        Offer = "offer",
        /// Take over.
        Accept = "accept",
        /// Do not.
        Reject = "reject",
        /// Take the offer back.
        Cancel = "cancel",
        /// Show those that the sender has a part in.
        List = "list",
    }
}

words! {
    /// Where a handoff stands.
    HandoffStatus {
        /// Waits for an answer.
        Offered = "offered",
        /// The other agent took over. Final.
        Accepted = "accepted",
        /// It did not. Final.
        Rejected = "rejected",
        /// The offer was taken back. Final.
        Cancelled = "cancelled",
        /// There is nobody left to answer, or nothing left to hand over. Final.
        Expired = "expired",
    }
}

/// What the next agent needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffContext {
    /// Where things stand.
    #[serde(default)]
    pub summary: Option<String>,
    /// The units to read. The Field adds those of the task.
    #[serde(default)]
    pub memory_unit_ids: Vec<String>,
    /// What nobody has answered. The Field adds the task's questions.
    #[serde(default)]
    pub open_questions: Vec<String>,
    /// What is disputed. The Field adds the open conflicts of the package's units.
    #[serde(default)]
    pub conflict_ids: Vec<String>,
    /// What was decided.
    #[serde(default)]
    pub decisions: Vec<String>,
    /// What was taken for granted.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// What to do next.
    #[serde(default)]
    pub next_steps: Vec<String>,
}

/// What to do with which handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffPayload {
    /// What to do.
    pub action: HandoffAction,
    /// Which handoff; required by `accept`, `reject` and `cancel`.
    #[serde(default)]
    pub handoff_id: Option<String>,
    /// Which task; required by `offer`. It need not be one that COORDINATE made.
    #[serde(default)]
    pub task_id: Option<String>,
    /// Who is to take over; required by `offer`.
    #[serde(default)]
    pub to_agent: Option<String>,
    /// Why; required by `offer`.
    #[serde(default)]
    pub reason: Option<String>,
    /// What the next agent needs to know.
    #[serde(default)]
    pub context: HandoffContext,
}

/// A handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Handoff {
    /// Its id.
    pub id: String,
    /// The session it was offered in.
    pub session_id: Option<String>,
    /// The task.
    pub task_id: String,
    /// Who offers.
    pub from_agent: String,
    /// Who is to take over.
    pub to_agent: String,
    /// Where it stands.
    pub status: HandoffStatus,
    /// Why it was offered.
    pub reason: String,
    /// What the agent that answered said.
    pub answer: Option<String>,
    /// The package, completed by the Field when it was offered.
    pub context: HandoffContext,
    /// When it was offered.
    pub epoch_created: u64,
    /// When it last moved.
    pub epoch_updated: u64,
}

/// The answer to HANDOFF.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HandoffResponse {
    /// Where the handoff stands; `ok` for `list`.
    pub status: String,
    /// The handoff as it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
    /// The answer to `list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoffs: Option<Vec<Handoff>>,
    /// What had no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl HandoffPayload {
    /// The least authority that the payload can need, read before anything else of it is judged.
    #[must_use]
    pub fn authority_needed(payload: &Value) -> u8 {
        let word = payload.get("action").and_then(Value::as_str).unwrap_or_default();
        match HandoffAction::parse(word) {
            Some(HandoffAction::List) | None => 2,
            Some(
                HandoffAction::Offer
                | HandoffAction::Accept
                | HandoffAction::Reject
                | HandoffAction::Cancel,
            ) => 4,
        }
    }

    /// Reads the payload; what was ignored comes back as warnings.
    pub fn parse(payload: Value) -> Result<(Self, Vec<String>), ReadError> {
        let mut object = ObjectReader::new("payload", payload)?;
        let action = object
            .take_word("action", HandoffAction::WORDS, HandoffAction::parse)?
            .ok_or_else(|| object.refuse("action", "is required"))?;
        let handoff_id = object.take_id("handoff_id")?;
        let task_id = object.take_id("task_id")?;
        let to_agent = object.take_id("to_agent")?;
        let reason = object.take_nonblank("reason")?;
        let missing = match action {
            HandoffAction::Offer => [
                ("task_id", task_id.is_none()),
                ("to_agent", to_agent.is_none()),
                ("reason", reason.is_none()),
            ]
            .into_iter()
            .find_map(|(key, missing)| missing.then_some(key)),
            HandoffAction::Accept | HandoffAction::Reject | HandoffAction::Cancel => {
                handoff_id.is_none().then_some("handoff_id")
            }
            HandoffAction::List => None,
        };
        if let Some(key) = missing {
            return Err(object.refuse(key, format!("is required when action is {action}")));
        }
        let (context, mut warnings) = match object.take_object("context")? {
            None => (HandoffContext::default(), Vec::new()),
            Some(context) => read_context(context)?,
        };
        warnings.extend(object.warnings());
        Ok((Self { action, handoff_id, task_id, to_agent, reason, context }, warnings))
    }
}

fn read_context(mut object: ObjectReader) -> Result<(HandoffContext, Vec<String>), ReadError> {
    let context = HandoffContext {
        summary: object.take_nonblank("summary")?,
        memory_unit_ids: read_ids(&mut object, "memory_unit_ids")?,
        open_questions: object.take_texts("open_questions")?,
        conflict_ids: read_ids(&mut object, "conflict_ids")?,
        decisions: object.take_texts("decisions")?,
        assumptions: object.take_texts("assumptions")?,
        next_steps: object.take_texts("next_steps")?,
    };
    Ok((context, object.warnings()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_an_action_needs_is_named_where_it_is_missing() {
        let refused = |payload: Value| HandoffPayload::parse(payload).unwrap_err().path;
        assert_eq!(refused(json!({})), "payload.action");
        assert_eq!(refused(json!({"action": "offer"})), "payload.task_id");
        assert_eq!(refused(json!({"action": "offer", "task_id": "t"})), "payload.to_agent");
        assert_eq!(
            refused(json!({"action": "offer", "task_id": "t", "to_agent": "b"})),
            "payload.reason"
        );
        for action in ["accept", "reject", "cancel"] {
            assert_eq!(refused(json!({"action": action})), "payload.handoff_id");
        }
        assert_eq!(
            refused(json!({"action": "list", "context": {"memory_unit_ids": [" "]}})),
            "payload.context.memory_unit_ids[0]"
        );
    }
}
