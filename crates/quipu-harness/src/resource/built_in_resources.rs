//! The resources that are there without anybody having made them: a Workspace, two Personas and a Skill. They
//! cannot be changed.

use quipu_wire::{
    harn::{
        AutonomyTier, HarnError, HarnErrorCode, JsonObject, Persona, PersonaObject, ReceiptPolicy,
        ResourceEnvelope, ResourceKind, Skill, SkillObject, Workspace, WorkspaceObject,
    },
    json::timestamp::rfc3339,
};
use serde_json::{Value, json};

use crate::stored::built_in::{
    PERSONA_FIELD, PERSONA_FIELD_NAME, PERSONA_WORKER, PERSONA_WORKER_NAME, WORKSPACE_DEFAULT,
};

pub(crate) const SKILL_ATTUNE: &str = "skill_attune";

/// The Workspace of what names none.
pub(crate) fn workspace() -> Workspace {
    Workspace {
        object: WorkspaceObject::Workspace,
        envelope: envelope(WORKSPACE_DEFAULT),
        name: "default".to_owned(),
        root: "quipu://default".to_owned(),
        default_branch_id: None,
        host: None,
        repository: None,
        tenant_id: None,
        capabilities: Vec::new(),
        connectors: Vec::new(),
        quota_id: None,
    }
}

/// The Persona under which the Field itself works on a Task.
pub(crate) fn field_persona() -> Persona {
    let description =
        "The Field itself: ranks what it knows for the Task, at once, without a model.";
    let capabilities = vec!["memory".to_owned()];
    let (id, name) = (PERSONA_FIELD, PERSONA_FIELD_NAME);
    Persona { capabilities, ..persona((id, name), "attune", description) }
}

/// The Persona of Tasks that a worker outside does.
pub(crate) fn worker_persona() -> Persona {
    let description = "Work that a worker outside of the server claims, does and records.";
    persona((PERSONA_WORKER, PERSONA_WORKER_NAME), "worker", description)
}

fn persona((id, name): (&str, &str), entry_workflow: &str, description: &str) -> Persona {
    Persona {
        object: PersonaObject::Persona,
        envelope: envelope(id),
        name: name.to_owned(),
        version: "1".to_owned(),
        entry_workflow: entry_workflow.to_owned(),
        description: description.to_owned(),
        autonomy_tier: AutonomyTier::ActAuto,
        receipt_policy: ReceiptPolicy::Required,
        tools: Vec::new(),
        capabilities: Vec::new(),
        triggers: Vec::new(),
        schedules: Vec::new(),
        handoffs: Vec::new(),
        context_packs: Vec::new(),
        evals: Vec::new(),
        owner: None,
        model_policy: JsonObject::default(),
        rollout_policy: JsonObject::default(),
        quota_id: None,
    }
}

/// The Skill of asking the Field: the one that every server has.
#[must_use]
pub fn skill() -> Skill {
    let input = json!({
        "type": "object",
        "required": ["role", "parts"],
        "properties": {
            "role": {"type": "string"},
            "parts": {"type": "array", "items": {"type": "object"}},
        },
    });
    let output = json!({
        "type": "object",
        "properties": {"units": {"type": "array", "items": {"type": "object"}}},
    });
    Skill {
        object: SkillObject::Skill,
        envelope: envelope(SKILL_ATTUNE),
        name: "attune".to_owned(),
        description: "Answers with what the Field knows that fits the Task, ranked.".to_owned(),
        input_schema: object(input),
        output_schema: object(output),
        source: None,
        version: Some("1".to_owned()),
        capabilities: vec!["memory".to_owned()],
        requires_approval: false,
        deprecated: false,
    }
}

/// What is built in is refused to change.
pub(crate) fn unchangeable(kind: ResourceKind, id: &str) -> HarnError {
    let message = format!("{kind} {id} is built in and cannot be changed");
    HarnError::new(HarnErrorCode::PolicyViolation, message)
}

fn envelope(id: &str) -> ResourceEnvelope {
    ResourceEnvelope::new(id, rfc3339(0))
}

fn object(value: Value) -> Option<JsonObject> {
    if let Value::Object(map) = value { Some(JsonObject(map)) } else { None }
}
