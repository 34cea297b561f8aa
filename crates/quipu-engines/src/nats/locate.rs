//! Which group a position is in. Groups that were seen are remembered, as many as is worth it; between two of them
//! the stream is searched where the position should be, and by halves in turn.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_nats::Client;
use quipu_log::{Damage, EngineError};

use super::{
    message::{GroupMark, Kind},
    read,
    stream::Stream,
    tail::Tail,
};

/// The most groups that are remembered for a field.
const REMEMBERED: usize = 32 * 1024;

/// Where a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupSpan {
    pub(super) first: u64,
    pub(super) last: u64,
    /// The sequence of its last part.
    pub(super) sequence: u64,
    /// How many messages belong to it, that one included.
    pub(super) span: u64,
}

impl GroupSpan {
    pub(super) const fn new(mark: GroupMark, sequence: u64) -> Self {
        Self { first: mark.first, last: mark.last, sequence, span: mark.span }
    }

    /// The sequence of its first message.
    pub(super) const fn start(&self) -> u64 {
        self.sequence.saturating_sub(self.span) + 1
    }
}

/// The groups that were seen, by their first position.
#[derive(Debug, Default)]
pub(super) struct Groups(Mutex<BTreeMap<u64, GroupSpan>>);

impl Groups {
    fn groups(&self) -> MutexGuard<'_, BTreeMap<u64, GroupSpan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a group.
    pub(super) fn note(&self, group: GroupSpan) {
        let mut groups = self.groups();
        groups.insert(group.first, group);
        if groups.len() > REMEMBERED {
            let mut keep = false;
            groups.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
    }

    /// The group that ends with a position, if it was seen.
    pub(super) fn last(&self, position: u64) -> Option<GroupSpan> {
        let groups = self.groups();
        let below = groups.range(..=position).next_back().map(|(_, group)| *group);
        below.filter(|group| group.last == position)
    }

    /// The group of a position if it was seen, or else the sequences between which it lies.
    fn find(&self, position: u64, tail: &Tail) -> Result<GroupSpan, Between> {
        let groups = self.groups();
        let below = groups.range(..=position).next_back().map(|(_, group)| *group);
        if let Some(group) = below
            && position <= group.last
        {
            return Ok(group);
        }
        let above = groups.range(position..).next().map(|(_, group)| *group);
        let (low, first) = below.map_or((1, 1), |group| (group.sequence + 1, group.last + 1));
        let (high, last) = above
            .map_or((tail.group, tail.head.position), |group| (group.start() - 1, group.first - 1));
        Err(Between { low, first, high, last })
    }

    /// Finds the group of a position that the log has.
    pub(super) async fn locate(
        &self,
        client: &Client,
        stream: &Stream,
        position: u64,
        tail: &Tail,
    ) -> Result<GroupSpan, EngineError> {
        let mut between = match self.find(position, tail) {
            Ok(group) => return Ok(group),
            Err(between) => between,
        };
        let mut by_halves = false;
        while between.low <= between.high {
            let from = if by_halves { between.middle() } else { between.guess(position) };
            by_halves = !by_halves;
            let Some((mark, sequence)) = next_group(client, stream, from, tail.group).await? else {
                between.high = from - 1;
                continue;
            };
            self.note(GroupSpan::new(mark, sequence));
            if position < mark.first {
                (between.high, between.last) = (from - 1, mark.first - 1);
            } else if position > mark.last {
                (between.low, between.first) = (sequence + 1, mark.last + 1);
            } else {
                return Ok(GroupSpan::new(mark, sequence));
            }
        }
        let reason = format!("no group of the stream holds position {position}");
        Err(Damage::new(position, quipu_log::DamageKind::StorageUnreadable(reason)).into())
    }
}

/// Sequences that hold the groups of some positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Between {
    low: u64,
    /// The position that begins at `low`.
    first: u64,
    high: u64,
    /// The position that ends at `high`, or before it.
    last: u64,
}

impl Between {
    const fn middle(&self) -> u64 {
        self.low + (self.high - self.low) / 2
    }

    /// Where a position lies if all take as much room. Whoever reads on finds the next group at once, and whoever
    /// begins elsewhere after a few looks.
    fn guess(&self, position: u64) -> u64 {
        let (room, positions) = (self.high - self.low, self.last.saturating_sub(self.first) + 1);
        let before = position.saturating_sub(self.first).min(positions - 1);
        let share = u128::from(room) * u128::from(before) / u128::from(positions);
        self.low + u64::try_from(share).unwrap_or(room)
    }
}

/// The first whole group at or behind a sequence, up to `end`.
async fn next_group(
    client: &Client,
    stream: &Stream,
    from: u64,
    end: u64,
) -> Result<Option<(GroupMark, u64)>, EngineError> {
    let mut from = from;
    while from <= end {
        let found = read::next(client, stream, &stream.subject(Kind::Group), from).await?;
        let Some(message) = found else { return Ok(None) };
        if let Some(mark) = GroupMark::of(&message).filter(GroupMark::is_last_part) {
            return Ok(Some((mark, message.sequence)));
        }
        from = message.sequence + 1;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_guess_lies_between(low in 1..=u64::MAX / 2, room in 0..u64::MAX / 2, first in 1..1000_u64, more in 0..u64::MAX / 2, at in any::<u64>()) {
            let between = Between { low, first, high: low + room, last: first + more };
            let guess = between.guess(at);
            prop_assert!((between.low..=between.high).contains(&guess));
            prop_assert_eq!(between.guess(first), low, "whoever reads on begins where the last one ended");
        }
    }
}
