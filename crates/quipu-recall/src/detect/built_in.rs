//! The detector that comes with Quipu. It finds candidates by shared rare words, takes both texts apart
//! into statements, and answers with the surest clash.

use super::{
    candidates::{self, Candidate, Probe, Sieve},
    compare::compare,
    detector::{Claim, Detector, Disagreement, Method},
    never::{against, never},
    options::Thresholds,
    sentences::sentences,
    statement::Statement,
    verdict::Clash,
};
use crate::Index;

/// How much surer an older document must be for a newer one to be a late, unsure voice.
const SURER: f64 = 0.1;

/// How much is left of a clash where "never" came first and the instance later.
const SINCE_THEN: f64 = 0.5;

/// Finds disagreements by rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltIn {
    thresholds: Thresholds,
}

impl BuiltIn {
    /// A detector with these thresholds.
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
        let (old, new) = (statements(older.content), statements(newer.content));
        let same_author = older.author == newer.author;
        let mut best = Best::default();
        let chance = chance(old.len(), new.len());
        for (a, b) in pairs(&old, &new) {
            // "I" is somebody else in the mouth of another.
            if same_author || !(a.first_person || b.first_person) {
                let clash = compare(a, b).map(|clash| clash.weakened(chance));
                best.offer(Method::Semantic, clash, a, b);
            }
        }
        // What never was until then may well have been since, so it is the newer that denies.
        for (mine, theirs, weight) in [(&old, &new, SINCE_THEN), (&new, &old, 1.0)] {
            for statement in mine {
                let Some(never) = never(statement) else { continue };
                if never.first_person && !same_author {
                    continue;
                }
                if let Some((at, clash)) = against(&never, theirs, closeness)
                    && let Some(other) = theirs.get(at)
                {
                    best.offer(Method::Semantic, Some(clash.weakened(weight)), statement, other);
                }
            }
        }
        assumed(older, &new, &mut best);
        assumed(newer, &old, &mut best);
        let late = matches!((older.confidence, newer.confidence), (Some(old), Some(new)) if old - new >= SURER);
        best.found.map(|mut found| {
            if late && found.method == Method::Semantic {
                found.method = Method::Temporal;
            }
            found
        })
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
        self.surest(older, newer, closeness)
            .filter(|found| found.sureness >= self.thresholds.sureness)
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

fn pairs<'s, 't>(
    old: &'s [Statement<'t>],
    new: &'s [Statement<'t>],
) -> impl Iterator<Item = (&'s Statement<'t>, &'s Statement<'t>)> {
    old.iter().flat_map(move |a| new.iter().map(move |b| (a, b)))
}

/// The more sentences are held against each other, the more often two clash by chance.
fn chance(old: usize, new: usize) -> f64 {
    let more = old.min(new).saturating_sub(1);
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
