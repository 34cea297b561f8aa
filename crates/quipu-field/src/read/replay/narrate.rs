//! Puts the events of a chain into words, in order. A long chain is done in several parts at once.

use std::{panic::resume_unwind, thread};

use quipu_log::{Engine, EngineError, FieldName};
use quipu_wire::akashik::ReplayEvent;

use super::{
    chain::{Chain, Found, Trace},
    describe::describe,
    texts::Texts,
};

/// Parts that are done at once at most.
const PARTS_MAX: usize = 4;
/// Events for which a part of their own is worth it.
const PART_EVENTS_MIN: usize = 1024;

/// The events of a chain in words.
pub(crate) fn narrate(
    engine: &dyn Engine,
    field: &FieldName,
    chain: &Chain,
    trace: &Trace<'_>,
) -> Result<Vec<ReplayEvent>, EngineError> {
    let count = chain.events.len();
    let part = |events: &[Found]| {
        let mut texts = Texts::new(engine, field);
        let one = |found| describe(found, trace, &chain.places, &mut texts);
        events.iter().map(one).filter_map(Result::transpose).collect()
    };
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = count.div_ceil(cores.min(PARTS_MAX)).max(PART_EVENTS_MIN);
    let (own, others) = chain.events.split_at_checked(share).unwrap_or((&chain.events, &[]));
    thread::scope(|scope| {
        let others = others.chunks(share).map(|events| scope.spawn(move || part(events)));
        let parts: Vec<_> = others.collect();
        let mut narrated: Vec<ReplayEvent> = Vec::with_capacity(count);
        let own: Result<Vec<ReplayEvent>, EngineError> = part(own);
        narrated.extend(own?);
        for part in parts {
            narrated.extend(part.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(narrated)
    })
}
