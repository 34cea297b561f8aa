//! Collections with planted contradictions: units arrive in order, each is held against those before it
//! as RECORD does, and what is planted is looked for among the surest alarms.

use std::collections::{BTreeMap, BTreeSet};

use quipu_recall::{
    Claim, Detector, Index, Seen, analyze,
    detect::{BuiltIn, Sieve, Thresholds},
};

use super::{
    dataset::{Contradiction, Corpus, Dataset, Unit},
    detect::share,
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
}

pub(super) fn run(data: &Dataset, candidates: usize, show: usize, report: &mut Report) {
    let mut alarms: Vec<Alarm> = Vec::new();
    for (at, corpus) in data.corpora.iter().enumerate() {
        alarms.extend(play(at, corpus, candidates));
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
    }
    for sureness in [0.5, 0.6, 0.7, 0.8] {
        let sure = || alarms.iter().filter(|alarm| alarm.sureness >= sureness);
        let rate = share(sure().count() * 1000, units);
        report.figure(&format!("{name}: alarms per 1,000 units at sureness {sureness}"), rate, "");
        report.line(&format!("    recall {:.3}", share(found(sure()), planted)));
    }
    for alarm in alarms.iter().take(show) {
        let word = if alarm.planted.is_some() { "planted" } else { "other" };
        report.line(&format!("{:.2} {word} {}", alarm.sureness, alarm.reason));
    }
}

fn found<'a>(alarms: impl Iterator<Item = &'a Alarm>) -> usize {
    alarms.filter_map(|alarm| alarm.planted).collect::<BTreeSet<_>>().len()
}

/// The surest verdict about each unit of a collection, in the order of arrival.
fn play(at: usize, corpus: &Corpus, candidates: usize) -> Vec<Alarm> {
    let detector = BuiltIn::new(Thresholds { sureness: LEAST });
    let mut authors: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, unit) in (0..).zip(&corpus.units) {
        authors.entry(&unit.agent).or_insert(number);
    }
    let author = |unit: &Unit| authors.get(unit.agent.as_str()).copied().unwrap_or(u32::MAX);
    let mut index = Index::new();
    let mut alarms = Vec::new();
    for (ordinal, unit) in (0..).zip(&corpus.units) {
        let older =
            |document: u32| corpus.units.get(usize::try_from(document).unwrap_or(usize::MAX));
        let own = |document: u32| older(document).is_some_and(|other| other.agent == unit.agent);
        let sieve = Sieve { accept: &|_| true, own: &own, seen: &Seen::ALL };
        let near = detector.probe(&unit.text);
        let near = near.map(|probe| detector.candidates(&index, &probe, candidates, &sieve));
        let verdicts = near.into_iter().flatten().filter_map(|candidate| {
            let other = older(candidate.document)?;
            let verdict = detector.judge(
                &claim(other, author(other)),
                &claim(unit, author(unit)),
                candidate.closeness,
            )?;
            Some((other, verdict))
        });
        if let Some((other, verdict)) =
            verdicts.max_by(|a, b| a.1.sureness.total_cmp(&b.1.sureness))
        {
            let entry = corpus.contradictions.iter().position(|entry| is(entry, other, unit));
            let planted = entry.map(|entry| (at, entry));
            alarms.push(Alarm { sureness: verdict.sureness, reason: verdict.reason, planted });
        }
        index.insert(ordinal, &analyze(&unit.text));
    }
    alarms
}

fn is(entry: &Contradiction, one: &Unit, other: &Unit) -> bool {
    let has = |ids: &[String], unit: &Unit| ids.contains(&unit.id);
    (has(&entry.a, one) && has(&entry.b, other)) || (has(&entry.a, other) && has(&entry.b, one))
}

fn claim(unit: &Unit, author: u32) -> Claim<'_> {
    Claim { content: &unit.text, assumptions: &[], confidence: None, author }
}
