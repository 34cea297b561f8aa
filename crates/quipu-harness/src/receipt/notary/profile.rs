//! Where a Task ran and under which policy: from its documents, or from what is built in where it has none.

use quipu_core::{DocumentKind, DocumentOwner};
use quipu_wire::harn::{
    AutonomyTier, HarnError, Identifiers, Persona, ReceiptPolicy, Redaction, Sha256, TaskInput,
    Trust, Visibility,
};
use serde::Deserialize;

use super::story::Story;
use crate::{
    Harness, SESSION_DEFAULT, WORKSPACE_DEFAULT,
    handle::failure::{harn_error, internal_error},
};

/// What a Task's document says that a receipt needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TaskWords {
    persona_id: Option<String>,
    branch_id: Option<String>,
    input: Option<TaskInput>,
}

/// Where a Task ran and under which policy.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) owner: DocumentOwner,
    pub(super) identifiers: Identifiers,
    pub(super) trust: Trust,
    pub(super) receipts: ReceiptPolicy,
    /// What of its input is not for everybody.
    pub(super) redactions: Vec<Redaction>,
}

impl Harness {
    /// The profile of a Task. Reads storage.
    pub(super) fn profile(&self, story: &Story) -> Result<Profile, HarnError> {
        let session = story.entry.session.clone().unwrap_or_else(|| SESSION_DEFAULT.to_owned());
        let (document, workspace) = self.field.with_state(|state| {
            let of = |kind, id: &str| state.documents.get(kind, id).cloned();
            let document = of(DocumentKind::Task, &story.task);
            let own = document.as_ref().and_then(|entry| entry.owner.workspace.clone());
            let outer = || of(DocumentKind::Session, &session)?.owner.workspace;
            (document, own.or_else(outer))
        });
        let words = document.map(|entry| self.field.body_at::<TaskWords>(entry.at));
        let words = words.transpose().map_err(|error| harn_error(&error))?;
        let words = words.flatten().unwrap_or_default();
        let (tier, receipts) = self.policy(words.persona_id.as_deref())?;
        let workspace = workspace.unwrap_or_else(|| WORKSPACE_DEFAULT.to_owned());
        Ok(Profile {
            owner: DocumentOwner {
                workspace: Some(workspace.clone()),
                session: Some(session.clone()),
                task: Some(story.task.clone()),
                ..DocumentOwner::default()
            },
            identifiers: Identifiers {
                tenant_id: None,
                persona_ref: words.persona_id,
                workspace_ref: workspace,
                session_id: session,
                task_id: story.task.clone(),
                branch_id: words.branch_id,
                trace_id: None,
            },
            trust: Trust {
                start_tier: tier,
                end_tier: tier,
                policy_ref: self.options.policy_ref.clone(),
            },
            receipts,
            redactions: hidden_parts(words.input.as_ref())?,
        })
    }

    /// How much a Persona may do by itself, and whether its Tasks have receipts.
    fn policy(&self, persona: Option<&str>) -> Result<(AutonomyTier, ReceiptPolicy), HarnError> {
        let persona = persona.map(|id| self.stored::<Persona>(DocumentKind::Persona, id));
        let persona = persona.transpose()?.flatten();
        let built_in = (AutonomyTier::ActAuto, ReceiptPolicy::Required);
        Ok(persona.map_or(built_in, |persona| (persona.autonomy_tier, persona.receipt_policy)))
    }
}

fn hidden_parts(input: Option<&TaskInput>) -> Result<Vec<Redaction>, HarnError> {
    let Some(TaskInput::Message(message)) = input else { return Ok(Vec::new()) };
    let parts = message.parts.iter().enumerate();
    let hidden = parts.filter(|(_, part)| part.visibility() != Visibility::Public);
    hidden
        .map(|(index, part)| {
            let value =
                serde_json::to_value(part).map_err(|error| internal_error(error.to_string()))?;
            let proof =
                Sha256::of_json(&value).map_err(|error| internal_error(error.to_string()))?;
            Ok(Redaction {
                field: format!("/input/parts/{index}"),
                reason: format!("the part is {}", part.visibility()),
                proof_hash: Some(proof),
            })
        })
        .collect()
}
