//! A conflict with what the state knows of its two units.

use quipu_wire::akashik::UnitStatus;

use super::Error;
use crate::{
    ids::{ConflictId, UnitId},
    state::{ConflictEntry, State, UnitDetails},
    visibility::{Speaker, may_see},
};

/// How many entries of evidence the two units list in their own texts. Observed before a MERGE is
/// decided: the texts never change, and the state does not hold them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evidence {
    /// Of the older unit.
    pub unit_a: usize,
    /// Of the newer unit.
    pub unit_b: usize,
}

#[derive(Debug)]
pub(crate) struct Side<'state> {
    pub(crate) ordinal: u32,
    pub(crate) id: UnitId,
    pub(crate) status: UnitStatus,
    /// Whether it was neither replaced nor withdrawn.
    pub(crate) stands: bool,
    pub(crate) author: &'state str,
    pub(crate) details: &'state UnitDetails,
}

#[derive(Debug)]
pub(crate) struct Case<'state> {
    pub(crate) state: &'state State,
    pub(crate) entry: &'state ConflictEntry,
    pub(crate) a: Side<'state>,
    pub(crate) b: Side<'state>,
}

impl<'state> Case<'state> {
    pub(crate) fn find(state: &'state State, conflict: &str) -> Result<Self, Error> {
        let missing = || Error::NotFound { conflict: conflict.to_owned() };
        let id = ConflictId::parse(conflict).ok_or_else(missing)?;
        let entry = state.conflicts.get(id).ok_or_else(missing)?;
        let a = Side::new(state, entry.unit_a).ok_or_else(missing)?;
        let b = Side::new(state, entry.unit_b).ok_or_else(missing)?;
        Ok(Self { state, entry, a, b })
    }

    /// The unit of that id, which must be one of the two.
    pub(crate) fn named(&self, winner: &str) -> Result<&Side<'state>, Error> {
        let id = UnitId::parse(winner);
        [&self.a, &self.b]
            .into_iter()
            .find(|side| Some(side.id) == id)
            .ok_or_else(|| Error::NotAParty { winner: winner.to_owned(), conflict: self.entry.id })
    }

    /// The same, where it must be able to prevail.
    pub(crate) fn standing(&self, winner: &str) -> Result<&Side<'state>, Error> {
        let side = self.named(winner)?;
        if side.stands { Ok(side) } else { Err(Error::DoesNotStand { winner: side.id }) }
    }

    pub(crate) fn other(&self, side: &Side<'_>) -> &Side<'state> {
        if side.ordinal == self.a.ordinal { &self.b } else { &self.a }
    }

    pub(crate) fn undecided(&self) -> Error {
        Error::Undecided { conflict: self.entry.id }
    }

    /// Who recorded the two units and may know of the conflict, each once, the older unit's author first.
    pub(crate) fn authors(&self) -> Vec<String> {
        let mut authors = Vec::new();
        for (side, other) in [(&self.a, &self.b), (&self.b, &self.a)] {
            let session = other.details.session.map(|name| self.state.names.text(name));
            let sees = may_see(self.state, Speaker::named(side.author), session, other.ordinal);
            if sees && !authors.iter().any(|known| known == side.author) {
                authors.push(side.author.to_owned());
            }
        }
        authors
    }

    /// The task that both units served.
    pub(crate) fn common_task(&self) -> Option<String> {
        let task = self.a.details.task.filter(|task| self.b.details.task == Some(*task))?;
        Some(self.state.names.text(task).to_owned())
    }

    /// The confidence of the less sure unit. A draft may have none; who says nothing vouches for nothing.
    pub(crate) fn least_score(&self) -> f64 {
        let score = |side: &Side<'_>| side.details.score.unwrap_or(0.0);
        score(&self.a).min(score(&self.b))
    }
}

impl<'state> Side<'state> {
    fn new(state: &'state State, ordinal: u32) -> Option<Self> {
        let (flags, details) = (state.units.flags(ordinal)?, state.units.details(ordinal)?);
        let stands = !is_final(flags.status);
        let author = state.names.text(flags.author);
        Some(Self { ordinal, id: details.id, status: flags.status, stands, author, details })
    }
}

/// Whether a unit of this status was replaced or withdrawn.
pub(crate) const fn is_final(status: UnitStatus) -> bool {
    match status {
        UnitStatus::Superseded | UnitStatus::Retracted => true,
        UnitStatus::Active
        | UnitStatus::Draft
        | UnitStatus::Contested
        | UnitStatus::PendingEnrichment => false,
    }
}
