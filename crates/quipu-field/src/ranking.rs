//! Chooses and ranks the units for an ATTUNE: filters, candidates, one exact scoring pass, diversity.
//! Works on the published state alone; texts are fetched later, for the few that are returned.

use std::collections::BTreeSet;

use quipu_recall::{
    Query, Scores,
    rank::{Candidate, Diversity, Ranked, rank_with},
    score::{self, Score, Signals, Weights},
};
use quipu_wire::akashik::{AttunePayload, MemoryType, Mode, Scope, TemporalLayer, UnitStatus};

use crate::{
    limits::{CANDIDATES_PER_SOURCE, EXACT_RANK_UNITS_MAX},
    state::{AgentEntry, LinkTarget, Name, State, UnitDetails, UnitFlags},
    view::Published,
    visibility::Sight,
};

/// How much a word counts, by where the agent said it.
const HINT_WEIGHT: f32 = 1.0;
pub(crate) const INTEREST_WEIGHT: f32 = 0.5;
pub(crate) const ROLE_WEIGHT: f32 = 0.3;
/// The least span over which recency is measured, so that a young Field does not age at once.
const RECENCY_SPAN_MIN: u64 = 64;

/// What was chosen, best first.
#[derive(Debug)]
pub(crate) struct Selection {
    /// The chosen units.
    pub picks: Vec<Pick>,
    /// How many units passed the filters.
    pub units_available: usize,
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
    /// The words it shares with what the agent said.
    pub shared_words: Vec<String>,
    /// Whether it belongs to the agent's task.
    pub same_task: bool,
}

/// Chooses and ranks.
#[must_use]
pub(crate) fn select(
    published: &Published,
    agent: &AgentEntry,
    sight: &Sight<'_>,
    payload: &AttunePayload,
) -> Selection {
    let request = Request::new(published, agent, sight, payload);
    let units_available = request.count();
    let candidates = request.candidates(units_available);
    let best = candidates.iter().map(|&at| request.raw_lexical(at)).fold(0.0, f32::max);
    let mut scored: Vec<(u32, Score, bool)> = candidates
        .into_iter()
        .filter_map(|ordinal| {
            let (signals, same_task) = request.signals(ordinal, best)?;
            Some((ordinal, score::score(&signals, &request.weights), same_task))
        })
        .collect();
    scored.sort_unstable_by_key(|(ordinal, ..)| *ordinal);
    let ranked = request.rank(&scored);
    let picks = request.describe(ranked, &scored);
    Selection { picks, units_available }
}

/// An ATTUNE with everything about it that does not change from unit to unit.
struct Request<'a> {
    state: &'a State,
    published: &'a Published,
    sight: &'a Sight<'a>,
    scope: &'a Scope,
    own: Name,
    first: u32,
    query: Query,
    scores: Option<Scores>,
    weights: Weights,
    task: Option<Name>,
    task_units: BTreeSet<u32>,
    near_task: BTreeSet<u32>,
}

impl<'a> Request<'a> {
    fn new(
        published: &'a Published,
        agent: &AgentEntry,
        sight: &'a Sight<'a>,
        payload: &'a AttunePayload,
    ) -> Self {
        let state = &published.state;
        let scope = &payload.scope;
        let query = query(agent, payload);
        let scores = (!query.is_empty()).then(|| published.index.lexical().scores(&query));
        let weights = Weights::default();
        let weights =
            scope.recency_weight.map_or(weights, |share| weights.recency_weight(small(share)));
        let task = scope.active_task_id.as_deref().and_then(|task| state.names.find(task));
        let task_units: BTreeSet<u32> = task
            .map(|task| state.units.of_task(task).iter().rev().take(CANDIDATES_PER_SOURCE))
            .into_iter()
            .flatten()
            .copied()
            .filter(|&at| sight.sees(at))
            .collect();
        let near_task = task_units
            .iter()
            .filter_map(|&at| state.units.details(at))
            .flat_map(linked_units)
            .collect();
        let first = state.units.first_since(payload.since());
        let own = agent.name;
        Self {
            state,
            published,
            sight,
            scope,
            own,
            first,
            query,
            scores,
            weights,
            task,
            task_units,
            near_task,
        }
    }

    fn is_eligible(&self, flags: &UnitFlags) -> bool {
        let current = match flags.status {
            UnitStatus::Superseded | UnitStatus::Retracted => false,
            UnitStatus::Draft => !self.scope.exclude_drafts,
            UnitStatus::Active | UnitStatus::Contested | UnitStatus::PendingEnrichment => true,
        };
        current
            && !flags.purged
            && (self.scope.include_own || flags.author != self.own)
            && (self.scope.include_archived || !flags.archived)
            && self.is_in_layers(flags.memory_type)
    }

    fn is_in_layers(&self, memory_type: MemoryType) -> bool {
        let layers = &self.scope.temporal_layers;
        layers.is_empty() || layer(memory_type).is_none_or(|layer| layers.contains(&layer))
    }

    fn accepts(&self, ordinal: u32) -> bool {
        ordinal >= self.first
            && self.state.units.flags(ordinal).is_some_and(|flags| self.is_eligible(flags))
            && self.sight.sees(ordinal)
    }

    fn count(&self) -> usize {
        let units = (self.first..).zip(self.state.units.flags_from(self.first));
        units.filter(|(at, unit)| self.is_eligible(unit) && self.sight.sees(*at)).count()
    }

    /// All that are eligible where they are few; else the best by each way to be worth a look.
    fn candidates(&self, available: usize) -> BTreeSet<u32> {
        let eligible =
            || (self.first..self.state.units.next_ordinal()).rev().filter(|&at| self.accepts(at));
        if available <= EXACT_RANK_UNITS_MAX {
            return eligible().collect();
        }
        let limit = CANDIDATES_PER_SOURCE.max(self.scope.max_units);
        let standing = self.state.units.standing().iter().rev().copied();
        let lexical = self.scores.as_ref().map(|scores| scores.top(limit, &|at| self.accepts(at)));
        eligible()
            .take(limit)
            .chain(standing.filter(|&at| self.accepts(at)).take(CANDIDATES_PER_SOURCE))
            .chain(self.task_units.iter().copied().filter(|&at| self.accepts(at)))
            .chain(self.near_task.iter().copied().filter(|&at| self.accepts(at)))
            .chain(lexical.into_iter().flatten().map(|hit| hit.ordinal))
            .collect()
    }

    fn raw_lexical(&self, ordinal: u32) -> f32 {
        self.scores.as_ref().map_or(0.0, |scores| scores.of(ordinal))
    }

    fn signals(&self, ordinal: u32, best: f32) -> Option<(Signals, bool)> {
        let flags = self.state.units.flags(ordinal)?;
        let details = self.state.units.details(ordinal)?;
        let newest = self.state.units.next_ordinal().saturating_sub(1);
        let span = u64::try_from(self.state.units.len()).unwrap_or(u64::MAX).max(RECENCY_SPAN_MIN);
        let same_task = self.task.is_some() && details.task == self.task;
        let role = self.state.names.text(details.role);
        let signals = Signals {
            lexical: self.scores.as_ref().map(|_| score::lexical(self.raw_lexical(ordinal), best)),
            recency: score::recency(u64::from(newest.saturating_sub(ordinal)), span),
            role: role_alignment(&self.scope.role, role),
            type_importance: score::type_importance(flags.memory_type.as_str()),
            confidence: details.score.map(small),
            task: if same_task { 1.0 } else { 0.0 },
            relation: self.relation(ordinal, details),
            is_draft: details.mode == Mode::Draft,
        };
        Some((signals, same_task))
    }

    fn relation(&self, ordinal: u32, details: &UnitDetails) -> f32 {
        let linked = self.near_task.contains(&ordinal)
            || linked_units(details).any(|target| self.task_units.contains(&target));
        if linked { 1.0 } else { 0.0 }
    }

    fn rank(&self, scored: &[(u32, Score, bool)]) -> Vec<Ranked> {
        let candidates = scored
            .iter()
            .filter_map(|(ordinal, score, _)| {
                let author = self.state.units.flags(*ordinal)?.author.number();
                let tie = u64::from(*ordinal);
                Some(Candidate { ordinal: *ordinal, author, score: score.value, tie })
            })
            .collect();
        // Whoever lets recency decide alone wants the newest first, whoever wrote it.
        let by_recency = self.scope.recency_weight.is_some_and(|share| share >= 1.0);
        let diversity = if by_recency { Diversity::NONE } else { Diversity::default() };
        let mut ranked = rank_with(candidates, self.scope.max_units, diversity);
        if let Some(threshold) = self.scope.relevance_threshold {
            ranked.retain(|unit| f64::from(unit.score) >= threshold);
        }
        ranked
    }

    fn describe(&self, ranked: Vec<Ranked>, scored: &[(u32, Score, bool)]) -> Vec<Pick> {
        let ordinals: Vec<u32> = ranked.iter().map(|unit| unit.ordinal).collect();
        let words = self.published.index.lexical().matched_terms(&self.query, &ordinals);
        ranked
            .into_iter()
            .zip(words)
            .filter_map(|(unit, words)| {
                let at =
                    scored.binary_search_by_key(&unit.ordinal, |(ordinal, ..)| *ordinal).ok()?;
                let (_, score, same_task) = scored.get(at)?;
                Some(Pick {
                    ordinal: unit.ordinal,
                    relevance: unit.score,
                    discount: unit.discount,
                    score: score.clone(),
                    shared_words: words.into_iter().map(str::to_owned).collect(),
                    same_task: *same_task,
                })
            })
            .collect()
    }
}

/// What the agent said, as words to look for. It gives no query; who it is and what it is about to
/// do stand for one.
fn query(agent: &AgentEntry, payload: &AttunePayload) -> Query {
    let scope = &payload.scope;
    let mut parts: Vec<(&str, f32)> = Vec::new();
    parts.extend(payload.context_hint.as_deref().map(|hint| (hint, HINT_WEIGHT)));
    let interests = scope.interests.iter().chain(&agent.interests);
    parts.extend(interests.map(|interest| (interest.as_str(), INTEREST_WEIGHT)));
    parts.push((&scope.role, ROLE_WEIGHT));
    Query::new(&parts)
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

/// What a type speaks of. Directives hold at all times, so no layer leaves them out.
const fn layer(memory_type: MemoryType) -> Option<TemporalLayer> {
    match memory_type {
        MemoryType::Finding
        | MemoryType::Decision
        | MemoryType::Synthesis
        | MemoryType::Correction => Some(TemporalLayer::Past),
        MemoryType::Observation
        | MemoryType::Assumption
        | MemoryType::Question
        | MemoryType::Constraint
        | MemoryType::Contradiction => Some(TemporalLayer::Present),
        MemoryType::Intention => Some(TemporalLayer::Future),
        MemoryType::HumanDirective => None,
    }
}
