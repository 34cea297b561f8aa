//! Chooses and ranks the units for an ATTUNE: candidates, one exact scoring pass, diversity. What each
//! number means is in `docs/ranking.md`. Works on the published state alone; texts are fetched later,
//! for the few that are returned.

use std::collections::BTreeSet;

use quipu_recall::{
    Query, Seen, WeightError, WeightSets, Weights,
    rank::{
        diversity::{Candidate, Diversity, Ranked, rank_with},
        score::{self, Score, Signals},
    },
    text::tokens::Encoding,
};
use quipu_wire::akashik::{AttunePayload, Mode, Scope, Tokenizer};

use crate::{
    base::limits::{CANDIDATES_BY_TASK, EXACT_RANK_UNITS_MAX, TASK_UNITS_MEANT},
    read::{
        attune::{
            budget,
            filter::{Filter, Without},
            query::Interests,
            roles::RoleAlignment,
            similarity::{Beside, Match, Matching},
        },
        view::Published,
    },
};
use quipu_core::{
    Sight, State,
    state::{AgentEntry, LinkTarget, Name, UnitDetails, is_standing},
};

/// The least span over which recency is measured, so that a young Field does not age at once.
const RECENCY_SPAN_MIN: u64 = 64;
/// What the meaning of the reader's task counts beside its interests.
const TASK_MEANING: f32 = 0.8;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingOptions {
    /// What each signal is worth.
    pub weights: WeightSets,
    /// How tokens are counted where a scope does not say.
    pub encoding: Encoding,
    /// Up to so many eligible units each of them is scored; beyond, candidates are chosen first.
    pub exact_units_max: usize,
}

impl Default for RankingOptions {
    fn default() -> Self {
        let (weights, encoding) = (WeightSets::default(), Encoding::default());
        Self { weights, encoding, exact_units_max: EXACT_RANK_UNITS_MAX }
    }
}

impl RankingOptions {
    /// The defaults with some weights changed, as [`WeightSets::changed`] reads them, and a tokenizer.
    pub fn new(weights: &str, tokenizer: Tokenizer) -> Result<Self, WeightError> {
        let weights = WeightSets::default().changed(weights)?;
        Ok(Self { weights, encoding: budget::encoding(tokenizer), ..Self::default() })
    }
}

/// What was chosen, best first.
#[derive(Debug)]
pub(crate) struct Selection {
    pub picks: Vec<Pick>,
    /// How many units passed the filters.
    pub units_available: usize,
    /// How many passed the filters but scored below the threshold.
    pub below_threshold: usize,
    /// Where little was chosen: what became of the rest.
    pub left_out: Vec<(Without, usize)>,
    /// The words of the hint, for what is cut short.
    pub asked: Query,
}

#[derive(Debug)]
pub(crate) struct Pick {
    pub ordinal: u32,
    pub relevance: f32,
    /// The share that was taken off for the sake of diversity.
    pub discount: f32,
    pub score: Score,
    /// The words it shares with the hint.
    pub hint_words: Vec<String>,
    /// The words it shares with the reader's role and interests.
    pub own_words: Vec<String>,
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
    let asked = Interests::new(&published.state, agent, payload);
    let request = Request::new(published, agent, &seen, &asked, payload, options, second);
    let units_available = request.filter.count();
    let candidates = request.candidates(units_available);
    let (mut ranked, mut scored) = request.rank(&candidates);
    let chosen = ranked.len();
    if let Some(threshold) = payload.scope.relevance_threshold {
        ranked.retain(|unit| f64::from(unit.score) >= threshold);
    }
    // What was not even chosen scores no better than what was, so it is below the threshold too.
    let is_cut = ranked.len() < chosen;
    let below_threshold = if is_cut { units_available - ranked.len() } else { 0 };
    scored.sort_unstable_by_key(|entry| entry.ordinal);
    let few = ranked.len() < payload.scope.max_units.min(FEW);
    let left_out = if few { request.filter.left_out() } else { Vec::new() };
    let picks = request.describe(ranked, &scored);
    let asked = asked.hint.map_or_else(Query::default, |topic| topic.query);
    Selection { picks, units_available, below_threshold, left_out, asked }
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
    asked: &'a Interests,
    hint: Option<Matching<'a>>,
    own: Matching<'a>,
    weights: Weights,
    exact_units_max: usize,
    /// Whether the reader works on a task: the one it names, else the one it was given.
    has_task: bool,
    task: Option<Name>,
    task_units: BTreeSet<u32>,
    near_task: BTreeSet<u32>,
    roles: RoleAlignment,
}

/// What is scored: the candidates, and what follows only to fill the list.
struct Candidates {
    ordinals: Vec<u32>,
    /// How many of them are candidates.
    compared: usize,
}

/// A unit with its score, and what that came from: few of them are ever explained.
struct Scored {
    ordinal: u32,
    value: f32,
    signals: Signals,
    same_task: bool,
}

impl<'a> Request<'a> {
    fn new(
        published: &'a Published,
        agent: &AgentEntry,
        seen: &'a Seen,
        asked: &'a Interests,
        payload: &'a AttunePayload,
        options: &RankingOptions,
        second: Option<&[f32]>,
    ) -> Self {
        let (state, scope, index) = (&published.state, &payload.scope, &published.index);
        let sets = &options.weights;
        let weights = if asked.hint.is_some() { sets.hinted } else { sets.unhinted };
        let weights =
            scope.recency_weight.map_or(weights, |share| weights.recency_weight(small(share)));
        let task_id = scope.active_task_id.as_deref().or(agent.current_task.as_deref());
        let task = task_id.and_then(|task| state.names.find(task));
        let of_task = task.map_or(&[][..], |task| state.units.of_task(task));
        let task_units: BTreeSet<u32> = of_task
            .iter()
            .rev()
            .copied()
            .filter(|&at| seen.has(at))
            .take(CANDIDATES_BY_TASK)
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
            exact_units_max: options.exact_units_max,
            has_task: task_id.is_some(),
            task,
            task_units,
            near_task,
            roles: RoleAlignment::new(&scope.role),
        }
    }

    /// All that are eligible where they are few; else the best by each way to be worth a look. Whoever asks
    /// for more units than that is given the newest of the rest, after the candidates: how much is asked
    /// for never changes the order of what comes first.
    fn candidates(&self, available: usize) -> Candidates {
        if available <= self.exact_units_max {
            let all: Vec<u32> = self.filter.accepted().collect();
            return Candidates { compared: all.len(), ordinals: all };
        }
        let accept = |at: u32| self.filter.accepts(at);
        let standing = self.state.units.standing().iter().rev().copied();
        let topic = self.hint.as_ref().unwrap_or(&self.own);
        let matching = topic.best(&accept);
        let beside: Vec<u32> =
            matching.iter().take(LENDING).flat_map(|&at| self.beside(at)).collect();
        let mut chosen = matching;
        chosen.extend(self.filter.accepted().take(NEWEST));
        let more = beside.into_iter().chain(self.task_units.iter().copied());
        chosen.extend(more.chain(self.near_task.iter().copied()).filter(|&at| accept(at)));
        chosen.extend(standing.filter(|&at| accept(at)).take(STANDING));
        chosen.sort_unstable();
        chosen.dedup();
        let compared = chosen.len();
        let missing = self.scope.max_units.saturating_sub(compared);
        let rest = self.filter.accepted().filter(|at| chosen.binary_search(at).is_err());
        let rest: Vec<u32> = rest.take(missing).collect();
        chosen.extend(rest);
        Candidates { compared, ordinals: chosen }
    }

    const fn neighbours(&self) -> Beside<'_> {
        Beside { state: self.state, seen: self.seen, filter: &self.filter }
    }

    /// The units right before and after one.
    fn beside(&self, ordinal: u32) -> impl Iterator<Item = u32> {
        use quipu_recall::Neighbours as _;
        let beside = self.neighbours();
        beside.before(ordinal).into_iter().chain(beside.after(ordinal))
    }

    fn score(&self, candidates: &Candidates) -> Vec<Scored> {
        let beside = self.neighbours();
        let Candidates { ordinals, compared } = candidates;
        let none = || vec![Match::default(); ordinals.len()];
        let hint =
            self.hint.as_ref().map_or_else(none, |hint| hint.of(ordinals, *compared, &beside));
        let own = self.own.outright(ordinals, *compared);
        let matches: Vec<(Match, Match)> = hint.into_iter().zip(own).collect();
        let mut scored = Vec::with_capacity(ordinals.len());
        for (ordinals, matches) in ordinals.chunks(FETCHED).zip(matches.chunks(FETCHED)) {
            self.state.units.fetch(ordinals);
            scored.extend(ordinals.iter().zip(matches).filter_map(|(&ordinal, (hint, own))| {
                let (signals, same_task) = self.signals(ordinal, *hint, *own)?;
                let value = score::value(&signals, &self.weights);
                Some(Scored { ordinal, value, signals, same_task })
            }));
        }
        scored
    }

    fn signals(&self, ordinal: u32, hint: Match, own: Match) -> Option<(Signals, bool)> {
        let flags = self.state.units.flags(ordinal)?;
        let details = self.state.units.details(ordinal)?;
        // Counted in units that the reader sees, so that hidden ones make nothing older.
        let all = self.seen.count(self.state.units.next_ordinal());
        let since = all.saturating_sub(self.seen.count(ordinal.saturating_add(1)));
        let same_task = self.task.is_some() && details.task == self.task;
        let is_hinted = self.hint.is_some();
        let is_rule = is_standing(flags.memory_type) && self.published.index.is_rule(ordinal);
        let signals = Signals {
            lexical: is_hinted.then_some(hint.lexical),
            semantic: is_hinted.then_some(hint.semantic),
            author: (!self.asked.named.is_empty())
                .then(|| flag(self.asked.named.contains(&flags.author)) * self.topic(hint)),
            interests: (!self.own.is_empty()).then(|| own.either()),
            recency: score::recency(since.into(), u64::from(all).max(RECENCY_SPAN_MIN)),
            role: self.roles.with(details.role, self.state),
            type_importance: score::type_importance(flags.memory_type.as_str()),
            standing: flag(is_rule),
            confidence: details.score.map(small),
            // Whether a task was named decides, not whether anybody worked on it: that could be hidden.
            task: self.has_task.then(|| flag(same_task)),
            relation: self.has_task.then(|| self.relation(ordinal, details)),
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

    /// The candidates in order, then the rest.
    fn rank(&self, candidates: &Candidates) -> (Vec<Ranked>, Vec<Scored>) {
        let scored = self.score(candidates);
        let (chosen, rest) = scored.split_at(candidates.compared.min(scored.len()));
        // Whoever lets recency decide alone wants the newest first, whoever wrote it.
        let by_recency = self.scope.recency_weight.is_some_and(|share| share >= 1.0);
        let diversity = if by_recency { Diversity::NONE } else { Diversity::default() };
        let max_units = self.scope.max_units;
        let mut ranked = rank_with(self.to_rank(chosen), max_units, diversity);
        // The rest stays in its order, newest first, so that more of it changes nothing before it.
        let mut score = ranked.last().map_or(1.0, |unit| unit.score);
        for unit in rest.iter().take(max_units - ranked.len()) {
            score = score.min(unit.value);
            ranked.push(Ranked { ordinal: unit.ordinal, score, discount: 0.0 });
        }
        (ranked, scored)
    }

    fn to_rank(&self, scored: &[Scored]) -> Vec<Candidate> {
        let candidate = |Scored { ordinal, value, .. }: &Scored| {
            let author = self.state.units.flags(*ordinal)?.author.number();
            let tie = u64::from(*ordinal);
            Some(Candidate { ordinal: *ordinal, author, score: *value, tie })
        };
        scored.iter().filter_map(candidate).collect()
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
                let Scored { signals, same_task, .. } = scored.get(at)?;
                Some(Pick {
                    ordinal: unit.ordinal,
                    relevance: unit.score,
                    discount: unit.discount,
                    score: score::score(signals, &self.weights),
                    hint_words,
                    own_words,
                    same_task: *same_task,
                })
            })
            .collect()
    }
}

/// Units whose details are fetched from memory together.
const FETCHED: usize = 32;
/// The newest units that are always candidates.
const NEWEST: usize = 64;
/// The newest units with a standing type that are always candidates.
const STANDING: usize = 128;
/// The best matches by words whose neighbours are candidates too.
const LENDING: usize = 64;

const fn flag(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

fn linked_units(unit: &UnitDetails) -> impl Iterator<Item = u32> {
    unit.links.iter().filter_map(|link| match link.target {
        LinkTarget::Unit(ordinal) => Some(ordinal),
        LinkTarget::Foreign(_) => None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a fraction needs no more digits to rank by")]
pub(crate) fn small(fraction: f64) -> f32 {
    fraction as f32
}
