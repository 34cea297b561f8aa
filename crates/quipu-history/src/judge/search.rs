//! Searches for an order of the operations on one thing that explains their answers: the algorithm of Wing and Gong
//! with the memoization of Lowe. It does not use the log, so a log that is wrong in itself cannot mislead it.
//!
//! A thing is created once and taken once, like a task that one agent claims or a unit that is retracted; or it is a
//! value that is replaced again and again, like a member of a document.

use std::collections::{BTreeSet, HashSet};

/// The most operations on one thing that are searched.
pub(crate) const OPERATIONS_MAX: usize = 128;

/// An operation on the thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operation {
    /// Its index in the history.
    pub(crate) event: usize,
    /// When the request was sent.
    pub(crate) invoked_us: u64,
    /// When the answer arrived; `None` if the outcome is unknown.
    pub(crate) returned_us: Option<u64>,
    /// For a read: the position that the node had to have reached. `None` if an older state is a valid answer.
    pub(crate) min_position: Option<u64>,
    /// The position that the answer reported.
    pub(crate) position: Option<u64>,
    /// The operation that was requested.
    pub(crate) call: Call,
    /// The answer; `None` if the outcome is unknown.
    pub(crate) reply: Option<Reply>,
}

/// An operation on the thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    /// Create it, by this message.
    Make(String),
    /// Take it: the message, and who takes it if reads show that.
    Take(String, Option<String>),
    /// Replace its value: the message, and the value.
    Put(String, String),
    Read,
}

/// The answer to an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// It was done, now or when the message came first.
    Done,
    /// There is no such thing.
    Absent,
    /// It was taken already.
    Taken,
    /// The state that was read.
    Is(Phase),
    /// It cannot be taken: it does not exist, or somebody has taken it.
    NotOpen,
}

/// The state of the thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// It does not exist.
    #[default]
    Absent,
    /// It was created and nobody has taken it.
    Open,
    /// It was taken; by whom, if reads show that.
    Taken(Option<String>),
    /// It has this value.
    Value(String),
}

/// The state of the thing, and the messages that were carried out on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct State {
    phase: Phase,
    done: BTreeSet<String>,
}

/// Whether some order of these operations, at most [`OPERATIONS_MAX`], explains all answers. A request that was sent
/// after another one was answered comes after it, except that a read without a minimum position may return an older
/// state. An operation with an unknown outcome may have happened at any time after it was sent, or never.
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

/// What a correct server does.
fn step(state: &State, call: &Call) -> (State, Reply) {
    let mut next = state.clone();
    let reply = match call {
        Call::Make(message) | Call::Take(message, _) | Call::Put(message, _)
            if state.done.contains(message) =>
        {
            Reply::Done
        }
        Call::Make(message) => {
            // Every thing is created by one message only.
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
