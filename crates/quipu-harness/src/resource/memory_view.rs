//! How a memory unit is shown as a Memory, and what this protocol keeps in a unit's evidence.

use quipu_core::State;
use quipu_wire::{
    akashik::MemoryUnit,
    harn::{
        CreateMemoryRequest, HarnError, HarnErrorCode, JsonObject, Memory, MemoryContent,
        MemoryObject, MemoryScope, Part, ResourceEnvelope, Visibility,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::visibility::{
    access::workspace_of,
    memory::{is_there, session_of},
};

/// How evidence begins that is this protocol's.
const MARK: &str = "harn:";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    pub workspace: Option<String>,
    pub session: Option<String>,
}

impl MemoryFilter {
    pub(crate) fn passes(&self, state: &State, unit: u32) -> bool {
        if !is_there(state, unit) {
            return false;
        }
        let session = session_of(state, unit);
        let opened = session.is_none_or(|id| state.sessions.get(id).is_some());
        if let Some(asked) = &self.session {
            return session == Some(asked.as_str()) && self.in_workspace(state, session);
        }
        opened && self.in_workspace(state, session)
    }

    fn in_workspace(&self, state: &State, session: Option<&str>) -> bool {
        let of = || workspace_of(state, session);
        self.workspace.as_ref().is_none_or(|asked| *asked == of())
    }
}

/// What the content of a unit is in this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Text,
    Object,
    Artifact,
}

/// What this protocol says of a Memory beside its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    scope: MemoryScope,
    owner_id: String,
    form: Form,
    provenance: JsonObject,
    metadata: JsonObject,
}

impl Remembered {
    pub(crate) fn of(request: CreateMemoryRequest) -> Self {
        let form = match request.content {
            MemoryContent::Text(_) => Form::Text,
            MemoryContent::Object(_) => Form::Object,
            MemoryContent::Artifact(_) => Form::Artifact,
        };
        let CreateMemoryRequest { scope, owner_id, provenance, metadata, .. } = request;
        Self { scope, owner_id, form, provenance, metadata }
    }

    pub(crate) fn evidence(&self) -> Result<String, HarnError> {
        let json = serde_json::to_string(self).map_err(|_| unwritable())?;
        Ok(format!("{MARK}{json}"))
    }

    fn read(unit: &MemoryUnit) -> Option<Self> {
        let mut evidence = unit.confidence.iter().flat_map(|confidence| &confidence.evidence);
        evidence.find_map(|text| serde_json::from_str(text.strip_prefix(MARK)?).ok())
    }
}

pub(crate) fn content_text(content: &MemoryContent) -> Result<String, HarnError> {
    let blank = || {
        let message = "content: must not be blank";
        HarnError::new(HarnErrorCode::InvalidRequest, message).at("content")
    };
    match content {
        MemoryContent::Text(text) if text.trim().is_empty() => Err(blank()),
        MemoryContent::Text(text) => Ok(text.clone()),
        MemoryContent::Object(object) => serde_json::to_string(object).map_err(|_| unwritable()),
        MemoryContent::Artifact(part) => serde_json::to_string(part).map_err(|_| unwritable()),
    }
}

/// The unit as a Memory. One that RECORD made belongs to its session, or to the whole Field.
pub(crate) fn memory_of(unit: MemoryUnit, field: &str) -> Memory {
    let remembered = Remembered::read(&unit);
    let form = remembered.as_ref().map_or(Form::Text, |remembered| remembered.form);
    let content = content_of(&unit.content, form);
    let recorded = json!({
        "agent_id": unit.source.agent_id,
        "agent_role": unit.source.agent_role,
        "type": unit.kind.as_str(),
        "purpose": unit.intent.purpose,
        "task_id": unit.intent.task_id,
        "status": unit.status.as_str(),
        "epoch": unit.epoch,
    });
    let session = unit.source.session_id.clone();
    let (scope, owner_id, mut provenance, metadata) = match remembered {
        Some(said) => (said.scope, said.owner_id, said.provenance, said.metadata),
        None => {
            let scope = if session.is_some() { MemoryScope::Session } else { MemoryScope::Tenant };
            let owner = session.unwrap_or_else(|| field.to_owned());
            (scope, owner, JsonObject::default(), JsonObject::default())
        }
    };
    provenance.insert("recorded".to_owned(), recorded);
    let mut envelope = ResourceEnvelope::new(unit.id, unit.source.timestamp);
    envelope.metadata = metadata;
    Memory {
        object: MemoryObject::Memory,
        envelope,
        scope,
        owner_id,
        content,
        provenance,
        expires_at: None,
        embedding_ref: None,
        visibility: Visibility::Public,
        redaction_policy: JsonObject::default(),
        confidence: unit.confidence.and_then(|confidence| confidence.score),
    }
}

fn content_of(text: &str, form: Form) -> MemoryContent {
    let words = || MemoryContent::Text(text.to_owned());
    match form {
        Form::Text => words(),
        Form::Object => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => MemoryContent::Object(JsonObject(map)),
            _ => words(),
        },
        Form::Artifact => {
            serde_json::from_str::<Part>(text).map_or_else(|_| words(), MemoryContent::Artifact)
        }
    }
}

fn unwritable() -> HarnError {
    HarnError::new(HarnErrorCode::InvalidRequest, "content: cannot be written as JSON")
        .at("content")
}
