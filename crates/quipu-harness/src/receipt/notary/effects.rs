//! What a Task changed outside, and who agreed to what: from the events of its tools, of its handoffs, and of
//! those who were asked.

use std::collections::BTreeMap;

use quipu_core::{
    event::{
        coordination::HandoffChange,
        documents::{DocumentChange, NotedDependency},
    },
    rules::harn::FIELD_AGENT,
};
use quipu_wire::{
    akashik::HandoffStatus,
    harn::{
        Approval, ApprovalDecision, CallStatus, EventKind, EventName, FileWrite, HarnError,
        JsonObject, NetworkEgress, ReceiptHandoff, ReceiptHandoffStatus, ReceiptToolCall, Sha256,
        SideEffects,
    },
    json::timestamp::rfc3339,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{spending::is_tool_use, story::Noted};

use crate::{NoteBody, handle::failure::internal_error, permission::ToolUse};

#[derive(Debug, Default)]
pub(super) struct Effects {
    calls: Vec<ReceiptToolCall>,
    files: Vec<FileWrite>,
    egress: Vec<NetworkEgress>,
    offers: BTreeMap<String, String>,
    handoffs: Vec<(String, ReceiptHandoffStatus)>,
    approvals: Vec<Approval>,
}

impl Effects {
    pub(super) fn note(&mut self, noted: &Noted<'_>) -> Result<(), HarnError> {
        if let Some(dependency) = &noted.note.dependency {
            self.recorded(dependency, &noted.body);
        }
        let Some(EventName::Known(kind)) = EventName::parse(&noted.note.event) else {
            return Ok(());
        };
        if is_tool_use(&noted.note.event) {
            return self.called(&noted.body.payload);
        }
        if kind == EventKind::AgentToolResult {
            return self.answered(&noted.body.payload);
        }
        if kind == EventKind::ToolApproved {
            self.approvals.push(approval(noted, ApprovalDecision::Approved));
        } else if kind == EventKind::ToolDenied {
            self.approvals.push(approval(noted, ApprovalDecision::Denied));
        }
        Ok(())
    }

    /// An answer of a tool that was recorded is a call of that tool; one that the worker told of too is the same call.
    fn recorded(&mut self, dependency: &NotedDependency, body: &NoteBody) {
        let NotedDependency { key, kind } = dependency;
        let Some(used) = ToolUse::of_answer(*kind, key) else { return };
        let last = key.rsplit(':').next();
        let mut told = self.calls.iter_mut().rev();
        let told = told.find(|call| call.call_id == *key || Some(&*call.call_id) == last);
        let status = if says_failed(body) { CallStatus::Failed } else { CallStatus::Succeeded };
        let (input_hash, output_hash) = (body.request_sha256, body.sha256);
        if let Some(call) = told {
            call.status = status;
            call.input_hash = call.input_hash.or(input_hash);
            call.output_hash = call.output_hash.or(output_hash);
            return;
        }
        self.calls.push(ReceiptToolCall {
            tool: if used.tool.is_empty() { "unknown".to_owned() } else { used.tool },
            call_id: key.clone(),
            status,
            input_hash,
            output_hash,
            metadata: Some(JsonObject::with("dependency_key", key.as_str())),
        });
    }

    fn called(&mut self, payload: &JsonObject) -> Result<(), HarnError> {
        let tool = text(payload, &["name", "tool"]).unwrap_or_else(|| "unknown".to_owned());
        let call_id = text(payload, &["tool_call_id", "call_id", "id"]);
        let call_id = call_id.unwrap_or_else(|| format!("call_{}", self.calls.len() + 1));
        self.calls.push(ReceiptToolCall {
            tool,
            call_id,
            // Until a result says otherwise: nobody heard of it again.
            status: CallStatus::Canceled,
            input_hash: digest(payload.get("input"))?,
            output_hash: None,
            metadata: None,
        });
        Ok(())
    }

    fn answered(&mut self, payload: &JsonObject) -> Result<(), HarnError> {
        self.files.extend(listed::<FileWrite>(payload, "fs_writes"));
        self.egress.extend(listed::<NetworkEgress>(payload, "network_egress"));
        let call_id = text(payload, &["tool_call_id", "call_id", "id"]);
        let call = self.calls.iter_mut().rev().find(|call| Some(&call.call_id) == call_id.as_ref());
        let Some(call) = call else { return Ok(()) };
        let failed = text(payload, &["status"]).is_some_and(|status| status == "error");
        call.status = if failed { CallStatus::Failed } else { CallStatus::Succeeded };
        call.output_hash = digest(payload.get("output"))?;
        Ok(())
    }

    pub(super) fn handoff(&mut self, handoff: &str, change: &HandoffChange) {
        match change {
            HandoffChange::Offered { to, .. } => {
                self.offers.insert(handoff.to_owned(), to.clone());
            }
            HandoffChange::Moved { to, .. } => {
                let status = match to {
                    HandoffStatus::Accepted => ReceiptHandoffStatus::Accepted,
                    HandoffStatus::Rejected => ReceiptHandoffStatus::Rejected,
                    HandoffStatus::Offered | HandoffStatus::Cancelled | HandoffStatus::Expired => {
                        return;
                    }
                };
                if let Some(agent) = self.offers.get(handoff) {
                    self.handoffs.push((agent.clone(), status));
                }
            }
        }
    }

    /// What was changed, and what was agreed to.
    pub(super) fn finish(self, task: &str) -> (SideEffects, Vec<Approval>) {
        let handoffs = self.handoffs.into_iter().map(|(target_agent, status)| ReceiptHandoff {
            target_agent,
            task_id: task.to_owned(),
            status,
            receipt_id: None,
        });
        let effects = SideEffects {
            fs_writes: self.files,
            network_egress: self.egress,
            tool_calls: self.calls,
            a2a_handoffs: handoffs.collect(),
        };
        (effects, self.approvals)
    }
}

/// Whether an answer says itself that its call failed.
fn says_failed(body: &NoteBody) -> bool {
    let Some(Value::Object(answer)) = &body.value else { return false };
    let is_true = |name: &str| answer.get(name) == Some(&Value::Bool(true));
    let is_said = |name: &str| {
        let said = answer.get(name);
        said.is_some_and(|said| !matches!(said, Value::Null | Value::Bool(false)))
    };
    is_true("isError") || is_true("is_error") || is_said("error") || is_said("$error")
}

fn approval(noted: &Noted<'_>, decision: ApprovalDecision) -> Approval {
    let payload = &noted.body.payload;
    let action = text(payload, &["action", "tool", "name", "capability"]);
    let (approval_id, actor) = match &noted.question {
        // Where nobody was asked, a rule or the policy answered.
        Some((id, DocumentChange::Created)) => (Some(id.clone()), FIELD_AGENT),
        Some((id, _)) => (Some(id.clone()), noted.actor),
        // A worker says so, of whatever it likes.
        None => (None, noted.actor),
    };
    Approval {
        approval_id,
        actor: actor.to_owned(),
        action: action.unwrap_or_else(|| "tool".to_owned()),
        decision,
        decided_at: rfc3339(noted.at_ms),
        quorum_proof: None,
        evidence_hash: None,
    }
}

fn text(payload: &JsonObject, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| payload.get(*name)?.as_str());
    found.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn digest(value: Option<&Value>) -> Result<Option<Sha256>, HarnError> {
    let digest = value.map(Sha256::of_json).transpose();
    digest.map_err(|error| internal_error(error.to_string()))
}

/// The well-formed entries of a list that a worker sent.
fn listed<T: DeserializeOwned>(payload: &JsonObject, name: &str) -> Vec<T> {
    let entries = payload.get(name).and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| serde_json::from_value(entry.clone()).ok()).collect()
}
