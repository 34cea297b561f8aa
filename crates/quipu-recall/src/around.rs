//! Owns what stands around documents: whose words count for a document besides its own, and how much.
//! Knows no words.

use crate::lexical::slot;

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

/// Some documents and what stands around them.
#[derive(Debug)]
pub(crate) struct Around {
    /// All of them, in ascending order.
    pub(crate) involved: Vec<u32>,
    /// For each document in turn, itself first: a place in `involved`, and the share that counts.
    near: Vec<(u32, f32)>,
    /// Where in `near` each one's part ends.
    ends: Vec<usize>,
}

impl Around {
    /// Of documents below `ordinals`; others are left out.
    pub(crate) fn new<N: Neighbours + ?Sized>(
        documents: &[u32],
        ordinals: usize,
        neighbours: &N,
    ) -> Self {
        let mut near = Vec::with_capacity(documents.len() * (2 * REACH + 1));
        let mut ends = Vec::with_capacity(documents.len());
        for ordinal in documents {
            surroundings(*ordinal, neighbours, &mut near);
            ends.push(near.len());
        }
        // A bit and a place for every ordinal: sorting and searching would cost more than all the rest.
        let mut bits = vec![0_u64; ordinals.div_ceil(64)];
        for (at, _) in &near {
            if let Some(word) = bits.get_mut(slot(*at / 64)) {
                *word |= 1 << (at % 64);
            }
        }
        let involved: Vec<u32> = (0_u32..).zip(&bits).flat_map(ones).collect();
        let mut places = vec![u32::MAX; bits.len() * 64];
        for (place, at) in (0_u32..).zip(&involved) {
            places[slot(*at)] = place;
        }
        for (at, _) in &mut near {
            *at = places.get(slot(*at)).copied().unwrap_or(u32::MAX);
        }
        Self { involved, near, ends }
    }

    /// For each document in turn: the places in `involved` of those whose words count for it.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[(u32, f32)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.near[start..*end])
    }
}

/// The ordinals of the bits of one word, ascending.
fn ones((place, word): (u32, &u64)) -> impl Iterator<Item = u32> {
    let next = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
    let lefts = std::iter::successors(Some(*word).filter(|word| *word != 0), next);
    lefts.map(move |left| place * 64 + left.trailing_zeros())
}

/// Adds the documents around one, itself first, with the share that their words count.
fn surroundings<N: Neighbours + ?Sized>(ordinal: u32, neighbours: &N, near: &mut Vec<(u32, f32)>) {
    near.push((ordinal, 1.0));
    let (mut before, mut after) = (Some(ordinal), Some(ordinal));
    let whole = neighbours.share(ordinal);
    let mut share = (whole, whole);
    for _ in 0..REACH {
        share = (share.0 * DECAY_BEFORE, share.1 * DECAY_AFTER);
        before = before.and_then(|at| neighbours.before(at));
        after = after.and_then(|at| neighbours.after(at));
        near.extend(before.map(|at| (at, share.0)));
        near.extend(after.map(|at| (at, share.1)));
    }
}
