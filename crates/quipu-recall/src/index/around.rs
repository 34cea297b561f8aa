//! Owns what stands around documents: whose words count for a document besides its own, and how much.
//! Knows no words.

use crate::index::{bits::Bits, lexical::slot};

/// How many neighbours on each side lend their words.
pub const REACH: usize = 3;
/// What a word is worth one document further before or after the one that is scored. What was said
/// before tells more about a text than what follows it.
const DECAY_BEFORE: f32 = 0.75;
const DECAY_AFTER: f32 = 0.6;

/// Says what stands before and after a document, such as in a conversation.
pub trait Neighbours {
    /// The document before, if there is one and it is seen.
    fn before(&self, ordinal: u32) -> Option<u32>;
    /// The document after, likewise.
    fn after(&self, ordinal: u32) -> Option<u32>;
    /// What the words of neighbours are worth to a document, beside what their distance leaves of them.
    fn share(&self, _ordinal: u32) -> f32 {
        1.0
    }
}

/// For documents that stand alone.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Neighbours for Alone {
    fn before(&self, _ordinal: u32) -> Option<u32> {
        None
    }

    fn after(&self, _ordinal: u32) -> Option<u32> {
        None
    }
}

/// A document with those around it, itself first: each with the share that its words count.
type Near = [(u32, f32); 2 * REACH + 1];

const NOBODY: u32 = u32::MAX;

/// Some documents and what stands around them.
#[derive(Debug)]
pub(crate) struct Around {
    /// All of them, in ascending order.
    pub(crate) involved: Vec<u32>,
    /// The same, to be asked about one.
    members: Bits,
    /// By ordinal: its place in `involved`.
    places: Vec<u32>,
    /// For each document in turn: places in `involved`.
    near: Vec<Near>,
}

impl Around {
    /// Of documents below `ordinals`; others are left out.
    pub(crate) fn new<N: Neighbours + ?Sized>(
        documents: &[u32],
        ordinals: usize,
        neighbours: &N,
    ) -> Self {
        let mut near = surroundings(documents, neighbours);
        // A bit and a place for every ordinal: sorting and searching would cost more than all the rest.
        let members = Bits::new(ordinals, near.as_flattened().iter().map(|(at, _)| *at));
        let involved: Vec<u32> = members.iter().collect();
        let mut places = vec![NOBODY; ordinals];
        for (place, at) in (0_u32..).zip(&involved) {
            places[slot(*at)] = place;
        }
        for (at, _) in near.as_flattened_mut() {
            *at = places.get(slot(*at)).copied().unwrap_or(NOBODY);
        }
        Self { involved, members, places, near }
    }

    /// The place of a document in `involved`. Most have none, and those are told by the bits, which are few
    /// enough to stay near the processor.
    pub(crate) fn place(&self, ordinal: u32) -> Option<usize> {
        self.members.has(ordinal).then(|| slot(self.places[slot(ordinal)]))
    }

    /// For each document in turn: the places in `involved` of those whose words count for it.
    /// A place that is not there stands for nobody.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Near> {
        self.near.iter()
    }
}

/// The documents around each, itself first. Step by step for all of them: each step waits for memory, and
/// this way many wait together.
fn surroundings<N: Neighbours + ?Sized>(documents: &[u32], neighbours: &N) -> Vec<Near> {
    let mut near = vec![[(NOBODY, 1.0); 2 * REACH + 1]; documents.len()];
    for (near, document) in near.iter_mut().zip(documents) {
        near[0].0 = *document;
    }
    let known = |at: u32| Some(at).filter(|at| *at != NOBODY);
    for step in 0..REACH {
        for near in &mut near {
            let (earlier, later) = if step == 0 {
                let whole = (near[0].0, neighbours.share(near[0].0));
                (whole, whole)
            } else {
                (near[2 * step - 1], near[2 * step])
            };
            let before = known(earlier.0).and_then(|at| neighbours.before(at));
            let after = known(later.0).and_then(|at| neighbours.after(at));
            near[2 * step + 1] = (before.unwrap_or(NOBODY), earlier.1 * DECAY_BEFORE);
            near[2 * step + 2] = (after.unwrap_or(NOBODY), later.1 * DECAY_AFTER);
        }
    }
    near
}
