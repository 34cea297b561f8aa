//! DETECT (spec 3.5): lists what is known to disagree. Looking for more (`check`, `scan`) needs an
//! automatic method, and there is none yet.

use quipu_wire::{
    ErrorCode,
    akashik::{DetectFilter, DetectMode, DetectPayload},
};

use super::Refusal;
use crate::{
    compose::{self, ConflictOutline},
    limits::CONFLICTS_RETURNED_MAX,
    state::{ConflictEntry, State},
    visibility::Sight,
};

/// The authority that DETECT needs.
pub const AUTHORITY: u8 = 4;

/// Why nothing can be detected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Only `list` is carried out.
    #[error("payload.mode: {mode} is not supported at this level, only list is")]
    UnsupportedMode {
        /// What was asked for.
        mode: DetectMode,
    },
}

impl Error {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::UnsupportedMode { .. } => ErrorCode::UnsupportedOperation,
        }
    }
}

/// The conflicts that pass the filter, oldest first.
pub fn detect(
    state: &State,
    sight: &Sight<'_>,
    payload: &DetectPayload,
) -> Result<Vec<ConflictOutline>, Refusal> {
    match payload.mode {
        DetectMode::List => Ok(state
            .conflicts
            .iter()
            .filter(|conflict| sight.sees_conflict(conflict))
            .filter(|conflict| passes(state, conflict, &payload.filter))
            .take(CONFLICTS_RETURNED_MAX)
            .map(|conflict| compose::outline_conflict(state, conflict))
            .collect()),
        DetectMode::Check | DetectMode::Scan => {
            Err(Error::UnsupportedMode { mode: payload.mode }.into())
        }
    }
}

fn passes(state: &State, conflict: &ConflictEntry, filter: &DetectFilter) -> bool {
    let author = |ordinal| {
        state.units.flags(ordinal).map(|unit| state.names.text(unit.author)).unwrap_or_default()
    };
    let involves = |agent: &String| {
        [conflict.unit_a, conflict.unit_b].into_iter().any(|unit| author(unit) == agent)
    };
    (filter.status.is_empty() || filter.status.contains(&conflict.status))
        && (filter.types.is_empty() || filter.types.contains(&conflict.conflict_type))
        && (filter.involving_agents.is_empty() || filter.involving_agents.iter().any(involves))
}
