//! Finds the group that contains a position. Groups that were read are remembered, up to a limit. Between two of them
//! the stream is searched by interpolation and bisection in turn.

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

/// The most groups that are remembered for each field.
const REMEMBERED: usize = 32 * 1024;

/// A group's positions, and its place in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupSpan {
    pub(super) first: u64,
    pub(super) last: u64,
    /// The sequence of its last part.
    pub(super) sequence: u64,
    /// How many messages belong to it, including its last part.
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

/// The remembered groups, by their first position.
#[derive(Debug, Default)]
pub(super) struct Groups(Mutex<BTreeMap<u64, GroupSpan>>);

impl Groups {
    fn groups(&self) -> MutexGuard<'_, BTreeMap<u64, GroupSpan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

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

    pub(super) fn last(&self, position: u64) -> Option<GroupSpan> {
        let groups = self.groups();
        let below = groups.range(..=position).next_back().map(|(_, group)| *group);
        below.filter(|group| group.last == position)
    }

    /// The group of a position if it is remembered, or else the range of sequences that must contain it.
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

    /// Finds the group of a position that exists in the log.
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

/// A range of sequences, and the positions that its groups contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Between {
    low: u64,
    /// The position at the sequence `low`.
    first: u64,
    high: u64,
    /// The last position at or before the sequence `high`.
    last: u64,
}

impl Between {
    const fn middle(&self) -> u64 {
        self.low + (self.high - self.low) / 2
    }

    /// Estimates the sequence of a position as if all positions took the same number of messages. A reader that
    /// continues finds the next group at once; one that begins elsewhere after a few attempts.
    fn guess(&self, position: u64) -> u64 {
        let (room, positions) = (self.high - self.low, self.last.saturating_sub(self.first) + 1);
        let before = position.saturating_sub(self.first).min(positions - 1);
        let share = u128::from(room) * u128::from(before) / u128::from(positions);
        self.low + u64::try_from(share).unwrap_or(room)
    }
}

/// The first complete group at or after a sequence, up to `end`.
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
