//! A conflict as the protocol shows it: first what the state knows, then its free text.

use quipu_wire::akashik::{Conflict, Resolution};

use super::{ERASED, Texts};
use crate::{
    event::{ConflictBody, ResolutionBody},
    state::{ConflictEntry, State},
};

/// A conflict without its free text, and where that is.
#[derive(Debug)]
pub struct ConflictOutline {
    conflict: Conflict,
    position: u64,
    event: u32,
    /// Where the resolution's text is.
    rationale: Option<(u64, u32)>,
}

impl ConflictOutline {
    /// Takes everything about a conflict that the state knows.
    #[must_use]
    pub fn of(state: &State, entry: &ConflictEntry) -> Self {
        let id = |at| state.units.details(at).map_or_else(String::new, |unit| unit.id.to_string());
        let conflict = Conflict {
            id: entry.id.to_string(),
            kind: entry.conflict_type,
            status: entry.status,
            unit_a: id(entry.unit_a),
            unit_b: id(entry.unit_b),
            description: String::new(),
            detected_by: entry.detected_by,
            resolution: entry.resolution.as_ref().map(|settled| Resolution {
                strategy: settled.strategy,
                winner_id: settled.winner.map(id),
                rationale: String::new(),
                resolved_by: state.names.text(settled.by).to_owned(),
                epoch_resolved: settled.epoch,
            }),
        };
        let rationale = entry.resolution.as_ref().map(|settled| (settled.position, settled.event));
        Self { conflict, position: entry.position, event: entry.event, rationale }
    }

    #[must_use]
    pub fn id(&self) -> &str {
        &self.conflict.id
    }

    pub fn complete<T: Texts>(self, texts: &T) -> Result<Conflict, T::Error> {
        let mut conflict = self.conflict;
        let body = texts.load::<ConflictBody>(self.position, self.event)?;
        conflict.description = body.map_or_else(|| ERASED.to_owned(), |body| body.description);
        if let (Some(resolution), Some((position, event))) =
            (&mut conflict.resolution, self.rationale)
        {
            let body = texts.load::<ResolutionBody>(position, event)?;
            resolution.rationale = body.map_or_else(|| ERASED.to_owned(), |body| body.rationale);
        }
        Ok(conflict)
    }
}
