//! Puts the events of a chain into words, in order. A long chain is done in several parts at once.

use std::{panic::resume_unwind, thread};

use quipu_log::{Engine, EngineError, FieldName};
use quipu_wire::akashik::ReplayDepth;

use super::{
    chain::{Chain, Found},
    describe::{Narrated, describe},
    links::Target,
    story::NARRATED_AT_EACH_END,
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
    target: &Target,
    depth: ReplayDepth,
) -> Result<Vec<Narrated>, EngineError> {
    let count = chain.events.len();
    let is_in_story = |at: usize| at < NARRATED_AT_EACH_END || at + NARRATED_AT_EACH_END >= count;
    let part = |first: usize, events: &[Found]| {
        let mut texts = Texts::new(engine, field, &chain.events);
        let one = |(at, found)| describe(found, target, depth, &mut texts, is_in_story(at));
        (first..).zip(events).map(one).filter_map(Result::transpose).collect()
    };
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = count.div_ceil(cores.min(PARTS_MAX)).max(PART_EVENTS_MIN);
    let (own, others) = chain.events.split_at_checked(share).unwrap_or((&chain.events, &[]));
    thread::scope(|scope| {
        let parts: Vec<_> = (share..)
            .step_by(share)
            .zip(others.chunks(share))
            .map(|(first, events)| scope.spawn(move || part(first, events)))
            .collect();
        let mut narrated: Vec<Narrated> = Vec::with_capacity(count);
        let own: Result<Vec<Narrated>, EngineError> = part(0, own);
        narrated.extend(own?);
        for part in parts {
            narrated.extend(part.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(narrated)
    })
}
