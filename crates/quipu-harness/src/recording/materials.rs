//! What a replay needs besides the events, and whether it is still there: contents of Artifacts, memory units,
//! receipts. Looks into this Field and nowhere else.

use quipu_core::{DocumentKind, UnitId};
use quipu_replay::task::{Availability, Materials, ReferenceKind};
use quipu_wire::harn::{Artifact, Sha256};
use serde::de::IgnoredAny;

use crate::{Caller, Harness, stored::artifact_marks::is_redacted};

/// What this Field still has. To whom a session is hidden, what belongs to it is not there.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    pub(crate) harness: &'a Harness,
    pub(crate) caller: Option<&'a Caller>,
}

impl Materials for Kept<'_> {
    fn find(&self, kind: ReferenceKind, id: &str) -> Availability {
        let found = match kind {
            ReferenceKind::Artifact => self.artifact(id).map(Some),
            ReferenceKind::Memory => self.memory(id).map(|()| None),
            ReferenceKind::Receipt => self.receipt(id).map(|()| None),
        };
        match found {
            Ok(digest) => Availability::Present(digest),
            Err(reason) => Availability::Absent { reason: reason.to_owned() },
        }
    }
}

impl Kept<'_> {
    fn artifact(&self, id: &str) -> Result<Sha256, &'static str> {
        const UNKNOWN: &str = "there is no such artifact";
        let field = &self.harness.field;
        let entry = field
            .with_state(|state| state.documents.get(DocumentKind::Artifact, id).cloned())
            .ok_or(UNKNOWN)?;
        let session = entry.owner.session.as_deref();
        if !self.reaches(session) {
            return Err(UNKNOWN);
        }
        let artifact = field.body_at::<Artifact>(entry.at).ok().flatten();
        let artifact = artifact.ok_or("what it says was erased")?;
        if is_redacted(&artifact) {
            return Err("its content was taken away");
        }
        let sha256 = self.harness.held(&artifact).ok_or("its content was never uploaded")?;
        if !self.caller.is_none_or(|caller| self.harness.may_read(caller, &artifact)) {
            return Err("its content is for others");
        }
        let content = field.with_state(|state| {
            let content = state.documents.get(DocumentKind::Content, &sha256.bare());
            content.map(|entry| entry.at)
        });
        let at = content.ok_or("its content was never uploaded")?;
        let there = field.body_at::<IgnoredAny>(at).ok().flatten();
        there.map(|_| sha256).ok_or("its content was erased")
    }

    fn memory(&self, id: &str) -> Result<(), &'static str> {
        const UNKNOWN: &str = "there is no such memory";
        let id = UnitId::parse(id).ok_or(UNKNOWN)?;
        let reader = self.caller.map(Caller::reader);
        self.harness.field.with_state(|state| {
            let ordinal = state.units.find(id).ok_or(UNKNOWN)?;
            if reader.is_some_and(|reader| !reader.sight(state).sees(ordinal)) {
                return Err(UNKNOWN);
            }
            match state.units.flags(ordinal) {
                Some(flags) if !flags.purged => Ok(()),
                Some(_) | None => Err("it was purged"),
            }
        })
    }

    fn receipt(&self, id: &str) -> Result<(), &'static str> {
        let session = self.harness.field.with_state(|state| {
            let entry = state.documents.get(DocumentKind::Receipt, id)?;
            Some(entry.owner.session.clone())
        });
        let there = session.is_some_and(|session| self.reaches(session.as_deref()));
        if there { Ok(()) } else { Err("there is no such receipt") }
    }

    fn reaches(&self, session: Option<&str>) -> bool {
        self.caller.is_none_or(|caller| self.harness.reaches(caller, session))
    }
}
