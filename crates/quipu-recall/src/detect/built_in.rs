//! The detector that comes with Quipu. It finds candidates by shared rare words, takes both texts apart
//! into statements, and answers with the surest clash.

use std::cmp::Reverse;

use super::{
    candidates::{self, Candidate, Probe, Sieve},
    compare::compare,
    detector::{Claim, Detector, Disagreement, Method},
    never::{against, never},
    options::Thresholds,
    sentences::sentences,
    statement::Statement,
    verdict::Clash,
    weigh::{HINT, Readings, hint, weighed},
};
use crate::Index;

/// How much surer an older document must be for a newer one to be a late, unsure voice.
const SURER: f64 = 0.1;

/// How much is left of a clash where "never" came first and the instance later.
const SINCE_THEN: f64 = 0.5;

/// Pairs of sentences of two documents that only the scorer reads, at most.
const MAX_HINTS: usize = 3;

/// Finds disagreements by rules, and by a learned scorer where they are unsure.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn {
    thresholds: Thresholds,
}

impl BuiltIn {
    #[must_use]
    pub const fn new(thresholds: Thresholds) -> Self {
        Self { thresholds }
    }

    /// The surest clash of two documents, however unsure.
    #[must_use]
    pub fn surest(
        &self,
        older: &Claim<'_>,
        newer: &Claim<'_>,
        closeness: f32,
    ) -> Option<Disagreement> {
        surest_clash(older, newer, closeness, 0.0)
    }
}

impl Detector for BuiltIn {
    fn probe(&self, content: &str) -> Option<Probe> {
        candidates::probe(content)
    }

    fn candidates(
        &self,
        index: &Index,
        probe: &Probe,
        limit: usize,
        sieve: &Sieve<'_>,
    ) -> Vec<Candidate> {
        candidates::candidates(index, probe, limit, sieve)
    }

    fn judge(&self, older: &Claim<'_>, newer: &Claim<'_>, closeness: f32) -> Option<Disagreement> {
        surest_clash(older, newer, closeness, self.thresholds.sureness)
            .filter(|found| found.sureness >= self.thresholds.sureness)
    }
}

/// The surest clash of two documents. What cannot become as sure as `least` may be left out.
fn surest_clash(
    older: &Claim<'_>,
    newer: &Claim<'_>,
    closeness: f32,
    least: f64,
) -> Option<Disagreement> {
    let (old, new) = (statements(older.content), statements(newer.content));
    let (old, new) = (Readings::new(&old), Readings::new(&new));
    let same_author = older.author == newer.author;
    let mut best = Best::default();
    let silent = compare_statements(&old, &new, same_author, &mut best);
    if least < HINT && older.content != newer.content {
        hints(&old, &new, silent, &mut best);
    }
    // What never was until then may well have been since, so it is the newer that denies.
    denied(&old, &new, same_author, (closeness, SINCE_THEN), &mut best);
    denied(&new, &old, same_author, (closeness, 1.0), &mut best);
    assumed(older, new.statements, &mut best);
    assumed(newer, old.statements, &mut best);
    let late = matches!((older.confidence, newer.confidence), (Some(old), Some(new)) if old - new >= SURER);
    best.found.map(|mut found| {
        if late && found.method == Method::Semantic {
            found.method = Method::Temporal;
        }
        found
    })
}

/// Two statements no rule has anything to say about: how many topics they share, and which they are.
type Silent = (usize, usize, usize);

/// Holds what both say against each other, by the rules.
fn compare_statements(
    old: &Readings<'_, '_>,
    new: &Readings<'_, '_>,
    same_author: bool,
    best: &mut Best,
) -> Vec<Silent> {
    let chance = chance(old, new);
    let mut silent = Vec::new();
    for (i, a) in old.statements.iter().enumerate() {
        for (j, b) in new.statements.iter().enumerate() {
            // "I" is somebody else in the mouth of another.
            if !same_author && (a.first_person || b.first_person) {
                continue;
            }
            if let Some(clash) = compare(a, b) {
                let clash = weighed(clash, || old.likely(i, new, j));
                best.offer(Method::Semantic, Some(clash.weakened(chance)), a, b);
            } else if a.sentence != b.sentence {
                silent.push((a.shares(b), i, j));
            }
        }
    }
    silent
}

/// Where no rule applies, the scorer reads the few statements that share the most.
fn hints(old: &Readings<'_, '_>, new: &Readings<'_, '_>, mut silent: Vec<Silent>, best: &mut Best) {
    silent.sort_by_key(|(shared, i, j)| (Reverse(*shared), *i, *j));
    for (_, i, j) in silent.into_iter().take(MAX_HINTS) {
        let (Some(a), Some(b)) = (old.statements.get(i), new.statements.get(j)) else { continue };
        let clash = old.likely(i, new, j).map(|likely| hint(likely).weakened(chance(old, new)));
        best.offer(Method::Semantic, clash, a, b);
    }
}

/// Holds what one says never was against what the other tells of.
fn denied(
    mine: &Readings<'_, '_>,
    theirs: &Readings<'_, '_>,
    same_author: bool,
    (closeness, weight): (f32, f64),
    best: &mut Best,
) {
    for (i, statement) in mine.statements.iter().enumerate() {
        let Some(never) = never(statement) else { continue };
        if never.first_person && !same_author {
            continue;
        }
        if let Some((at, clash)) = against(&never, theirs.statements, closeness)
            && let Some(other) = theirs.statements.get(at)
        {
            let clash = weighed(clash, || mine.likely(i, theirs, at));
            best.offer(Method::Semantic, Some(clash.weakened(weight)), statement, other);
        }
    }
}

/// The surest disagreement so far; the first of equals.
#[derive(Default)]
struct Best {
    found: Option<Disagreement>,
}

impl Best {
    fn offer(
        &mut self,
        method: Method,
        clash: Option<Clash>,
        a: &Statement<'_>,
        b: &Statement<'_>,
    ) {
        let Some(clash) = clash else { return };
        if self.found.as_ref().is_none_or(|known| clash.sureness > known.sureness) {
            let reason = clash.reason(a, b);
            self.found = Some(Disagreement { method, sureness: clash.sureness, reason });
        }
    }
}

fn statements(text: &str) -> Vec<Statement<'_>> {
    sentences(text).into_iter().map(Statement::new).collect()
}

/// The more sentences are held against each other, the more often two clash by chance.
fn chance(old: &Readings<'_, '_>, new: &Readings<'_, '_>) -> f64 {
    let more = old.statements.len().min(new.statements.len()).saturating_sub(1);
    0.9_f64.powi(i32::try_from(more).unwrap_or(i32::MAX).min(24))
}

/// Holds what one takes for granted against what the other says.
fn assumed(claim: &Claim<'_>, others: &[Statement<'_>], best: &mut Best) {
    for assumption in claim.assumptions {
        for mine in statements(assumption) {
            for theirs in others {
                best.offer(Method::Logical, compare(&mine, theirs), &mine, theirs);
            }
        }
    }
}
