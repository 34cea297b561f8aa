//! Collections with planted contradictions: units arrive in order, each is held against those before it
//! as RECORD does, and what is planted is looked for among the surest alarms.

use std::collections::{BTreeMap, BTreeSet};

use quipu_recall::{
    Claim, Detector, Index, Seen, analyze,
    detect::{BuiltIn, Candidate, Sieve, Thresholds},
};

use super::{
    run::share,
    stages::{self, Stage, Way},
};
use crate::measure::{
    dataset::{Contradiction, Corpus, Dataset, Unit},
    report::Report,
};

/// Alarms that are less sure are not looked at: below are the hints of the scorer, which no table asks for.
const LEAST: f64 = 0.3;

/// A verdict about two units of a collection.
struct Alarm {
    sureness: f64,
    reason: String,
    /// Which planted contradiction it is, if it is one.
    planted: Option<(usize, usize)>,
    /// The planted contradictions that the newer unit is a side of, whatever it was held against.
    sides: Vec<(usize, usize)>,
}

pub(crate) fn run(data: &Dataset, candidates: usize, show: usize, report: &mut Report) {
    let mut alarms: Vec<Alarm> = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    for (at, corpus) in data.corpora.iter().enumerate() {
        let played = play(at, corpus, candidates);
        alarms.extend(played.alarms);
        ways.extend(played.ways);
    }
    alarms.sort_by(|a, b| b.sureness.total_cmp(&a.sureness));
    let units: usize = data.corpora.iter().map(|corpus| corpus.units.len()).sum();
    let planted: usize = data.corpora.iter().map(|corpus| corpus.contradictions.len()).sum();
    let name = &data.name;
    report.line(&format!("{name}: {units} units, {planted} planted contradictions"));
    for rate in [1, 2, 5, 10, 20] {
        let most = (units * rate / 1000).min(alarms.len());
        let recall = share(found(alarms.iter().take(most)), planted);
        report.figure(&format!("{name}: recall at {rate} alarms per 1,000 units"), recall, "");
        let sides: BTreeSet<_> = alarms.iter().take(most).flat_map(|alarm| &alarm.sides).collect();
        let what = "    where another instance than the labelled one counts too";
        report.figure(what, share(sides.len(), planted), "");
    }
    for sureness in [0.5, 0.6, 0.7, 0.8] {
        let sure = || alarms.iter().filter(|alarm| alarm.sureness >= sureness);
        let rate = share(sure().count() * 1000, units);
        report.figure(&format!("{name}: alarms per 1,000 units at sureness {sureness}"), rate, "");
        report.line(&format!("    recall {:.3}", share(found(sure()), planted)));
    }
    if !ways.is_empty() {
        stages::report_stages(name, &ways, report);
    }
    for alarm in alarms.iter().take(show) {
        let word = if alarm.planted.is_some() { "planted" } else { "other" };
        report.line(&format!("{:.2} {word} {}", alarm.sureness, alarm.reason));
    }
}

fn found<'a>(alarms: impl Iterator<Item = &'a Alarm>) -> usize {
    alarms.filter_map(|alarm| alarm.planted).collect::<BTreeSet<_>>().len()
}

/// What came of a collection.
struct Played {
    /// The surest verdict about each unit, in the order of arrival.
    alarms: Vec<Alarm>,
    /// How far each planted contradiction came.
    ways: Vec<Way>,
}

/// A verdict about a unit and an older one.
struct Found<'corpus> {
    other: &'corpus Unit,
    sureness: f64,
    reason: String,
}

/// Lets the units of a collection arrive one after the other.
fn play(at: usize, corpus: &Corpus, candidates: usize) -> Played {
    let mut authors: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, unit) in (0..).zip(&corpus.units) {
        authors.entry(&unit.agent).or_insert(number);
    }
    let mut reader = Reader {
        detector: BuiltIn::new(Thresholds { sureness: LEAST }),
        index: Index::new(),
        corpus,
        authors,
    };
    let start = Way { stage: Stage::NotNear, sureness: 0.0 };
    let mut ways = vec![start; corpus.contradictions.len()];
    let mut alarms = Vec::new();
    for (ordinal, unit) in (0..).zip(&corpus.units) {
        let near = reader.near(unit, candidates);
        let found = reader.verdicts(unit, &near);
        let surest = found.iter().max_by(|a, b| a.sureness.total_cmp(&b.sureness));
        for (entry, way) in corpus.contradictions.iter().zip(&mut ways) {
            if is_side(entry, unit) {
                let here = reader.way(entry, unit, &near, &found, surest);
                *way = way.or_further(here);
            }
        }
        if let Some(surest) = surest {
            let entries = || (0..).zip(&corpus.contradictions);
            let planted = entries().find(|(_, entry)| is(entry, surest.other, unit));
            let sides = entries().filter(|(_, entry)| is_side(entry, unit));
            alarms.push(Alarm {
                sureness: surest.sureness,
                reason: surest.reason.clone(),
                planted: planted.map(|(entry, _)| (at, entry)),
                sides: sides.map(|(entry, _)| (at, entry)).collect(),
            });
        }
        reader.index.insert(ordinal, &analyze(&unit.text));
    }
    Played { alarms, ways }
}

/// A collection as far as it has arrived.
struct Reader<'corpus> {
    detector: BuiltIn,
    index: Index,
    corpus: &'corpus Corpus,
    authors: BTreeMap<&'corpus str, u32>,
}

impl<'corpus> Reader<'corpus> {
    fn unit(&self, document: u32) -> Option<&'corpus Unit> {
        self.corpus.units.get(usize::try_from(document).unwrap_or(usize::MAX))
    }

    fn claim(&self, unit: &'corpus Unit) -> Claim<'corpus> {
        let author = self.authors.get(unit.agent.as_str()).copied().unwrap_or(u32::MAX);
        Claim { content: &unit.text, assumptions: &[], confidence: None, author }
    }

    /// The older units that a unit is held against.
    fn near(&self, unit: &Unit, limit: usize) -> Vec<Candidate> {
        let own =
            |document: u32| self.unit(document).is_some_and(|other| other.agent == unit.agent);
        let sieve = Sieve { accept: &|_| true, own: &own, seen: &Seen::ALL };
        let probe = self.detector.probe(&unit.text);
        probe
            .map(|probe| self.detector.candidates(&self.index, &probe, limit, &sieve))
            .unwrap_or_default()
    }

    fn verdicts(&self, unit: &'corpus Unit, near: &[Candidate]) -> Vec<Found<'corpus>> {
        let judged = near.iter().filter_map(|candidate| {
            let other = self.unit(candidate.document)?;
            let closeness = candidate.closeness;
            let verdict = self.detector.judge(&self.claim(other), &self.claim(unit), closeness)?;
            Some(Found { other, sureness: verdict.sureness, reason: verdict.reason })
        });
        judged.collect()
    }

    /// How far a planted contradiction comes when its newer unit arrives.
    fn way(
        &self,
        entry: &Contradiction,
        unit: &Unit,
        near: &[Candidate],
        found: &[Found<'_>],
        surest: Option<&Found<'_>>,
    ) -> Way {
        let planted = |candidate: &Candidate| {
            self.unit(candidate.document).is_some_and(|other| is(entry, other, unit))
        };
        let at = |stage, sureness| Way { stage, sureness };
        let verdicts = found.iter().filter(|found| is(entry, found.other, unit));
        if let Some(surest) = surest.filter(|surest| is(entry, surest.other, unit)) {
            return at(Stage::Alarm, surest.sureness);
        }
        if let Some(best) = verdicts.map(|found| found.sureness).max_by(f64::total_cmp) {
            return at(Stage::AnotherWasSurer, best);
        }
        if near.iter().any(planted) {
            return at(Stage::NoVerdict, 0.0);
        }
        let wide = self.near(unit, self.corpus.units.len());
        let stage =
            if wide.iter().any(planted) { Stage::NotAmongCandidates } else { Stage::NotNear };
        at(stage, 0.0)
    }
}

fn is(entry: &Contradiction, one: &Unit, other: &Unit) -> bool {
    let has = |ids: &[String], unit: &Unit| ids.contains(&unit.id);
    (has(&entry.a, one) && has(&entry.b, other)) || (has(&entry.a, other) && has(&entry.b, one))
}

fn is_side(entry: &Contradiction, unit: &Unit) -> bool {
    entry.a.contains(&unit.id) || entry.b.contains(&unit.id)
}
