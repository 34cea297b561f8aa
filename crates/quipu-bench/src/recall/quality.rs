//! What a summarize of everything but the last session costs and saves: on labelled data, how much of what questions need is
//! found before and after, and how many characters are left. A synthesis counts for the units that it elaborates.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
};

use serde_json::{Map, Value, json};

use super::{
    figures::{Outcome, json_rows, rows},
    play::{Covers, Player},
};
use crate::measure::{
    dataset::{self, Corpus, Dataset},
    failure::Failure,
    report::Report,
    server::Server,
    workplace::Workplace,
};

/// The sums over some corpora.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    before: usize,
    after: usize,
    affected: u64,
    written: u64,
    rules: u64,
    rules_kept: u64,
    fidelity: f64,
    calls: u64,
}

pub(crate) fn run(
    data: &Path,
    limit: Option<usize>,
    scratch: &Path,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut sets = dataset::load(data)?;
    let folder = Workplace::new(scratch, "compact-quality");
    let options = ["--log=memory:", "--cross-session-visibility"];
    let server = Server::start_with(folder.path(), &options)?;
    let mut player = Player::new(server.address)?;
    let mut all = Map::new();
    for set in &mut sets {
        set.corpora.truncate(limit.unwrap_or(usize::MAX));
        let figures = measure(&mut player, set, report)?;
        all.insert(set.name.clone(), figures);
    }
    report.line(&Value::Object(all).to_string());
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn measure(player: &mut Player, set: &Dataset, report: &mut Report) -> Result<Value, Failure> {
    let (mut before, mut after, mut sums) = (Vec::new(), Vec::new(), Sums::default());
    for corpus in &set.corpora {
        let covers = player.record(set, corpus, false)?;
        before.extend(outcomes(player, set, corpus, &covers)?);
        compact(player, set, corpus, &covers, &mut sums)?;
        after.extend(outcomes(player, set, corpus, &covers)?);
    }
    let (before, after) = (rows(&before), rows(&after));
    for ((name, was), (_, is)) in before.iter().zip(&after) {
        let what = format!("{} {name} ({})", set.name, was.questions);
        report.ranking(&format!("{what} before"), was.recall, was.ndcg);
        report.ranking(&format!("{what} after"), is.recall, is.ndcg);
    }
    let of =
        |rows: &[(String, super::figures::Means)]| rows.first().map_or(0.0, |row| row.1.recall);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let kept = share(of(&after), of(&before));
    let size = share(sums.after as f64, sums.before as f64);
    let fidelity = share(sums.fidelity, sums.calls as f64);
    let name = &set.name;
    for (what, figure, unit) in [
        ("recall@10 after, of before", kept, "share"),
        ("characters after, of before", size, "share"),
        ("units summarized", sums.affected as f64, "units"),
        ("syntheses", sums.written as f64, "units"),
        ("rules and decisions lost", (sums.rules - sums.rules_kept) as f64, "units"),
        ("fidelity, mean of all calls", fidelity, "share"),
    ] {
        report.figure(&format!("{name} {what}"), figure, unit);
    }
    Ok(json!({"before": json_rows(&before), "after": json_rows(&after),
        "recall_kept": kept, "characters_left": size, "fidelity": fidelity}))
}

fn outcomes(
    player: &mut Player,
    set: &Dataset,
    corpus: &Corpus,
    covers: &Covers,
) -> Result<Vec<Outcome>, Failure> {
    corpus.queries.iter().map(|question| player.ask(set, corpus, question, covers)).collect()
}

/// Summarizes each session but the last.
fn compact(
    player: &mut Player,
    set: &Dataset,
    corpus: &Corpus,
    covers: &Covers,
    sums: &mut Sums,
) -> Result<(), Failure> {
    let chars: HashMap<&str, usize> =
        corpus.units.iter().map(|unit| (unit.id.as_str(), unit.text.chars().count())).collect();
    let all: usize = chars.values().sum();
    sums.before += all;
    sums.after += all;
    let last = corpus.units.last().map(|unit| unit.session.as_str());
    let sessions: BTreeSet<&str> = corpus.units.iter().map(|unit| unit.session.as_str()).collect();
    for session in sessions.into_iter().filter(|session| Some(*session) != last) {
        let mut wish =
            json!({"strategy": "summarize", "filter": {"session_id": session}, "dry_run": true});
        let told = player.compact(set, corpus, &wish)?;
        wish["dry_run"] = json!(false);
        let done = player.compact(set, corpus, &wish)?;
        let taken = told["units"].as_array().into_iter().flatten();
        let taken = taken.filter_map(|id| covers.get(id.as_str()?)?.first());
        sums.after -= taken.filter_map(|id| chars.get(id.as_str())).sum::<usize>();
        let texts = told["syntheses"].as_array().into_iter().flatten();
        sums.after += texts
            .filter_map(|it| it["content"].as_str())
            .map(|it| it.chars().count())
            .sum::<usize>();
        sums.affected += done["units_affected"].as_u64().unwrap_or(0);
        sums.written += done["synthesis_units_created"].as_u64().unwrap_or(0);
        let fidelity = &done["fidelity"];
        if let Some(overall) = fidelity["overall"].as_f64() {
            sums.fidelity += overall;
            sums.calls += 1;
        }
        for kind in ["rules", "decisions"] {
            sums.rules += fidelity[kind]["of"].as_u64().unwrap_or(0);
            sums.rules_kept += fidelity[kind]["kept"].as_u64().unwrap_or(0);
        }
    }
    Ok(())
}
