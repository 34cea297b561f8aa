//! Holds one text against the published view: names candidates under the lock, and reads and judges
//! their texts without it. Only what the author may see is looked at.

use quipu_core::outline::Texts;
use std::sync::Arc;

use quipu_log::{Body, EngineError};
use quipu_recall::{
    Claim, Detector, Disagreement, ExplicitOnly, Method,
    detect::{Candidate, Judge, Opinion, Sieve},
};
use quipu_wire::akashik::{DetectedBy, UnitStatus};

use super::{
    backlog::{Backlog, Waiting},
    busy::{Busy, Going, Pace},
    options::DetectionOptions,
};
use crate::{
    base::{
        failure::with_causes,
        limits::{
            DETECT_AT_ONCE_MAX, DETECT_BUSY_PACE, DETECT_BUSY_RECORDS, DETECT_CANDIDATES_MAX,
            DETECT_PER_UNIT_MAX, INDEX_CHECK_PAUSE,
        },
    },
    read::{bodies::Bodies, view::View},
};
use quipu_core::{
    Origin, Sight, State,
    event::{ConflictBody, UnitBody},
    ids::ConflictId,
    rules::detect::{Finding, is_current},
};

/// Verdicts that are this much less sure than the surest one of a unit are dropped.
const SURENESS_SPREAD: f64 = 0.02;

/// What finds units that disagree, with everything it needs for it.
#[derive(Debug)]
pub(crate) struct Lookout {
    view: Arc<View>,
    bodies: Arc<Bodies>,
    origin: Arc<dyn Origin>,
    detector: Arc<dyn Detector>,
    judge: Option<Arc<dyn Judge>>,
    automatic: bool,
    budget_ms: u64,
    scan_units_max: usize,
    scan_ms_max: u64,
    records: Busy,
    pace: Pace,
    looking: Busy,
    pub(super) backlog: Backlog,
}

/// A text that is compared with those of other units.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subject {
    pub(crate) content: String,
    pub(crate) assumptions: Vec<String>,
    pub(crate) confidence: Option<f64>,
    pub(crate) agent: String,
    pub(crate) session: Option<String>,
    /// The authority of its author's credential.
    pub(crate) authority: u8,
    /// Its ordinal, if it is recorded already.
    pub(crate) ordinal: Option<u32>,
    /// The first ordinal to hold it against.
    pub(crate) from: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Detected {
    /// What was found, the surest first.
    pub(crate) found: Vec<Finding>,
    /// Whether every candidate was judged.
    pub(crate) finished: bool,
    /// The ordinal behind the last unit that was there to be compared with.
    pub(crate) up_to: u32,
}

struct Witness {
    ordinal: u32,
    closeness: f32,
    author: u32,
    position: u64,
    event: u32,
    score: Option<f64>,
    /// Whether the two are in an open conflict already.
    known: bool,
}

impl Lookout {
    pub(crate) fn new(
        view: Arc<View>,
        bodies: Arc<Bodies>,
        origin: Arc<dyn Origin>,
        options: DetectionOptions,
    ) -> Self {
        let automatic = options.automatic && options.detector.is_some();
        Self {
            view,
            bodies,
            origin,
            automatic,
            detector: options.detector.unwrap_or_else(|| Arc::new(ExplicitOnly)),
            judge: options.judge,
            budget_ms: options.budget_ms,
            scan_units_max: options.scan_units_max,
            scan_ms_max: options.scan_ms_max,
            records: Busy::default(),
            pace: Pace::default(),
            looking: Busy::default(),
            backlog: Backlog::default(),
        }
    }

    /// Who confirms or denies what is found.
    pub(crate) fn second_opinion(&self) -> Option<&dyn Judge> {
        self.judge.as_deref()
    }

    /// Whether RECORD looks for conflicts.
    pub(crate) const fn is_automatic(&self) -> bool {
        self.automatic
    }

    /// How many units one scan compares, and until when.
    pub(crate) fn scan_budget(&self) -> (usize, u64) {
        (self.scan_units_max, self.origin.now_ms().saturating_add(self.scan_ms_max))
    }

    pub(crate) fn is_past(&self, until_ms: u64) -> bool {
        self.origin.now_ms() >= until_ms
    }

    /// Notes that a RECORD of so many units goes on, until the answer is dropped.
    pub(crate) fn record(&self, units: usize) -> Going {
        // Whoever sends this fast sends in bulk, and does not wait for each unit to be looked at.
        if self.automatic {
            self.pace.note(self.origin.now_ms(), units);
        }
        self.records.enter()
    }

    /// Whether there are so many RECORDs that detection would slow them down.
    pub(super) fn is_busy(&self) -> bool {
        self.records.count() > DETECT_BUSY_RECORDS
            || self.pace.note(self.origin.now_ms(), 0) > DETECT_BUSY_PACE
    }

    /// The right to compare at once; none where the Field is busy, a judge must be asked, the texts are still being read, or there
    /// is no time for it.
    pub(crate) fn at_once(&self) -> Option<Going> {
        let is_quick = self.judge.is_none() && self.view.is_indexed();
        let may = self.budget_ms > 0 && is_quick && !self.is_busy();
        may.then(|| self.looking.try_enter(DETECT_AT_ONCE_MAX)).flatten()
    }

    /// Leaves units to the background.
    pub(crate) fn defer(&self, waiting: Vec<Waiting>) {
        self.backlog.push(waiting);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.backlog.len()
    }

    /// Waits until nothing waits for the background.
    pub(crate) fn settle(&self) {
        self.backlog.settle();
    }

    /// Waits until there is an index to search, or nobody wants it any more.
    pub(super) fn await_index(&self, is_wanted: &dyn Fn() -> bool) {
        while !self.view.is_indexed() && is_wanted() && self.backlog.rest(INDEX_CHECK_PAUSE) {}
    }

    /// Stops the background.
    pub(crate) fn stop(&self) {
        self.backlog.stop();
    }

    /// Compares while the budget lasts. A failure to read is no failure for whoever waits: it only means
    /// that the comparison is not finished.
    pub(crate) fn find_conflicts_quickly(
        &self,
        subject: &Subject,
        accept: &dyn Fn(u32) -> bool,
    ) -> Detected {
        let until = self.origin.now_ms().saturating_add(self.budget_ms);
        let is_over = || self.origin.now_ms() > until;
        self.find_conflicts(subject, accept, &is_over).unwrap_or_else(|error| {
            tracing::warn!(error = with_causes(&error), "detection was put off");
            Detected::default()
        })
    }

    /// Compares a text with all units that it may be compared with and that `accept` lets through, until it is over: a judge
    /// may take long for each.
    pub(crate) fn find_conflicts(
        &self,
        subject: &Subject,
        accept: &dyn Fn(u32) -> bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Detected, EngineError> {
        let Some(probe) = self.detector.probe(&subject.content) else {
            return Ok(Detected { finished: true, up_to: u32::MAX, ..Detected::default() });
        };
        let (witnesses, author, up_to) = {
            let published = self.view.read();
            let state = &published.state;
            let author = state.names.find(&subject.agent);
            let sight =
                Sight::by(state, &subject.agent, subject.session.as_deref(), subject.authority);
            let accept = |other: u32| {
                other >= subject.from
                    && is_eligible(state, subject.ordinal, other)
                    && sight.sees(other)
                    && accept(other)
            };
            let own = |other: u32| {
                author.is_some() && state.units.flags(other).map(|unit| unit.author) == author
            };
            let seen = sight.seen();
            let sieve = Sieve { accept: &accept, own: &own, seen: &seen };
            let limit = DETECT_CANDIDATES_MAX;
            let near = self.detector.candidates(&published.index, &probe, limit, &sieve);
            let near = near.into_iter().take(limit);
            let witnesses: Vec<_> = near.filter_map(|one| witness(state, subject, one)).collect();
            (witnesses, author.map(|name| name.number()), state.units.next_ordinal())
        };
        let mut looked = Detected { found: Vec::new(), finished: true, up_to };
        let mut verdicts = Vec::new();
        for witness in witnesses {
            if is_over() {
                looked.finished = false;
                break;
            }
            let verdict = self.judge(subject, author.unwrap_or(u32::MAX), &witness)?;
            verdicts.extend(verdict.map(|verdict| (witness, verdict)));
        }
        looked.found = self.findings(verdicts);
        Ok(looked)
    }

    fn judge(
        &self,
        subject: &Subject,
        author: u32,
        witness: &Witness,
    ) -> Result<Option<Disagreement>, EngineError> {
        let Some(text) = self.bodies.load::<UnitBody>(witness.position, witness.event)? else {
            return Ok(None);
        };
        let mine = Claim {
            content: &subject.content,
            assumptions: &subject.assumptions,
            confidence: subject.confidence,
            author,
        };
        let other = Claim {
            content: &text.content,
            assumptions: &text.assumptions,
            confidence: witness.score,
            author: witness.author,
        };
        let older = subject.ordinal.is_some_and(|mine| mine < witness.ordinal);
        let (first, second) = if older { (&mine, &other) } else { (&other, &mine) };
        let verdict = self.detector.judge(first, second, witness.closeness);
        if witness.known {
            return Ok(verdict);
        }
        Ok(verdict.and_then(|verdict| self.confirm(first, second, verdict)))
    }

    /// Asks the judge, if there is one. Without an opinion the verdict stands.
    fn confirm(
        &self,
        older: &Claim<'_>,
        newer: &Claim<'_>,
        mut verdict: Disagreement,
    ) -> Option<Disagreement> {
        match self.judge.as_ref().map(|judge| judge.judge(older, newer, &verdict)) {
            Some(Ok(Opinion::Denied)) => return None,
            Some(Ok(Opinion::Confirmed(Some(words)))) => verdict.reason = words,
            Some(Err(error)) => {
                tracing::warn!(%error, "the judge failed: a conflict is kept as detection found it")
            }
            Some(Ok(Opinion::Confirmed(None))) | None => {}
        }
        Some(verdict)
    }

    /// The surest verdicts, with everything drawn for their conflicts. What is in conflict already is
    /// left out last, so that it keeps its place: a second search does not bring up what is less sure.
    fn findings(&self, mut verdicts: Vec<(Witness, Disagreement)>) -> Vec<Finding> {
        verdicts.sort_by(|a, b| {
            b.1.sureness.total_cmp(&a.1.sureness).then_with(|| b.0.ordinal.cmp(&a.0.ordinal))
        });
        let surest = verdicts.first().map_or(0.0, |(_, verdict)| verdict.sureness);
        let worth = verdicts.into_iter().take(DETECT_PER_UNIT_MAX);
        let worth = worth.filter(|(_, verdict)| verdict.sureness >= surest - SURENESS_SPREAD);
        let new = worth.filter(|(witness, _)| !witness.known);
        let drawn = new.filter_map(|(witness, verdict)| {
            let description = ConflictBody { description: verdict.reason };
            Some(Finding {
                other: witness.ordinal,
                detected_by: detected_by(verdict.method),
                conflict: ConflictId::from_bits(self.origin.id_bits()),
                body: Body::new(self.origin.salt(), &description).ok()?,
            })
        });
        drawn.collect()
    }

    /// A unit that is recorded already, as a text that is compared with others.
    pub(crate) fn subject(&self, ordinal: u32) -> Result<Option<Subject>, EngineError> {
        let (mut subject, position, event) = {
            let published = self.view.read();
            let state = &published.state;
            let (Some(flags), Some(unit)) =
                (state.units.flags(ordinal), state.units.details(ordinal))
            else {
                return Ok(None);
            };
            let session = unit.session.map(|name| state.names.text(name).to_owned());
            let subject = Subject {
                confidence: unit.score,
                agent: state.names.text(flags.author).to_owned(),
                session,
                authority: quipu_wire::limits::AUTHORITY_MAX,
                ordinal: Some(ordinal),
                ..Subject::default()
            };
            (subject, unit.position, unit.event)
        };
        let Some(text) = self.bodies.load::<UnitBody>(position, event)? else { return Ok(None) };
        (subject.content, subject.assumptions) = (text.content, text.assumptions);
        Ok(Some(subject))
    }

    /// The ordinal of a unit that waits, if it can still be in a new conflict.
    pub(super) fn still_worth(&self, waiting: Waiting) -> Option<u32> {
        let state = &self.view.read().state;
        state.units.find(waiting.unit).filter(|&unit| is_current(state, unit))
    }
}

/// Whether a unit may be in a new conflict with another. Drafts are nobody's claim yet, and are compared
/// only on request.
fn is_eligible(state: &State, subject: Option<u32>, other: u32) -> bool {
    let draft = state.units.flags(other).is_some_and(|unit| unit.status == UnitStatus::Draft);
    is_current(state, other) && !draft && subject != Some(other)
}

fn witness(state: &State, subject: &Subject, found: Candidate) -> Option<Witness> {
    let Candidate { document: ordinal, closeness } = found;
    let (flags, unit) = (state.units.flags(ordinal)?, state.units.details(ordinal)?);
    Some(Witness {
        ordinal,
        closeness,
        author: flags.author.number(),
        position: unit.position,
        event: unit.event,
        score: unit.score,
        known: subject.ordinal.is_some_and(|mine| state.conflicts.is_pair_open(mine, ordinal)),
    })
}

const fn detected_by(method: Method) -> DetectedBy {
    match method {
        Method::Semantic => DetectedBy::Semantic,
        Method::Logical => DetectedBy::Logical,
        Method::Temporal => DetectedBy::Temporal,
    }
}
