//! How well units match a topic, by words and by meaning. Everything is measured over what the reader sees.

use quipu_recall::{Index, Look, Neighbours, Probe, Seen, Vectors, score::relative};

use crate::{asking::Topic, state::State};

/// Below this a cosine says nothing, so the best of a bad lot does not count as a match.
const COSINE_MIN: f32 = 0.2;
/// From here on two texts are about the same thing, as far as the built-in model can tell.
const COSINE_SAME: f32 = 0.6;

/// A topic as one reader sees it.
#[derive(Debug)]
pub(crate) struct Matching<'a> {
    look: Look<'a, 'a>,
    spaces: Vec<(&'a Vectors, Vec<(Probe, f32)>)>,
}

/// How well one unit matches.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Match {
    /// By words.
    pub lexical: f32,
    /// By meaning.
    pub semantic: f32,
}

/// Who stands beside a unit, as far as the reader sees.
pub(crate) struct Beside<'a> {
    pub state: &'a State,
    pub seen: &'a Seen,
}

impl Neighbours for Beside<'_> {
    fn before(&self, ordinal: u32) -> Option<u32> {
        let next = |at: &u32| self.state.units.before(*at);
        std::iter::successors(next(&ordinal), next).find(|at| self.seen.has(*at))
    }

    fn after(&self, ordinal: u32) -> Option<u32> {
        let next = |at: &u32| self.state.units.after(*at);
        std::iter::successors(next(&ordinal), next).find(|at| self.seen.has(*at))
    }
}

impl<'a> Matching<'a> {
    /// Looks at the index with a topic. `second` is the topic's vector by the second model, if it has one.
    pub(crate) fn new(
        index: &'a Index,
        topic: &'a Topic,
        second: Option<&[f32]>,
        seen: &'a Seen,
    ) -> Self {
        let probe = |space: &'a Vectors, vector: &[f32], weight| {
            space.probe(vector).map(|probe| (probe, weight))
        };
        let first = index.vectors();
        let own: Vec<_> = topic
            .vectors
            .iter()
            .filter_map(|(vector, weight)| probe(first, vector, *weight))
            .collect();
        // The stronger model comes first; a unit that it does not know yet is left to the built-in one.
        let stronger = index.second().zip(second);
        let stronger =
            stronger.and_then(|(space, vector)| Some((space, probe(space, vector, 1.0)?)));
        let mut spaces: Vec<_> =
            stronger.into_iter().map(|(space, probe)| (space, vec![probe])).collect();
        spaces.push((first, own));
        Self { look: index.lexical().look(&topic.query, seen), spaces }
    }

    /// Adds a meaning to look for.
    pub(crate) fn also(&mut self, vector: &[f32], weight: f32) {
        if let Some((space, probes)) = self.spaces.last_mut() {
            probes.extend(space.probe(vector).map(|probe| (probe, weight)));
        }
    }

    /// The best units by their own words and by meaning, at most `limit` by each way.
    pub(crate) fn best(&self, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let mut best: Vec<u32> =
            self.look.best(limit, accept).into_iter().map(|hit| hit.ordinal).collect();
        for (space, probes) in &self.spaces {
            for (probe, _) in probes {
                let near = space.nearest(probe, limit, accept);
                best.extend(near.into_iter().map(|hit| hit.ordinal));
            }
        }
        best
    }

    /// How well each of `ordinals` matches, relative to the best match among them.
    pub(crate) fn of(&self, ordinals: &[u32], beside: &Beside<'_>) -> Vec<Match> {
        let mut matches = self.by_words(ordinals, beside);
        for (space, probes) in self.spaces.iter().rev() {
            let cosines: Vec<Option<f32>> =
                ordinals.iter().map(|ordinal| nearest_of(space, probes, *ordinal)).collect();
            let best = cosines.iter().flatten().copied().fold(COSINE_MIN, f32::max);
            for (unit, cosine) in matches.iter_mut().zip(cosines) {
                unit.semantic = cosine.map_or(unit.semantic, |cosine| relative(cosine, best));
            }
        }
        matches
    }

    /// As [`Self::of`], but meaning counts outright: a reader that says little of itself has few words to
    /// go by, and what is least far from them is not therefore near.
    pub(crate) fn outright(&self, ordinals: &[u32], beside: &Beside<'_>) -> Vec<Match> {
        let mut matches = self.by_words(ordinals, beside);
        for (unit, ordinal) in matches.iter_mut().zip(ordinals) {
            let nearest =
                self.spaces.iter().find_map(|(space, probes)| nearest_of(space, probes, *ordinal));
            unit.semantic = nearest.map_or(0.0, |cosine| {
                ((cosine - COSINE_MIN) / (COSINE_SAME - COSINE_MIN)).clamp(0.0, 1.0)
            });
        }
        matches
    }

    fn by_words(&self, ordinals: &[u32], beside: &Beside<'_>) -> Vec<Match> {
        let words = self.look.scores(ordinals, beside);
        let best = words.iter().copied().fold(0.0, f32::max);
        let of = |raw| Match { lexical: relative(raw, best), semantic: 0.0 };
        words.into_iter().map(of).collect()
    }

    /// The words of the topic that each of `ordinals` has.
    pub(crate) fn shared_words(&self, ordinals: &[u32]) -> Vec<Vec<String>> {
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        self.look.shared_words(ordinals).into_iter().map(owned).collect()
    }
}

/// How close a unit is to the closest of several meanings.
fn nearest_of(space: &Vectors, probes: &[(Probe, f32)], ordinal: u32) -> Option<f32> {
    let weighted = probes.iter().filter_map(|(probe, weight)| {
        space.similarity(probe, ordinal).map(|cosine| cosine * weight)
    });
    weighted.reduce(f32::max)
}
