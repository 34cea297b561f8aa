//! How well units match a topic, by words and by meaning. Everything is measured over what the reader sees.

use quipu_recall::{
    Index, Neighbours, Probe, Seen, Vectors, WordSearch, index::around::Alone,
    rank::score::relative,
};

use crate::{
    base::limits::{CANDIDATES_BY_MEANING, CANDIDATES_BY_WORDS},
    read::attune::{filter::Filter, query::Topic},
};
use quipu_core::State;

/// Below this a cosine says nothing, so the best of a bad lot does not count as a match. By the built-in
/// model, a word or two and a sentence about something else are at 0.05 in the median.
const COSINE_MIN: f32 = 0.1;
/// From here on a sentence is about what a word or two name, as far as that model can tell.
const COSINE_SAME: f32 = 0.4;

/// A topic as one reader sees it.
#[derive(Debug)]
pub(crate) struct Matching<'a> {
    words: WordSearch<'a, 'a>,
    spaces: Vec<(&'a Vectors, Vec<(Probe, f32)>)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Match {
    /// By words.
    pub lexical: f32,
    /// By meaning.
    pub semantic: f32,
}

impl Match {
    /// Words and meaning together, each with its weight.
    pub(crate) fn weighed(self, lexical: f32, semantic: f32) -> f32 {
        let all = lexical + semantic;
        if all > 0.0 { (lexical * self.lexical + semantic * self.semantic) / all } else { 0.0 }
    }

    /// Words or meaning: the better one decides, and the other adds to it.
    pub(crate) fn either(self) -> f32 {
        let (more, less) = (self.lexical.max(self.semantic), self.lexical.min(self.semantic));
        (2.0 * more + less) / 3.0
    }
}

/// How many units on each side are looked at for one that lends its words.
const NEIGHBOURS_MAX: usize = 16;
/// What the words of a neighbour count where only the author holds the two together.
const LOOSE_SHARE: f32 = 0.4;

/// Who stands beside a unit, as far as the reader sees. A unit that cannot be in the answer lends
/// nothing, else the answer would have what stands beside it and not the unit itself.
pub(crate) struct Beside<'a> {
    pub state: &'a State,
    pub seen: &'a Seen,
    pub filter: &'a Filter<'a>,
}

impl Beside<'_> {
    /// The first unit of a row that lends its words to `ordinal`.
    fn lender(&self, ordinal: u32, row: impl Iterator<Item = u32>) -> Option<u32> {
        let author = |at| self.state.units.flags(at).map(|flags| flags.author);
        let needed = self.state.units.is_loose(ordinal).then(|| author(ordinal));
        row.filter(|at| self.seen.has(*at))
            .take(NEIGHBOURS_MAX)
            .filter(|at| needed.is_none_or(|needed| author(*at) == needed))
            .find(|at| self.filter.accepts(*at))
    }
}

impl Neighbours for Beside<'_> {
    fn before(&self, ordinal: u32) -> Option<u32> {
        let next = |at: &u32| self.state.units.before(*at);
        self.lender(ordinal, std::iter::successors(next(&ordinal), next))
    }

    fn after(&self, ordinal: u32) -> Option<u32> {
        let next = |at: &u32| self.state.units.after(*at);
        self.lender(ordinal, std::iter::successors(next(&ordinal), next))
    }

    fn share(&self, ordinal: u32) -> f32 {
        if self.state.units.is_loose(ordinal) { LOOSE_SHARE } else { 1.0 }
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
        let stronger = index.second().zip(second);
        let stronger =
            stronger.and_then(|(space, vector)| Some((space, probe(space, vector, 1.0)?)));
        let mut spaces: Vec<_> =
            stronger.into_iter().map(|(space, probe)| (space, vec![probe])).collect();
        spaces.push((first, own));
        Self { words: index.lexical().search(&topic.query, seen), spaces }
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.spaces.iter().all(|(_, probes)| probes.is_empty())
    }

    /// Adds a meaning to look for.
    pub(crate) fn also(&mut self, vector: &[f32], weight: f32) {
        if let Some((space, probes)) = self.spaces.last_mut() {
            probes.extend(space.probe(vector).map(|probe| (probe, weight)));
        }
    }

    /// The best units by their own words, then the nearest by each meaning.
    pub(crate) fn best(&self, accept: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let hits = self.words.best(CANDIDATES_BY_WORDS, accept);
        let mut best: Vec<u32> = hits.into_iter().map(|hit| hit.ordinal).collect();
        for (space, probes) in &self.spaces {
            let probes: Vec<&Probe> = probes.iter().map(|(probe, _)| probe).collect();
            let near = space.nearest_to_each(&probes, CANDIDATES_BY_MEANING, accept);
            best.extend(near.into_iter().flatten().map(|hit| hit.ordinal));
        }
        best
    }

    /// How well each of `ordinals` matches, relative to the best match among the first `compared`.
    pub(crate) fn of(&self, ordinals: &[u32], compared: usize, beside: &Beside<'_>) -> Vec<Match> {
        let mut matches = self.by_words(ordinals, compared, beside);
        let mut means = vec![(0.0_f32, 0.0_f32); ordinals.len()];
        for (space, probes) in &self.spaces {
            let cosines = nearest_of(space, probes, ordinals);
            let best = cosines.iter().take(compared).flatten().copied().fold(COSINE_MIN, f32::max);
            for ((sum, models), cosine) in means.iter_mut().zip(cosines) {
                if let Some(cosine) = cosine {
                    (*sum, *models) = (*sum + relative(cosine, best), *models + 1.0);
                }
            }
        }
        // Both models where both know the unit, else the one that does.
        let means: Vec<f32> = means.iter().map(|(sum, models)| relative(*sum, *models)).collect();
        let best = means.iter().take(compared).copied().fold(0.0, f32::max);
        // With one model alone, the best of a bad lot is not the measure.
        let best = if self.spaces.len() > 1 { best } else { 1.0 };
        for (unit, mean) in matches.iter_mut().zip(means) {
            unit.semantic = relative(mean, best);
        }
        matches
    }

    /// As [`Self::of`], but meaning counts outright: a reader that says little of itself has few words to
    /// go by, and the closest of many distant meanings is still distant. Neighbours lend nothing.
    pub(crate) fn outright(&self, ordinals: &[u32], compared: usize) -> Vec<Match> {
        let mut matches = self.by_words(ordinals, compared, &Alone);
        // The built-in model's: nobody says anything of itself in another one.
        let Some((space, probes)) = self.spaces.last() else { return matches };
        for (unit, nearest) in matches.iter_mut().zip(nearest_of(space, probes, ordinals)) {
            unit.semantic = nearest.map_or(0.0, |cosine| {
                ((cosine - COSINE_MIN) / (COSINE_SAME - COSINE_MIN)).clamp(0.0, 1.0)
            });
        }
        matches
    }

    fn by_words(&self, ordinals: &[u32], compared: usize, beside: &impl Neighbours) -> Vec<Match> {
        let words = self.words.scores(ordinals, beside);
        let best = words.iter().take(compared).copied().fold(0.0, f32::max);
        let of = |raw| Match { lexical: relative(raw, best), semantic: 0.0 };
        words.into_iter().map(of).collect()
    }

    /// The words of the topic that each of `ordinals` has.
    pub(crate) fn shared_words(&self, ordinals: &[u32]) -> Vec<Vec<String>> {
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        self.words.shared_words(ordinals).into_iter().map(owned).collect()
    }
}

/// How close each unit is to the closest of several meanings.
fn nearest_of(space: &Vectors, probes: &[(Probe, f32)], ordinals: &[u32]) -> Vec<Option<f32>> {
    let mut nearest = vec![None; ordinals.len()];
    for (probe, weight) in probes {
        let cosines = space.similarities(probe, ordinals);
        for (nearest, cosine) in nearest.iter_mut().zip(cosines) {
            let cosine = cosine.map(|cosine| cosine * weight);
            *nearest = nearest.take().into_iter().chain(cosine).reduce(f32::max);
        }
    }
    nearest
}
