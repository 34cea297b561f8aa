//! Replays of Tasks that the Field answered: where what ATTUNE found is substituted, the answer is made anew from the
//! substitute, as it was made from what was found.

use quipu_core::{DocumentKind, UnitId};
use quipu_replay::task::{PlannedOverride, Substitute};
use quipu_wire::harn::{
    Artifact, DependencyKind, Failure, HarnError, JsonObject, Message, MessageObject, MessageRole,
    Outcome, Part, ResourceEnvelope, ResourceKind, Sha256, Visibility,
};
use quipu_wire::json::canon;
use serde_json::{Value, json};

use super::module::Carried;
use crate::{
    Harness,
    recording::document::ReplayDocument,
    work::field_run::{FieldAnswer, attuned},
};

/// An answer made anew, and who may see what it was made from.
pub(super) struct AnsweredAgain {
    answer: FieldAnswer,
    visibility: Visibility,
}

impl Harness {
    /// The answer under a replay's substitute; nothing where none was substituted for a Task of the Field's own, or why
    /// none can be made. Reads storage.
    pub(super) fn answered_again(
        &self,
        document: &ReplayDocument,
        carried: &Carried,
    ) -> Result<Option<Result<AnsweredAgain, Failure>>, HarnError> {
        let source = &document.plan.identity.source_task_id;
        let ran = carried.end.is_some() || carried.outcome.first_unavailable.is_some();
        let key = attuned(self.last_answer(source).map_or(1, |(times, _)| times));
        let Some(planned) = document.plan.overrides.get(&key).filter(|_| !ran) else {
            return Ok(None);
        };
        let recorded = self.recorded_under(source, &key)?.and_then(|event| event.dependency);
        // A worker may use that key too, and what it makes of the answer nobody knows.
        let by_field =
            recorded.is_some_and(|it| it.by_server && it.kind == DependencyKind::HostFact);
        if !by_field && !self.is_substituted_before(source, &key)? {
            return Ok(None);
        }
        let dataset = self.dataset_of(planned)?;
        let answer = dataset.map(FieldAnswer::of).and_then(Result::ok);
        Ok(Some(
            answer
                .ok_or_else(|| not_an_answer(&key))
                .map(|answer| AnsweredAgain { answer, visibility: planned.visibility }),
        ))
    }

    /// Whether a Task is itself a replay with a substitute for what ATTUNE found. Reads storage.
    fn is_substituted_before(&self, task: &str, key: &str) -> Result<bool, HarnError> {
        let document = self.replay_document(task)?;
        Ok(document.is_some_and(|it| {
            it.executor == crate::recording::document::Executor::InProcess
                && it.plan.overrides.contains_key(key)
        }))
    }

    /// The units whose words substitutes repeat that are Artifacts.
    pub(super) fn quoted_by_substitutes(
        &self,
        document: &ReplayDocument,
    ) -> Result<Vec<UnitId>, HarnError> {
        let mut units = Vec::new();
        for planned in document.plan.overrides.values() {
            let Substitute::Artifact(id) = &planned.substitute else { continue };
            let artifact = self.stored::<Artifact>(DocumentKind::Artifact, id)?;
            let Some(digest) = artifact.and_then(|artifact| artifact.sha256) else { continue };
            units.extend(self.field.with_state(|state| {
                let content = state.documents.get(DocumentKind::Content, &digest);
                content.map(|entry| entry.quotes.clone()).unwrap_or_default()
            }));
        }
        Ok(units)
    }

    fn dataset_of(&self, planned: &PlannedOverride) -> Result<Option<Value>, HarnError> {
        Ok(match &planned.substitute {
            Substitute::Value(value) => Some(value.clone()),
            Substitute::Artifact(id) => {
                let artifact = self.stored::<Artifact>(DocumentKind::Artifact, id)?;
                let bytes = artifact.map(|artifact| self.bytes_of(&artifact)).transpose()?;
                bytes.flatten().and_then(|(_, bytes)| canon::parse(&bytes).ok())
            }
            Substitute::Withheld(_) => None,
        })
    }
}

impl AnsweredAgain {
    /// Says it in the replay's Outcome. Whoever may not see the substitute sees that there is an answer, and its digest.
    pub(super) fn put_into(self, said: &mut Outcome) {
        let Self { answer, visibility } = self;
        let output = match visibility {
            Visibility::Public => json!({"text": answer.text}),
            Visibility::Internal | Visibility::ReceiptOnly => {
                json!({"sha256": Sha256::of(answer.text.as_bytes())})
            }
        };
        let part = match visibility {
            Visibility::Public => Part::Text { text: answer.text, visibility },
            Visibility::Internal | Visibility::ReceiptOnly => {
                Part::Json { value: json!({"redacted": visibility.as_str()}), visibility }
            }
        };
        said.summary = answer.summary;
        said.envelope.metadata = JsonObject::with("output", output);
        let id = ResourceKind::Task.rest_of(&said.task_id).unwrap_or(&said.task_id);
        said.messages = vec![Message {
            object: MessageObject::Message,
            envelope: ResourceEnvelope::new(ResourceKind::Message.id(id), ""),
            session_id: None,
            task_id: Some(said.task_id.clone()),
            role: MessageRole::Agent,
            parts: vec![part],
        }];
    }
}

fn not_an_answer(key: &str) -> Failure {
    let message =
        format!("the substitute for {key} is not what ATTUNE answers: it has no list `units`");
    Failure {
        code: "replay_override_unusable".to_owned(),
        message,
        details: JsonObject::with("key", key),
    }
}
