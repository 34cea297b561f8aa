//! Which group a position is in. Groups that were seen are remembered, as many as is worth it; between two of them
//! the stream is searched by halves.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_nats::Client;
use quipu_log::{Damage, EngineError};

use super::message::{GroupMark, Kind};
use super::read;
use super::stream::Stream;
use super::tail::Tail;

/// The most groups that are remembered for a field.
const REMEMBERED: usize = 32 * 1024;

/// Where a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) first: u64,
    pub(super) last: u64,
    /// The sequence of its last part.
    pub(super) sequence: u64,
    /// How many messages belong to it, that one included.
    pub(super) span: u64,
}

impl Place {
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
pub(super) struct Places(Mutex<BTreeMap<u64, Place>>);

impl Places {
    fn places(&self) -> MutexGuard<'_, BTreeMap<u64, Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a group.
    pub(super) fn note(&self, place: Place) {
        let mut places = self.places();
        places.insert(place.first, place);
        if places.len() > REMEMBERED {
            let mut keep = false;
            places.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
    }

    /// The group that ends with a position, if it was seen.
    pub(super) fn last(&self, position: u64) -> Option<Place> {
        let places = self.places();
        let below = places.range(..=position).next_back().map(|(_, place)| *place);
        below.filter(|place| place.last == position)
    }

    /// The group of a position if it was seen, or else the sequences between which it lies.
    fn find(&self, position: u64, end: u64) -> Result<Place, (u64, u64)> {
        let places = self.places();
        let below = places.range(..=position).next_back().map(|(_, place)| *place);
        if let Some(place) = below
            && position <= place.last
        {
            return Ok(place);
        }
        let above = places.range(position..).next().map(|(_, place)| place.start());
        Err((below.map_or(1, |place| place.sequence + 1), above.map_or(end, |start| start - 1)))
    }

    /// Finds the group of a position that the log has.
    pub(super) async fn locate(
        &self,
        client: &Client,
        stream: &Stream,
        position: u64,
        tail: &Tail,
    ) -> Result<Place, EngineError> {
        let (mut low, mut high) = match self.find(position, tail.group) {
            Ok(place) => return Ok(place),
            Err(between) => between,
        };
        // Groups lie close together where one follows the other, and whoever reads on finds the next one at once.
        let mut middle = low;
        while low <= high {
            let Some((mark, sequence)) = next_group(client, stream, middle, tail.group).await?
            else {
                high = middle - 1;
                middle = low + (high.saturating_sub(low)) / 2;
                continue;
            };
            self.note(Place::new(mark, sequence));
            if position < mark.first {
                high = middle - 1;
            } else if position > mark.last {
                low = sequence + 1;
            } else {
                return Ok(Place::new(mark, sequence));
            }
            middle = low + (high.saturating_sub(low)) / 2;
        }
        let reason = format!("no group of the stream holds position {position}");
        Err(Damage::new(position, quipu_log::DamageKind::StorageUnreadable(reason)).into())
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
