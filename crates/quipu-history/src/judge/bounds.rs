//! What real time demands: which positions somebody had been told of before a moment.

use std::collections::BTreeMap;

use crate::event::Event;

/// The greatest position that was told before each moment, and by whom.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    all: Timeline,
    nodes: BTreeMap<usize, Timeline>,
}

/// Return instants in order, each with the greatest position told until then and the event that told it.
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

    /// The greatest position that anybody had been told before `moment`, and the event that told it.
    pub(crate) fn reported_before(&self, moment: u64) -> Option<(u64, usize)> {
        self.all.before(moment)
    }

    /// The same, told by one node.
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
