//! Where an Event is in the log: from its place come its number and its id, so that ids grow in every stream and a
//! cursor never lies.

use quipu_core::state::EventAddress;
use quipu_wire::harn::ResourceKind;

/// A commit has as many numbers: for its own events and for those of a replay that it ends. Numbers stay below
/// 2^53, which every reader of JSON takes, for eight thousand million commits.
const INDEX_BITS: u32 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPosition(pub EventAddress);

impl EventPosition {
    /// The number of the Event: grows along the log.
    #[must_use]
    pub fn sequence(self) -> u64 {
        (self.0.0 << INDEX_BITS) | u64::from(self.0.1)
    }

    #[must_use]
    pub fn id(self) -> String {
        ResourceKind::Event.id(&format!("{:016x}", self.sequence()))
    }

    #[must_use]
    pub fn at(sequence: u64) -> Self {
        let index = u32::try_from(sequence & ((1 << INDEX_BITS) - 1)).unwrap_or(0);
        Self((sequence >> INDEX_BITS, index))
    }

    /// The place of an id that the log gave; nothing if it is not one.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        let hex = ResourceKind::Event.rest_of(id)?;
        let plain =
            hex.len() == 16 && hex.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        u64::from_str_radix(hex, 16).ok().filter(|_| plain).map(Self::at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_place_and_ids_grow_along_the_log() {
        let place = EventPosition((7, 3));
        assert_eq!(place.id(), "event_0000000000700003");
        assert_eq!(EventPosition::parse(&place.id()), Some(place));
        assert!(EventPosition((7, 1_048_575)).id() < EventPosition((8, 0)).id());
        for other in ["event_7", "task_0000000000070003", "event_000000000007000G", "event_"] {
            assert_eq!(EventPosition::parse(other), None, "{other}");
        }
    }
}
