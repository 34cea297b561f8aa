//! Why a conflict cannot be settled.

use quipu_wire::{ErrorCode, akashik::ConflictStrategy};

use crate::ids::{ConflictId, UnitId};

/// Why a conflict cannot be settled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such conflict.
    #[error("payload.conflict_id: no conflict {conflict}")]
    NotFound {
        /// What was asked for.
        conflict: String,
    },
    /// Resolved is final.
    #[error("payload.conflict_id: {conflict} is resolved already")]
    AlreadyResolved {
        /// The conflict.
        conflict: ConflictId,
    },
    /// It waits for a human.
    #[error(
        "payload.conflict_id: {conflict} is escalated and waits for authority 10, not {authority}"
    )]
    NeedsHuman {
        /// The conflict.
        conflict: ConflictId,
        /// What the caller has.
        authority: u8,
    },
    /// A vote cannot be called on what waits for a human.
    #[error("payload.strategy: {conflict} is escalated and cannot be put to a vote")]
    NoVoteOnEscalated {
        /// The conflict.
        conflict: ConflictId,
    },
    /// The vote is open on other terms.
    #[error("payload.quorum: the vote on {conflict} takes {quorum} ballots, not {asked}")]
    OtherQuorum {
        /// The conflict.
        conflict: ConflictId,
        /// What was asked for.
        asked: u32,
        /// What holds.
        quorum: u32,
    },
    /// It is escalated already, and the human does not say what prevails.
    #[error(
        "payload.resolution.winner_id: {conflict} is escalated already; say which unit prevails"
    )]
    Undecided {
        /// The conflict.
        conflict: ConflictId,
    },
    /// The winner is neither of the two units.
    #[error("payload.resolution.winner_id: {winner} is not a unit of {conflict}")]
    NotAParty {
        /// Who should win.
        winner: String,
        /// The conflict.
        conflict: ConflictId,
    },
    /// The winner was replaced or withdrawn.
    #[error("payload.resolution.winner_id: {winner} was replaced or withdrawn and cannot prevail")]
    DoesNotStand {
        /// Who should win.
        winner: UnitId,
    },
    /// Both units were replaced or withdrawn.
    #[error(
        "payload.strategy: both units of {conflict} were replaced or withdrawn; a synthesis can settle it"
    )]
    NeitherStands {
        /// The conflict.
        conflict: ConflictId,
    },
    /// The strategy cannot tell the two apart.
    #[error("payload.strategy: the two units of {conflict} are equal by {strategy}")]
    Tie {
        /// The conflict.
        conflict: ConflictId,
        /// The strategy.
        strategy: ConflictStrategy,
    },
    /// The caller wants another winner than the strategy gives.
    #[error(
        "payload.resolution.winner_id: {winner} was named, but {computed} prevails by {strategy}"
    )]
    Disagrees {
        /// Who should win.
        winner: UnitId,
        /// Who wins.
        computed: UnitId,
        /// The strategy.
        strategy: ConflictStrategy,
    },
    /// The unit that loses takes more authority to replace.
    #[error(
        "payload.conflict_id: to replace {unit} needs authority {needed}, and neither the caller, with {authority}, nor \
         what would replace it has that"
    )]
    Outranked {
        /// The unit that would be replaced.
        unit: UnitId,
        /// What that takes.
        needed: u8,
        /// What the caller has.
        authority: u8,
    },
    /// A synthesis without its text.
    #[error("payload.resolution.synthesis: is required when strategy is synthesis")]
    NoSynthesis,
}

impl Error {
    /// The code to answer with.
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
