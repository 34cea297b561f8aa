//! A set of memory types, in which one asks for every unit.

use quipu_wire::akashik::MemoryType;

/// A set of memory types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeSet(u32);

impl TypeSet {
    /// All of them.
    pub(crate) const ALL: Self = Self(u32::MAX);
    /// None of them.
    pub(crate) const NONE: Self = Self(0);

    /// These.
    #[must_use]
    pub fn of(types: &[MemoryType]) -> Self {
        Self(types.iter().fold(0, |bits, kind| bits | Self::bit(*kind)))
    }

    fn bit(kind: MemoryType) -> u32 {
        let place = MemoryType::ALL.iter().position(|other| *other == kind).unwrap_or(31);
        1 << u32::try_from(place).unwrap_or(31)
    }

    /// What is in this one or in the other.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this one and not in the other.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of the other are in this one.
    #[must_use]
    pub const fn has_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}
