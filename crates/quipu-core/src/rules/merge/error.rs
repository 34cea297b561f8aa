//! Why a conflict cannot be settled.

use quipu_wire::{ErrorCode, akashik::ConflictStrategy};

use crate::ids::{ConflictId, UnitId};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("payload.conflict_id: no conflict {conflict}")]
    NotFound { conflict: String },
    #[error("payload.conflict_id: {conflict} is resolved already")]
    AlreadyResolved { conflict: ConflictId },
    #[error(
        "payload.conflict_id: {conflict} is escalated and waits for authority 10, not {authority}"
    )]
    NeedsHuman { conflict: ConflictId, authority: u8 },
    #[error("payload.strategy: {conflict} is escalated and cannot be put to a vote")]
    NoVoteOnEscalated { conflict: ConflictId },
    #[error("payload.quorum: the vote on {conflict} takes {quorum} ballots, not {asked}")]
    OtherQuorum { conflict: ConflictId, asked: u32, quorum: u32 },
    #[error(
        "payload.resolution.winner_id: {conflict} is escalated already; say which unit prevails"
    )]
    Undecided { conflict: ConflictId },
    #[error("payload.resolution.winner_id: {winner} is not a unit of {conflict}")]
    NotAParty { winner: String, conflict: ConflictId },
    #[error("payload.resolution.winner_id: {winner} was replaced or withdrawn and cannot prevail")]
    DoesNotStand { winner: UnitId },
    #[error(
        "payload.strategy: both units of {conflict} were replaced or withdrawn; a synthesis can settle it"
    )]
    NeitherStands { conflict: ConflictId },
    #[error("payload.strategy: the two units of {conflict} are equal by {strategy}")]
    Tie { conflict: ConflictId, strategy: ConflictStrategy },
    #[error(
        "payload.resolution.winner_id: {winner} was named, but {computed} prevails by {strategy}"
    )]
    Disagrees { winner: UnitId, computed: UnitId, strategy: ConflictStrategy },
    /// The unit that loses takes more authority to replace.
    #[error(
        "payload.conflict_id: to replace {unit} needs authority {needed}, and neither the caller, with {authority}, nor \
         what would replace it has that"
    )]
    Outranked { unit: UnitId, needed: u8, authority: u8 },
    #[error("payload.resolution.synthesis: is required when strategy is synthesis")]
    NoSynthesis,
}

impl Error {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::ConflictNotFound,
            Self::AlreadyResolved { .. }
            | Self::NeedsHuman { .. }
            | Self::NoVoteOnEscalated { .. }
            | Self::OtherQuorum { .. }
            | Self::Undecided { .. } => ErrorCode::InvalidTransition,
            Self::NotAParty { .. }
            | Self::DoesNotStand { .. }
            | Self::NeitherStands { .. }
            | Self::Tie { .. }
            | Self::Disagrees { .. } => ErrorCode::MergeFailed,
            Self::NoSynthesis => ErrorCode::InvalidPayload,
            Self::Outranked { .. } => ErrorCode::InsufficientAuthority,
        }
    }
}
