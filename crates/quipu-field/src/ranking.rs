//! Chooses and ranks the units for an ATTUNE: candidates, one exact scoring pass, diversity. What each
//! number means is in `docs/ranking.md`. Works on the published state alone; texts are fetched later,
//! for the few that are returned.

use std::collections::BTreeSet;

use quipu_recall::{
    Seen, WeightError, WeightSets, Weights,
    rank::{Candidate, Diversity, Ranked, rank_with},
    score::{self, Score, Signals},
    tokens::Encoding,
};
use quipu_wire::akashik::{AttunePayload, Mode, Scope, Tokenizer};

use crate::{
    asking::Asked,
    filtering::{Filter, Without},
    limits::{CANDIDATES_PER_SOURCE, EXACT_RANK_UNITS_MAX, TASK_UNITS_MEANT},
    matching::{Beside, Match, Matching},
    offering,
    state::{AgentEntry, LinkTarget, Name, State, UnitDetails, is_standing},
    view::Published,
    visibility::Sight,
};

/// The least span over which recency is measured, so that a young Field does not age at once.
const RECENCY_SPAN_MIN: u64 = 64;
/// What words and meaning count towards what a reader said of itself.
const OWN_LEXICAL: f32 = 0.5;
const OWN_SEMANTIC: f32 = 0.7;
/// What the meaning of the reader's task counts beside its interests.
const TASK_MEANING: f32 = 0.8;

/// How a Field ranks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankingOptions {
    /// What each signal is worth.
    pub weights: WeightSets,
    /// How tokens are counted where a scope does not say.
    pub encoding: Encoding,
}

impl RankingOptions {
    /// The defaults with some weights changed, as [`WeightSets::changed`] reads them, and a tokenizer.
    pub fn new(weights: &str, tokenizer: Tokenizer) -> Result<Self, WeightError> {
        let weights = WeightSets::default().changed(weights)?;
        Ok(Self { weights, encoding: offering::encoding(tokenizer) })
    }
}

/// What was chosen, best first.
#[derive(Debug)]
pub(crate) struct Selection {
    /// The chosen units.
    pub picks: Vec<Pick>,
    /// How many units passed the filters.
    pub units_available: usize,
    /// How many were chosen but scored below the threshold.
    pub below_threshold: usize,
    /// Where little was chosen: what became of the rest.
    pub left_out: Vec<(Without, usize)>,
}

/// A chosen unit.
#[derive(Debug)]
pub(crate) struct Pick {
    /// Which one.
    pub ordinal: u32,
    /// Its score, all in all.
    pub relevance: f32,
    /// The share that was taken off for the sake of diversity.
    pub discount: f32,
    /// How its score came about.
    pub score: Score,
    /// The words it shares with the hint.
    pub hint_words: Vec<String>,
    /// The words it shares with the reader's role and interests.
    pub own_words: Vec<String>,
    /// Whether it belongs to the agent's task.
    pub same_task: bool,
}

/// Chooses and ranks. `second` is the hint's vector by the second model, where there is one.
#[must_use]
pub(crate) fn select(
    published: &Published,
    agent: &AgentEntry,
    sight: &Sight<'_>,
    payload: &AttunePayload,
    options: &RankingOptions,
    second: Option<&[f32]>,
) -> Selection {
    let seen = sight.seen();
    let asked = Asked::new(&published.state, agent, payload);
    let request = Request::new(published, agent, &seen, &asked, payload, options, second);
    let units_available = request.filter.count();
    let candidates: Vec<u32> = request.candidates(units_available).into_iter().collect();
    let scored = request.score(&candidates);
    let (ranked, below_threshold) = request.rank(&scored);
    let few = ranked.len() < payload.scope.max_units.min(FEW);
    let left_out = if few { request.filter.left_out() } else { Vec::new() };
    let picks = request.describe(ranked, &scored);
    Selection { picks, units_available, below_threshold, left_out }
}

/// With fewer units than this, a reader is told why there are not more.
const FEW: usize = 3;

/// An ATTUNE with everything about it that does not change from unit to unit.
struct Request<'a> {
    state: &'a State,
    published: &'a Published,
    seen: &'a Seen,
    scope: &'a Scope,
    filter: Filter<'a>,
    asked: &'a Asked,
    hint: Option<Matching<'a>>,
    own: Matching<'a>,
    weights: Weights,
    task: Option<Name>,
    task_units: BTreeSet<u32>,
    near_task: BTreeSet<u32>,
}

/// A candidate with its score.
struct Scored {
    ordinal: u32,
    score: Score,
    same_task: bool,
}

impl<'a> Request<'a> {
    fn new(
        published: &'a Published,
        agent: &AgentEntry,
        seen: &'a Seen,
        asked: &'a Asked,
        payload: &'a AttunePayload,
        options: &RankingOptions,
        second: Option<&[f32]>,
    ) -> Self {
        let (state, scope, index) = (&published.state, &payload.scope, &published.index);
        let sets = &options.weights;
        let weights = if asked.hint.is_some() { sets.hinted } else { sets.unhinted };
        let weights =
            scope.recency_weight.map_or(weights, |share| weights.recency_weight(small(share)));
        let task = scope.active_task_id.as_deref().and_then(|task| state.names.find(task));
        let of_task = task.map_or(&[][..], |task| state.units.of_task(task));
        let task_units: BTreeSet<u32> = of_task
            .iter()
            .rev()
            .copied()
            .filter(|&at| seen.has(at))
            .take(CANDIDATES_PER_SOURCE)
            .collect();
        let near_task = task_units
            .iter()
            .filter_map(|&at| state.units.details(at))
            .flat_map(linked_units)
            .collect();
        let hint = asked.hint.as_ref().map(|topic| Matching::new(index, topic, second, seen));
        let mut own = Matching::new(index, &asked.own, None, seen);
        let meant: Vec<u32> = task_units.iter().rev().take(TASK_UNITS_MEANT).copied().collect();
        if let Some(meaning) = index.vectors().mean_of(&meant) {
            own.also(&meaning, TASK_MEANING);
        }
        let filter = Filter::new(state, seen, agent, payload);
        Self {
            state,
            published,
            seen,
            scope,
            filter,
            asked,
            hint,
            own,
            weights,
            task,
            task_units,
            near_task,
        }
    }

    /// All that are eligible where they are few; else the best by each way to be worth a look.
    fn candidates(&self, available: usize) -> BTreeSet<u32> {
        if available <= EXACT_RANK_UNITS_MAX {
            return self.filter.accepted().collect();
        }
        let accept = |at: u32| self.filter.accepts(at);
        let limit = CANDIDATES_PER_SOURCE.max(self.scope.max_units);
        let standing = self.state.units.standing().iter().rev().copied();
        let matching = self.hint.as_ref().unwrap_or(&self.own).best(limit, &accept);
        let beside: Vec<u32> = matching.iter().flat_map(|&at| self.beside(at)).collect();
        let mut chosen: BTreeSet<u32> =
            self.filter.accepted().take(self.scope.max_units.max(NEWEST)).collect();
        chosen.extend(matching);
        let more = beside.into_iter().chain(self.task_units.iter().copied());
        chosen.extend(more.chain(self.near_task.iter().copied()).filter(|&at| accept(at)));
        chosen.extend(standing.filter(|&at| accept(at)).take(CANDIDATES_PER_SOURCE));
        chosen
    }

    /// The units right before and after one.
    fn beside(&self, ordinal: u32) -> impl Iterator<Item = u32> {
        use quipu_recall::Neighbours as _;
        let beside = Beside { state: self.state, seen: self.seen };
        beside.before(ordinal).into_iter().chain(beside.after(ordinal))
    }

    fn score(&self, candidates: &[u32]) -> Vec<Scored> {
        let beside = Beside { state: self.state, seen: self.seen };
        let none = || vec![Match::default(); candidates.len()];
        let hint = self.hint.as_ref().map_or_else(none, |hint| hint.of(candidates, &beside));
        let own = self.own.outright(candidates, &beside);
        let matches = hint.into_iter().zip(own);
        let scored = candidates.iter().zip(matches).filter_map(|(&ordinal, (hint, own))| {
            let (signals, same_task) = self.signals(ordinal, hint, own)?;
            Some(Scored { ordinal, score: score::score(&signals, &self.weights), same_task })
        });
        scored.collect()
    }

    fn signals(&self, ordinal: u32, hint: Match, own: Match) -> Option<(Signals, bool)> {
        let flags = self.state.units.flags(ordinal)?;
        let details = self.state.units.details(ordinal)?;
        // Counted in units that the reader sees, so that hidden ones make nothing older.
        let all = self.seen.count(self.state.units.next_ordinal());
        let since = all.saturating_sub(self.seen.count(ordinal.saturating_add(1)));
        let same_task = self.task.is_some() && details.task == self.task;
        let role = self.state.names.text(details.role);
        let is_hinted = self.hint.is_some();
        let is_rule = is_standing(flags.memory_type) && self.published.index.is_rule(ordinal);
        let signals = Signals {
            lexical: is_hinted.then_some(hint.lexical),
            semantic: is_hinted.then_some(hint.semantic),
            author: (!self.asked.named.is_empty())
                .then(|| flag(self.asked.named.contains(&flags.author)) * self.topic(hint)),
            interests: Some(own.weighed(OWN_LEXICAL, OWN_SEMANTIC)),
            recency: score::recency(since.into(), u64::from(all).max(RECENCY_SPAN_MIN)),
            role: role_alignment(&self.scope.role, role),
            type_importance: score::type_importance(flags.memory_type.as_str()),
            standing: flag(is_rule),
            confidence: details.score.map(small),
            task: self.task.map(|_| flag(same_task)),
            relation: self.task.map(|_| self.relation(ordinal, details)),
            is_draft: details.mode == Mode::Draft,
        };
        Some((signals, same_task))
    }

    /// How well a unit matches the hint, by the weights in force.
    fn topic(&self, hint: Match) -> f32 {
        hint.weighed(self.weights.lexical, self.weights.semantic)
    }

    fn relation(&self, ordinal: u32, details: &UnitDetails) -> f32 {
        let linked = self.near_task.contains(&ordinal)
            || linked_units(details).any(|target| self.task_units.contains(&target));
        flag(linked)
    }

    /// The order, and how many were below the threshold.
    fn rank(&self, scored: &[Scored]) -> (Vec<Ranked>, usize) {
        let candidates = scored
            .iter()
            .filter_map(|Scored { ordinal, score, .. }| {
                let author = self.state.units.flags(*ordinal)?.author.number();
                let tie = u64::from(*ordinal);
                Some(Candidate { ordinal: *ordinal, author, score: score.value, tie })
            })
            .collect();
        // Whoever lets recency decide alone wants the newest first, whoever wrote it.
        let by_recency = self.scope.recency_weight.is_some_and(|share| share >= 1.0);
        let diversity = if by_recency { Diversity::NONE } else { Diversity::default() };
        let mut ranked = rank_with(candidates, self.scope.max_units, diversity);
        let chosen = ranked.len();
        if let Some(threshold) = self.scope.relevance_threshold {
            ranked.retain(|unit| f64::from(unit.score) >= threshold);
        }
        let below = chosen - ranked.len();
        (ranked, below)
    }

    fn describe(&self, ranked: Vec<Ranked>, scored: &[Scored]) -> Vec<Pick> {
        let ordinals: Vec<u32> = ranked.iter().map(|unit| unit.ordinal).collect();
        let none = || vec![Vec::new(); ordinals.len()];
        let hint = self.hint.as_ref().map_or_else(none, |hint| hint.shared_words(&ordinals));
        let own = self.own.shared_words(&ordinals);
        let words = hint.into_iter().zip(own);
        ranked
            .into_iter()
            .zip(words)
            .filter_map(|(unit, (hint_words, own_words))| {
                let at = scored.binary_search_by_key(&unit.ordinal, |entry| entry.ordinal).ok()?;
                let Scored { score, same_task, .. } = scored.get(at)?;
                Some(Pick {
                    ordinal: unit.ordinal,
                    relevance: unit.score,
                    discount: unit.discount,
                    score: score.clone(),
                    hint_words,
                    own_words,
                    same_task: *same_task,
                })
            })
            .collect()
    }
}

/// The newest units that are always candidates.
const NEWEST: usize = 64;

impl Match {
    /// Words and meaning together.
    fn weighed(self, lexical: f32, semantic: f32) -> f32 {
        let all = lexical + semantic;
        if all > 0.0 { (lexical * self.lexical + semantic * self.semantic) / all } else { 0.0 }
    }
}

const fn flag(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

fn linked_units(unit: &UnitDetails) -> impl Iterator<Item = u32> {
    unit.links.iter().filter_map(|link| match link.target {
        LinkTarget::Unit(ordinal) => Some(ordinal),
        LinkTarget::Foreign(_) => None,
    })
}

/// How close two roles are: the share of words that they have in common.
pub(crate) fn role_alignment(asked: &str, author: &str) -> f32 {
    let words = |role: &str| -> BTreeSet<String> {
        let role = role.to_lowercase();
        let split = |letter: char| !letter.is_alphanumeric();
        role.split(split).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (asked, author) = (words(asked), words(author));
    let all = asked.union(&author).count();
    if all == 0 { 0.0 } else { count(asked.intersection(&author).count()) / count(all) }
}

#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
fn count(number: usize) -> f32 {
    number as f32
}

#[expect(clippy::cast_possible_truncation, reason = "a fraction needs no more digits to rank by")]
pub(crate) fn small(fraction: f64) -> f32 {
    fraction as f32
}
