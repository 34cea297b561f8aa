//! REPLAY (spec 3.8): who may ask for it, and why it is refused. What led to what is read from the log alone.

use quipu_wire::{
    ErrorCode,
    akashik::{MemoryType, ReplayDepth, ReplayPayload, ReplayTarget},
};

/// The authority that REPLAY needs: none, it is what an auditor has.
pub const AUTHORITY: u8 = 0;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.target_id: no {kind} {id} in the log")]
    NotFound { kind: ReplayTarget, id: String },
    #[error("payload.target_id: {id} is a {found}, no decision; its target_type is memory_unit")]
    NotADecision { id: String, found: MemoryType },
    #[error("payload.depth: {depth} would return more than {limit} events")]
    TooLarge { depth: ReplayDepth, limit: usize },
}

impl Error {
    /// That the log knows nothing of what was asked for.
    #[must_use]
    pub fn of(payload: &ReplayPayload) -> Self {
        Self::NotFound { kind: payload.target_type, id: payload.target_id.clone() }
    }

    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::NotADecision { .. } => ErrorCode::UnitNotFound,
            Self::TooLarge { .. } => ErrorCode::ReplayTooLarge,
        }
    }
}
