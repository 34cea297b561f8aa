//! Which position had already been reported to a client before a given moment. What happens later must come after
//! that position.

use std::collections::BTreeMap;

use crate::event::Event;

/// The greatest position that had been reported before each moment, by any node and by each node.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    all: Timeline,
    nodes: BTreeMap<usize, Timeline>,
}

/// The times at which answers arrived, in order, each with the greatest position reported until then and the event
/// that reported it.
#[derive(Debug, Default)]
struct Timeline(Vec<(u64, u64, usize)>);

impl Bounds {
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut reports: Vec<_> = events
            .iter()
            .enumerate()
            .filter_map(|(at, event)| {
                Some((event.returned_us?, event.reported_position()?, at, event.node))
            })
            .collect();
        reports.sort_unstable();
        let mut bounds = Self::default();
        for (returned, position, at, node) in reports {
            bounds.all.push(returned, position, at);
            bounds.nodes.entry(node).or_default().push(returned, position, at);
        }
        bounds
    }

    /// The greatest position that any client had received before `moment`, and the event that reported it.
    pub(crate) fn reported_before(&self, moment: u64) -> Option<(u64, usize)> {
        self.all.before(moment)
    }

    /// The same for the answers of one node.
    pub(crate) fn node_reported_before(&self, node: usize, moment: u64) -> Option<(u64, usize)> {
        self.nodes.get(&node)?.before(moment)
    }
}

impl Timeline {
    fn push(&mut self, returned: u64, position: u64, event: usize) {
        match self.0.last() {
            Some((_, greatest, by)) if *greatest >= position => {
                self.0.push((returned, *greatest, *by));
            }
            _ => self.0.push((returned, position, event)),
        }
    }

    fn before(&self, moment: u64) -> Option<(u64, usize)> {
        let count = self.0.partition_point(|(returned, ..)| *returned < moment);
        let (_, position, event) = self.0.get(count.checked_sub(1)?)?;
        Some((*position, *event))
    }
}
