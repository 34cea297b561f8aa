//! Owns the order of scored candidates, and that one loud author does not fill the list.
//! Knows neither why a candidate has its score nor how large it is (`budget` does).

use std::cmp::Ordering;

use crate::rank::score::unit;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The unit.
    pub ordinal: u32,
    /// Who wrote it; only compared.
    pub author: u32,
    /// From 0 to 1, as in [`Score::value`](crate::rank::score::Score::value).
    pub score: f32,
    /// Decides between equal scores: the higher comes first, so an epoch puts the newer first.
    pub tie: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The unit.
    pub ordinal: u32,
    /// The score after the discount; never rises along the list.
    pub score: f32,
    /// The share that was taken off because better units of the same author stand before it.
    pub discount: f32,
}

/// How much an author's further units lose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diversity {
    /// The share that each further unit loses on top of the one before it.
    pub step: f32,
    /// The most that any unit loses.
    pub most: f32,
}

impl Diversity {
    /// Takes nothing off: pure order by score.
    pub const NONE: Self = Self { step: 0.0, most: 0.0 };
}

impl Default for Diversity {
    /// The second unit of an author loses 1 %, the third 2 %, the sixth and all after it 5 %: enough to
    /// put another author's equal first. More costs recall (`docs/ranking.md`).
    fn default() -> Self {
        Self { step: 0.01, most: 0.05 }
    }
}

/// The best `max_units` candidates with the default [`Diversity`], best first.
///
/// The result does not depend on the order of `candidates`, and a smaller `max_units` gives a
/// prefix of what a larger one gives.
pub fn rank(candidates: Vec<Candidate>, max_units: usize) -> Vec<Ranked> {
    rank_with(candidates, max_units, Diversity::default())
}

/// As [`rank`], with a chosen discount.
pub fn rank_with(
    mut candidates: Vec<Candidate>,
    max_units: usize,
    diversity: Diversity,
) -> Vec<Ranked> {
    for candidate in &mut candidates {
        candidate.score = unit(candidate.score);
    }
    drop_hopeless(&mut candidates, max_units, diversity);
    candidates.sort_unstable_by(|a, b| a.author.cmp(&b.author).then_with(|| better_first(a, b)));
    // Greedy choice always takes an author's units from best to worst. So the discount of each is
    // known from its place among its author's own, and one sort gives what a greedy loop would.
    let mut placed: Vec<(Candidate, f32)> = Vec::with_capacity(candidates.len());
    for of_one_author in candidates.chunk_by(|a, b| a.author == b.author) {
        for (before, candidate) in of_one_author.iter().enumerate() {
            let discount = unit((diversity.step * before as f32).min(diversity.most));
            let score = candidate.score * (1.0 - discount);
            placed.push((Candidate { score, ..*candidate }, discount));
        }
    }
    placed.sort_unstable_by(|(a, _), (b, _)| {
        better_first(a, b).then_with(|| a.author.cmp(&b.author))
    });
    placed.truncate(max_units);
    let ranked = placed.into_iter().map(|(candidate, discount)| Ranked {
        ordinal: candidate.ordinal,
        score: candidate.score,
        discount,
    });
    ranked.collect()
}

/// Drops what cannot be among the best even if it loses nothing and the best lose the most, so that not
/// all of the candidates have to be sorted. Nobody whose place depends on a dropped one stays.
fn drop_hopeless(candidates: &mut Vec<Candidate>, max_units: usize, diversity: Diversity) {
    if max_units == 0 || max_units >= candidates.len() {
        return;
    }
    let mut scores: Vec<f32> = candidates.iter().map(|candidate| candidate.score).collect();
    let (_, last, _) = scores.select_nth_unstable_by(max_units - 1, |a, b| b.total_cmp(a));
    let least = *last * (1.0 - unit(diversity.most));
    candidates.retain(|candidate| candidate.score >= least);
}

fn better_first(a: &Candidate, b: &Candidate) -> Ordering {
    let by_score = b.score.total_cmp(&a.score);
    by_score.then_with(|| b.tie.cmp(&a.tie)).then_with(|| b.ordinal.cmp(&a.ordinal))
}
