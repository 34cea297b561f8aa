//! Who answers a module while it runs: the log what was answered before, a vault its secrets, the server time and
//! chance. Everything else waits for somebody outside. What the server answers is kept until the commit that
//! records it: before that nobody has seen it, and a run after a crash may get another answer.

use quipu_core::{DocumentKind, event::documents::NotedDependency, rules::harn::NoteDraft};
use quipu_replay::module::{Answer, Answers, Death, Request, RunError};
use quipu_wire::{
    harn::{Artifact, DependencyKind, Failure, HarnError, JsonObject, Sha256, Visibility},
    json::{canon, timestamp::rfc3339},
};
use serde_json::{Value, json};

use crate::{
    Harness, NoteBody,
    handle::failure::harn_error,
    stored::note::DEPENDENCY_RECORDED,
    task::{
        artifact::canonical,
        installed_module::{Vaults, not_now},
        tasks::TaskView,
    },
};

/// Why the run of a Task cannot go on.
pub(crate) enum Trouble {
    /// It never can: the Task fails.
    Fails(Failure),
    /// Storage failed, or there is nowhere to run it; that may be otherwise the next time.
    Storage(HarnError),
    Died(Death),
}

struct Fresh {
    request: Request,
    value: Value,
}

pub(crate) struct Live<'a> {
    harness: &'a Harness,
    view: &'a TaskView,
    vaults: &'a Vaults,
    fresh: Vec<Fresh>,
    trouble: Option<Trouble>,
}

impl<'a> Live<'a> {
    pub(crate) const fn new(harness: &'a Harness, view: &'a TaskView, vaults: &'a Vaults) -> Self {
        Self { harness, view, vaults, fresh: Vec::new(), trouble: None }
    }

    /// The notes of what the server answered, in order.
    pub(crate) fn conclude(self) -> Result<Vec<NoteDraft>, Trouble> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let notes = self.fresh.iter().map(|fresh| self.harness.fresh_note(&self.view.id, fresh));
        notes.collect::<Result<_, _>>().map_err(Trouble::Storage)
    }

    fn find(&self, request: &Request) -> Result<Found, Trouble> {
        let place = self.harness.recorded_at(&self.view.id, &request.key);
        let body = place.map(|place| self.harness.field.body_at::<NoteBody>(place.0)).transpose();
        let body = body.map_err(|error| Trouble::Storage(harn_error(&error)))?;
        if request.kind == DependencyKind::SecretValue {
            return self.secret(request, body);
        }
        match body {
            Some(body) => self.recorded(request, body).map(Found::Known),
            None => Ok(self.harness.own_answer(request).map_or(Found::Nothing, Found::Fresh)),
        }
    }

    fn recorded(&self, request: &Request, body: Option<NoteBody>) -> Result<Value, Trouble> {
        let gone = || fails("answer_gone", format!("the answer to {} was erased", request.key));
        let body = body.ok_or_else(gone)?;
        if let Some(value) = body.value {
            return Ok(value);
        }
        let id = body.artifact_id.ok_or_else(gone)?;
        let artifact = self.harness.stored::<Artifact>(DocumentKind::Artifact, &id);
        let artifact = artifact.map_err(Trouble::Storage)?.ok_or_else(gone)?;
        let found = self.harness.bytes_of(&artifact).map_err(Trouble::Storage)?;
        let recorded = found.filter(|(digest, _)| Some(*digest) == body.sha256);
        let (_, bytes) = recorded.ok_or_else(gone)?;
        let no_json =
            || fails("answer_no_json", format!("what answers {} is no JSON", request.key));
        canon::parse(&bytes).map_err(|_| no_json())
    }

    /// A secret is one that whoever submitted the Task lends it in its Session, or comes from a vault that answers the
    /// module; from nowhere else. It stays the same while the Task lasts.
    fn secret(
        &self,
        request: &Request,
        before: Option<Option<NoteBody>>,
    ) -> Result<Found, Trouble> {
        let name = request.key.strip_prefix("secret:").unwrap_or_default();
        let none = || {
            let problem =
                format!("no vault of the module's holds the secret {name}, and nobody lends it");
            fails("secret_unavailable", problem)
        };
        let lent = self.harness.lent_to(self.view, name);
        let held = match self.harness.options.sealer {
            Some(_) => self.harness.secrets_named((&self.view.workspace, name), self.vaults),
            None => Ok(Vec::new()),
        };
        let mut held = lent.into_iter().chain(held.map_err(Trouble::Storage)?);
        let Some(before) = before else {
            return held.next().map(Found::Fresh).ok_or_else(none);
        };
        let before = before.ok_or_else(none)?;
        let secrets = &self.harness.options.secrets;
        let of_run = secrets.within(&self.view.id);
        // Tasks of before runs had keys of their own have the digest of all.
        let same =
            |value: &Value| [&of_run, secrets].iter().any(|it| it.digest(value) == before.sha256);
        held.find(same).map(Found::Known).ok_or_else(none)
    }
}

/// An answer and whether it has to be recorded.
enum Found {
    Known(Value),
    Fresh(Value),
    Nothing,
}

impl Answers for Live<'_> {
    fn answer(&mut self, request: &Request) -> Answer {
        match self.find(request) {
            Ok(Found::Known(value)) => Answer::Value(value),
            Ok(Found::Fresh(value)) => {
                self.fresh.push(Fresh { request: request.clone(), value: value.clone() });
                Answer::Value(value)
            }
            Ok(Found::Nothing) => Answer::Unavailable,
            Err(trouble) => {
                self.trouble.get_or_insert(trouble);
                Answer::Unavailable
            }
        }
    }
}

impl Harness {
    /// What the server itself can answer: time and chance.
    fn own_answer(&self, request: &Request) -> Option<Value> {
        /// The bits of a number that every JSON reader keeps.
        const WHOLE: u32 = 53;
        let origin = self.field.origin();
        let bits = || u64::try_from(origin.id_bits() & u128::from(u64::MAX)).unwrap_or_default();
        match request.capability.as_str() {
            "clock.now_ms" => Some(json!(origin.now_ms())),
            "clock.date_iso" => Some(json!(rfc3339(origin.now_ms()))),
            "random.u64" => Some(json!(bits() >> (u64::BITS - WHOLE))),
            "random.uuid" => Some(json!(uuid(bits(), bits()))),
            _ => None,
        }
    }

    fn fresh_note(&self, task: &str, fresh: &Fresh) -> Result<NoteDraft, HarnError> {
        let Fresh { request, value } = fresh;
        let secret = request.kind == DependencyKind::SecretValue;
        let mut says = NoteBody { request_sha256: Some(request.sha256), ..NoteBody::default() };
        if secret {
            says.sha256 = self.options.secrets.within(task).digest(value);
        } else {
            says.sha256 = Some(Sha256::of(&canonical(value)?));
            says.value = Some(value.clone());
        }
        let digest = says.sha256.map(|digest| ("sha256".to_owned(), digest.to_string().into()));
        says.payload.extend(digest);
        let mut note = self.note(task, DEPENDENCY_RECORDED, &says)?;
        if secret {
            note.note.visibility = Visibility::ReceiptOnly;
        }
        let (key, kind) = (request.key.clone(), request.kind);
        note.note.dependency = Some(NotedDependency { key, kind });
        Ok(note)
    }
}

/// A version 4 UUID of these bits.
fn uuid(high: u64, low: u64) -> String {
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 1 << 63);
    let (time, middle, version) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    let (variant, node) = (low >> 48, low & 0xffff_ffff_ffff);
    format!("{time:08x}-{middle:04x}-{version:04x}-{variant:04x}-{node:012x}")
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Died(death) => Self::Died(death),
            RunError::NotNow { .. } => Self::Storage(not_now(&error)),
        }
    }
}

pub(crate) fn fails(code: &str, message: String) -> Trouble {
    Trouble::Fails(Failure { code: code.to_owned(), message, details: JsonObject::default() })
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn a_uuid_says_that_it_is_a_random_one() {
        assert_eq!(uuid(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u64::MAX, u64::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
