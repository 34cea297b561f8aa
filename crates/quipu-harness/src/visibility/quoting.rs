//! Documents that repeat the words of Memories: who may see every one of those sees the document, and nobody
//! does once one was purged. What is not shown leaves a descriptor that something was there.

use quipu_core::{DocumentKind, State, state::DocumentEntry};
use quipu_wire::{
    harn::{
        JsonObject, Message, MessageObject, MessageRole, Outcome, OutcomeObject, OutcomeStatus,
        Part, ResourceEnvelope, Visibility,
    },
    json::timestamp::rfc3339,
};
use serde_json::json;

use crate::{Caller, Harness, visibility::access::status_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// A Memory that it repeats was purged.
    Erased,
    /// The caller may not see a Memory that it repeats.
    Hidden,
}

impl Withheld {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Erased => "erased",
            Self::Hidden => "hidden",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Erased => "(erased)",
            Self::Hidden => "(hidden)",
        }
    }
}

/// A document that is not shown, with what the state knows of it.
#[derive(Debug)]
pub(crate) struct Gap<'a> {
    entry: &'a DocumentEntry,
    why: Withheld,
    ended: Option<OutcomeStatus>,
    receipt: Option<String>,
}

impl<'a> Gap<'a> {
    fn of(state: &State, entry: &'a DocumentEntry, why: Withheld) -> Self {
        let task = entry.owner.task.as_deref();
        let ended = task.and_then(|id| status_of(state, id, state.tasks.get(id)?).outcome());
        let receipt = task.and_then(|id| {
            let issued = state.documents.of_task(DocumentKind::Receipt, id).last();
            issued.map(|(_, entry)| entry.id.clone())
        });
        Self { entry, why, ended, receipt }
    }

    fn envelope(&self) -> ResourceEnvelope {
        let mut envelope = ResourceEnvelope::new(&self.entry.id, rfc3339(self.entry.created_ms));
        envelope.updated_at = rfc3339(self.entry.updated_ms);
        envelope.metadata = JsonObject::with("redacted", self.why.as_str());
        envelope
    }

    /// The Message that stands there. Only what the Field itself says repeats Memories.
    pub(crate) fn message(self) -> Message {
        let value = json!({"redacted": self.why.as_str()});
        Message {
            object: MessageObject::Message,
            envelope: self.envelope(),
            session_id: self.entry.owner.session.clone(),
            task_id: self.entry.owner.task.clone(),
            role: MessageRole::Agent,
            parts: vec![Part::Json { value, visibility: Visibility::Public }],
        }
    }

    /// The Outcome that stands there: how the Task ended is no secret.
    pub(crate) fn outcome(self) -> Outcome {
        Outcome {
            object: OutcomeObject::Outcome,
            envelope: self.envelope(),
            task_id: self.entry.owner.task.clone().unwrap_or_default(),
            status: self.ended.unwrap_or(OutcomeStatus::Succeeded),
            summary: self.why.text().to_owned(),
            messages: Vec::new(),
            artifacts: Vec::new(),
            handoffs: Vec::new(),
            receipt_id: self.receipt,
            failure: None,
            cost: JsonObject::default(),
            metrics: JsonObject::default(),
        }
    }
}

impl Harness {
    /// Whether the caller may see every Memory that a document repeats.
    pub(crate) fn sees_quoted(&self, caller: &Caller, entry: &DocumentEntry) -> bool {
        if entry.quotes.is_empty() {
            return true;
        }
        let reader = caller.reader();
        self.field.with_state(|state| {
            let sight = reader.sight(state);
            let seen = |unit| state.units.find(unit).is_some_and(|unit| sight.sees(unit));
            entry.quotes.iter().all(|unit| seen(*unit))
        })
    }

    /// What stands in the place of a document.
    pub(crate) fn gap<'a>(&self, entry: &'a DocumentEntry, why: Withheld) -> Gap<'a> {
        self.field.with_state(|state| Gap::of(state, entry, why))
    }
}
