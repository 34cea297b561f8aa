//! A conflict as the protocol shows it: first what the state knows, then its free text.

use quipu_recall::summary::summarize::lead;
use quipu_wire::akashik::{Conflict, Resolution};

use super::{ERASED, Texts};
use crate::{
    event::{ConflictBody, ResolutionBody, UnitBody},
    state::{ConflictEntry, State},
};

/// Characters of a unit that is quoted.
const QUOTED_CHARS: usize = 80;

/// A conflict without its free text, and where that is.
#[derive(Debug)]
pub struct ConflictOutline {
    conflict: Conflict,
    position: u64,
    event: u32,
    /// Where the resolution's text is.
    rationale: Option<(u64, u32)>,
    sides: Vec<Side>,
}

/// One of the units that disagree: how it is called, and where its text is.
#[derive(Debug)]
struct Side {
    id: String,
    called: String,
    at: (u64, u32),
}

impl Side {
    fn of(state: &State, ordinal: u32) -> Option<Self> {
        let (unit, flags) = (state.units.details(ordinal)?, state.units.flags(ordinal)?);
        let kind = flags.memory_type.as_str().replace('_', " ");
        let called = format!("{}'s {kind}", state.names.text(flags.author));
        Some(Self { id: unit.id.to_string(), called, at: (unit.position, unit.event) })
    }

    /// A description with what this unit says in place of its id, which the conflict names beside.
    fn in_words<T: Texts>(&self, description: String, texts: &T) -> Result<String, T::Error> {
        if !description.contains(&self.id) {
            return Ok(description);
        }
        let body = texts.load::<UnitBody>(self.at.0, self.at.1)?;
        let content = body.map_or_else(|| ERASED.to_owned(), |body| body.content);
        let content = lead(&content, QUOTED_CHARS).replace('"', "'");
        let content = content.trim_end_matches('.');
        Ok(description.replace(&self.id, &format!("{} \"{content}\"", self.called)))
    }
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
        let sides = [entry.unit_a, entry.unit_b].map(|unit| Side::of(state, unit));
        let sides = sides.into_iter().flatten().collect();
        Self { conflict, position: entry.position, event: entry.event, rationale, sides }
    }

    #[must_use]
    pub fn id(&self) -> &str {
        &self.conflict.id
    }

    pub fn complete<T: Texts>(self, texts: &T) -> Result<Conflict, T::Error> {
        let mut conflict = self.conflict;
        let body = texts.load::<ConflictBody>(self.position, self.event)?;
        conflict.description = body.map_or_else(|| ERASED.to_owned(), |body| body.description);
        for side in &self.sides {
            conflict.description = side.in_words(conflict.description, texts)?;
        }
        if let (Some(resolution), Some((position, event))) =
            (&mut conflict.resolution, self.rationale)
        {
            let body = texts.load::<ResolutionBody>(position, event)?;
            resolution.rationale = body.map_or_else(|| ERASED.to_owned(), |body| body.rationale);
        }
        Ok(conflict)
    }
}
