//! Who may say what: whether an authority is enough for a unit of a type. Asked wherever a unit is recorded: RECORD of
//! one or of many, a synthesis of MERGE, the summaries of COMPACT.

use quipu_wire::{
    ErrorCode,
    akashik::{MemoryType, Mode},
};

use crate::state::State;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: a {mode} {memory_type} needs authority {needed}, and {agent} has {authority}")]
pub struct Error {
    pub path: String,
    pub mode: Mode,
    pub memory_type: MemoryType,
    pub needed: u8,
    pub agent: String,
    pub authority: u8,
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        ErrorCode::InsufficientAuthority
    }
}

/// Checks that an authority is enough for a unit.
pub(super) fn check_type_authority(
    state: &State,
    (agent, authority): (&str, u8),
    (memory_type, mode): (MemoryType, Mode),
    path: impl FnOnce() -> String,
) -> Result<(), Error> {
    let needed = state.least_authority.of(memory_type, mode);
    if authority >= needed {
        return Ok(());
    }
    Err(Error { path: path(), mode, memory_type, needed, agent: agent.to_owned(), authority })
}
