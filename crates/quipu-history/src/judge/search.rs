//! Whether operations on one thing have an order that explains their answers: the search of Wing and Gong with the
//! memory of Lowe. It knows no log and no positions of one, so a log that is wrong in itself cannot mislead it.
//!
//! The thing is made once and taken once: a task that one agent wins, a unit that is retracted. Or it is a value that
//! is replaced, again and again: a member of a document.

use std::collections::{BTreeSet, HashSet};

/// How many operations on one thing are searched at most.
pub(crate) const OPERATIONS_MAX: usize = 128;

/// An operation on the thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Its place in the history.
    pub(crate) event: usize,
    /// When it was asked.
    pub(crate) invoked_us: u64,
    /// When it was answered; none if nobody knows what happened.
    pub(crate) returned_us: Option<u64>,
    /// For a look: how far its node had to be at least. None if it may look at the past.
    pub(crate) min_position: Option<u64>,
    /// How far the log was said to have come in its answer.
    pub(crate) position: Option<u64>,
    /// What was asked.
    pub(crate) call: Call,
    /// What was answered; none if nobody knows.
    pub(crate) reply: Option<Reply>,
}

/// What is asked of the thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    /// Let it be there.
    Make(String),
    /// Let it be taken: the message, and who takes it where that can be seen.
    Take(String, Option<String>),
    /// Let it be this value: the message, and the value.
    Put(String, String),
    /// What is it?
    Read,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// It was done, now or when the message came first.
    Done,
    /// There is no such thing.
    Absent,
    /// It was taken already.
    Taken,
    /// It is so.
    Is(Phase),
    /// It is not there to be taken: it does not exist, or somebody took it.
    NotOpen,
}

/// What the thing is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// It is not there.
    #[default]
    Absent,
    /// It is as it was made.
    Open,
    /// It was taken, and by whom where that can be seen.
    Taken(Option<String>),
    /// It is this value.
    Value(String),
}

/// The thing, and which messages were carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct State {
    phase: Phase,
    done: BTreeSet<String>,
}

/// Whether some order of these operations, at most [`OPERATIONS_MAX`], explains all answers. What was asked after
/// something was answered comes after it; a look without a position to wait for may show the past. What nobody
/// knows the outcome of may have happened at any time after it was asked, or never.
#[must_use]
pub(crate) fn is_explained(operations: &[Operation]) -> bool {
    let bit = |at: usize| 1_u128 << at;
    let before: Vec<u128> = operations
        .iter()
        .map(|later| {
            let earlier = operations.iter().enumerate().filter(|(_, one)| precedes(one, later));
            earlier.fold(0, |set, (at, _)| set | bit(at))
        })
        .collect();
    let known = operations.iter().enumerate().filter(|(_, operation)| operation.reply.is_some());
    let goal = known.fold(0, |set, (at, _)| set | bit(at));
    let mut seen = HashSet::new();
    let mut open = vec![(0_u128, State::default())];
    while let Some((done, state)) = open.pop() {
        if done & goal == goal {
            return true;
        }
        for (at, (operation, before)) in operations.iter().zip(&before).enumerate() {
            if done & bit(at) != 0 || before & !done != 0 {
                continue;
            }
            let (next, reply) = step(&state, &operation.call);
            let fits = operation.reply.as_ref().is_none_or(|given| is_answer(&reply, given));
            let after = (done | bit(at), next);
            if fits && seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    false
}

fn precedes(one: &Operation, later: &Operation) -> bool {
    let in_time = one.returned_us.is_some_and(|returned| returned < later.invoked_us);
    let binds = later.call != Call::Read || later.min_position >= one.position.or(Some(u64::MAX));
    in_time && binds
}

/// What a sound server does.
fn step(state: &State, call: &Call) -> (State, Reply) {
    let mut next = state.clone();
    let reply = match call {
        Call::Make(message) | Call::Take(message, _) | Call::Put(message, _)
            if state.done.contains(message) =>
        {
            Reply::Done
        }
        Call::Make(message) => {
            // Nobody makes the same thing twice under two messages.
            next = State { phase: Phase::Open, done: BTreeSet::from([message.clone()]) };
            Reply::Done
        }
        Call::Take(message, who) => match state.phase {
            Phase::Absent => Reply::Absent,
            Phase::Taken(_) | Phase::Value(_) => Reply::Taken,
            Phase::Open => {
                next.phase = Phase::Taken(who.clone());
                next.done.insert(message.clone());
                Reply::Done
            }
        },
        Call::Put(..) if state.phase == Phase::Absent => Reply::Absent,
        Call::Put(message, value) => {
            next.phase = Phase::Value(value.clone());
            next.done.insert(message.clone());
            Reply::Done
        }
        Call::Read => Reply::Is(state.phase.clone()),
    };
    (next, reply)
}

fn is_answer(expected: &Reply, given: &Reply) -> bool {
    expected == given || (*given == Reply::NotOpen && *expected != Reply::Is(Phase::Open))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(span: (u64, Option<u64>), call: Call, reply: Option<Reply>) -> Operation {
        let (invoked_us, returned_us) = span;
        Operation {
            event: 0,
            invoked_us,
            returned_us,
            min_position: None,
            position: None,
            call,
            reply,
        }
    }

    fn made() -> Operation {
        operation((0, Some(1)), Call::Make("made".to_owned()), Some(Reply::Done))
    }

    fn take(span: (u64, u64), message: &str, reply: Reply) -> Operation {
        let call = Call::Take(message.to_owned(), Some(message.to_owned()));
        operation((span.0, Some(span.1)), call, Some(reply))
    }

    fn lost(invoked_us: u64, message: &str) -> Operation {
        let call = Call::Take(message.to_owned(), Some(message.to_owned()));
        operation((invoked_us, None), call, None)
    }

    #[test]
    fn of_two_that_overlap_either_may_win() {
        let [won, refused] = [Reply::Done, Reply::Taken];
        assert!(is_explained(&[
            made(),
            take((2, 9), "a", won.clone()),
            take((3, 8), "b", refused.clone())
        ]));
        assert!(is_explained(&[made(), take((2, 9), "a", refused), take((3, 8), "b", won)]));
    }

    #[test]
    fn who_is_refused_before_anybody_else_asked_has_no_explanation() {
        let [won, refused] = [Reply::Done, Reply::Taken];
        assert!(!is_explained(&[made(), take((2, 3), "a", refused), take((4, 5), "b", won)]));
    }

    #[test]
    fn what_nobody_knows_of_may_have_won_or_not() {
        assert!(is_explained(&[made(), lost(2, "a"), take((4, 5), "b", Reply::Taken)]));
        assert!(is_explained(&[made(), lost(2, "a"), take((4, 5), "b", Reply::Done)]));
        assert!(!is_explained(&[made(), take((2, 3), "b", Reply::Taken), lost(4, "a")]));
    }

    #[test]
    fn the_same_message_wins_once_however_often_it_is_sent() {
        let won = |span| take(span, "a", Reply::Done);
        assert!(is_explained(&[made(), won((2, 3)), won((4, 5)), take((6, 7), "b", Reply::Taken)]));
    }

    #[test]
    fn a_read_may_show_the_past_unless_it_asks_for_a_position() {
        let at = |mut operation: Operation, position| {
            operation.position = Some(position);
            operation
        };
        let read = |min_position| Operation {
            min_position,
            ..operation((6, Some(7)), Call::Read, Some(Reply::Is(Phase::Open)))
        };
        let history = [at(made(), 1), at(take((2, 3), "a", Reply::Done), 2)];
        let with = |read: Operation| [&history[..], &[read]].concat();
        assert!(is_explained(&with(read(None))));
        assert!(is_explained(&with(read(Some(1)))));
        assert!(!is_explained(&with(read(Some(2)))));
    }
}
