//! The order in which nodes append to one field, as one node has received it. Pure: messages go in, and who is next
//! comes out. Nodes may receive messages in different orders, so two may believe that it is their turn; the stream
//! decides between them.

use std::collections::VecDeque;

/// The most tickets in the queue; more than there are nodes.
const WAITING_MAX: usize = 256;

/// A node's request for a turn: opaque, and different each time.
pub(super) type Ticket = String;

/// The ticket that has the turn, and those that wait for it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Queue {
    holder: Option<Ticket>,
    waiting: VecDeque<Ticket>,
    /// How often the turn has been passed on.
    changes: u64,
}

impl Queue {
    /// Adds a ticket. It gets the turn at once if nobody has it.
    pub(super) fn want(&mut self, ticket: Ticket) {
        if self.holder.as_ref() != Some(&ticket) && !self.waiting.contains(&ticket) {
            self.waiting.push_back(ticket);
        }
        // Tickets of nodes that disappeared must not fill the memory.
        if self.waiting.len() > WAITING_MAX {
            self.waiting.pop_front();
        }
        self.go_on();
    }

    /// Removes a ticket that was used or withdrawn. The holder of the turn also says who is next.
    pub(super) fn done(&mut self, ticket: &str, next: Option<&str>) {
        self.waiting.retain(|waiting| waiting != ticket && Some(waiting.as_str()) != next);
        if let Some(next) = next {
            self.holder = Some(next.to_owned());
            self.changes += 1;
        } else if self.holder.as_deref() == Some(ticket) {
            self.holder = None;
            self.go_on();
        }
    }

    /// The holder is silent: the first ticket in the queue takes the turn.
    pub(super) fn pass_over(&mut self) {
        self.holder = None;
        self.go_on();
    }

    fn go_on(&mut self) {
        if self.holder.is_none() {
            self.holder = self.waiting.pop_front();
            self.changes += 1;
        }
    }

    /// Whether one of these tickets has the turn or waits for it.
    pub(super) fn is_wanted(&self, is_one: impl Fn(&str) -> bool) -> bool {
        self.holder.iter().chain(&self.waiting).any(|ticket| is_one(ticket))
    }

    pub(super) fn is_turn_of(&self, ticket: &str) -> bool {
        self.holder.as_deref() == Some(ticket)
    }

    /// The next ticket, as far as this node knows.
    pub(super) fn next(&self) -> Option<&str> {
        self.waiting.front().map(String::as_str)
    }

    /// Increases whenever the turn is passed on.
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whoever_asks_first_has_the_first_turn() {
        let mut queue = Queue::default();
        for ticket in ["a", "b", "c", "b"] {
            queue.want(ticket.to_owned());
        }
        let mut order = Vec::new();
        for _ in 0..3 {
            let holder = queue.holder.clone().unwrap();
            let next = queue.next().map(str::to_owned);
            queue.done(&holder, next.as_deref());
            order.push(holder);
        }
        assert_eq!((order, queue.holder), (vec!["a".into(), "b".into(), "c".into()], None));
    }

    #[test]
    fn whoever_has_it_says_who_is_next() {
        let mut queue = Queue::default();
        for ticket in ["a", "b", "c"] {
            queue.want(ticket.to_owned());
        }
        // This node received c before b.
        queue.done("a", Some("c"));
        assert!(queue.is_turn_of("c"));
        queue.done("b", None);
        assert!(queue.is_turn_of("c"), "b only does not wait any more");
        queue.done("c", queue.clone().next());
        assert_eq!(queue.holder, None);
    }

    #[test]
    fn whoever_says_nothing_is_passed_over() {
        let mut queue = Queue::default();
        for ticket in ["gone", "b"] {
            queue.want(ticket.to_owned());
        }
        queue.pass_over();
        assert!(queue.is_turn_of("b"));
    }

    proptest! {
        #[test]
        fn nobody_waits_while_nobody_has_the_turn(said in prop::collection::vec((0..4_u8, 0..5_u8, 0..6_u8), 0..60)) {
            let mut queue = Queue::default();
            for (what, who, next) in said {
                let (who, next) = (format!("t{who}"), format!("t{next}"));
                match what {
                    0 | 1 => queue.want(who),
                    2 => queue.done(&who, (next != "t5").then_some(next.as_str())),
                    _ => queue.pass_over(),
                }
                prop_assert!(queue.holder.is_some() || queue.waiting.is_empty());
                let mut all: Vec<_> = queue.waiting.iter().chain(&queue.holder).collect();
                let several = all.len();
                all.sort();
                all.dedup();
                prop_assert_eq!(all.len(), several, "nobody is in it twice");
            }
        }
    }
}
