//! Whether operations on one thing have an order that explains their answers: the search of Wing and Gong with the
//! memory of Lowe. It knows no log and no positions of one, so a log that is wrong in itself cannot mislead it.
//!
//! The thing is made once and taken once: a task that one agent wins, a unit that is retracted.

use std::collections::{BTreeSet, HashSet};

/// How many operations on one thing are searched at most.
pub const OPERATIONS_MAX: usize = 128;

/// An operation on the thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its place in the history.
    pub event: usize,
    /// When it was asked.
    pub invoked_us: u64,
    /// When it was answered; none if nobody knows what happened.
    pub returned_us: Option<u64>,
    /// For a look: how far its node had to be at least. None if it may look at the past.
    pub min_position: Option<u64>,
    /// How far the log was said to have come in its answer.
    pub told: Option<u64>,
    /// What was asked.
    pub call: Call,
    /// What was answered; none if nobody knows.
    pub reply: Option<Reply>,
}

/// What is asked of the thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Call {
    /// Let it be there.
    Make(String),
    /// Let it be taken: the message, and who takes it where that can be seen.
    Take(String, Option<String>),
    /// What is it?
    Look,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
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
pub enum Phase {
    /// It is not there.
    #[default]
    Absent,
    /// Nobody has taken it.
    Open,
    /// It was taken, and by whom where that can be seen.
    Taken(Option<String>),
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
pub fn is_explained(operations: &[Operation]) -> bool {
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
            let told = operation.reply.as_ref().is_none_or(|told| is_answer(&reply, told));
            let after = (done | bit(at), next);
            if told && seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    false
}

fn precedes(one: &Operation, later: &Operation) -> bool {
    let in_time = one.returned_us.is_some_and(|returned| returned < later.invoked_us);
    let binds = later.call != Call::Look || later.min_position >= one.told.or(Some(u64::MAX));
    in_time && binds
}

/// What a sound server does.
fn step(state: &State, call: &Call) -> (State, Reply) {
    let mut next = state.clone();
    let reply = match call {
        Call::Make(message) | Call::Take(message, _) if state.done.contains(message) => Reply::Done,
        Call::Make(message) => {
            // Nobody makes the same thing twice under two messages.
            next = State { phase: Phase::Open, done: BTreeSet::from([message.clone()]) };
            Reply::Done
        }
        Call::Take(message, who) => match state.phase {
            Phase::Absent => Reply::Absent,
            Phase::Taken(_) => Reply::Taken,
            Phase::Open => {
                next.phase = Phase::Taken(who.clone());
                next.done.insert(message.clone());
                Reply::Done
            }
        },
        Call::Look => Reply::Is(state.phase.clone()),
    };
    (next, reply)
}

fn is_answer(is: &Reply, told: &Reply) -> bool {
    is == told || (*told == Reply::NotOpen && *is != Reply::Is(Phase::Open))
}
