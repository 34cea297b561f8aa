//! Servers in which the wrong unit wins.

use serde_json::{Value, json};

use super::{
    tamper::{Answered, after, asks, before, each, pretends, put, tells},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_winner_is_caught() {
    all_are_caught(
        "strategies",
        [swapped(), synthesis(), votes(), failures()].into_iter().flatten().collect(),
    );
}

/// Carries out another strategy than the one that was asked for.
fn confuses(from: &'static str, to: &'static str) -> super::tamper::Tamper {
    asks("MERGE", move |payload| {
        if payload["strategy"] == from {
            payload["strategy"] = json!(to);
            payload["resolution"]["winner_id"] = Value::Null;
        }
    })
}

fn swapped() -> Vec<Variant> {
    let cases = &["_strategy_"];
    vec![
        variant(
            "strategy_latest_is_surest",
            "last_write_wins looks at the confidence",
            cases,
            confuses("last_write_wins", "confidence_weighted"),
        ),
        variant(
            "strategy_surest_is_latest",
            "confidence_weighted looks at the time",
            cases,
            confuses("confidence_weighted", "last_write_wins"),
        ),
        variant(
            "strategy_evidence_is_latest",
            "evidence_count looks at the time",
            cases,
            confuses("evidence_count", "last_write_wins"),
        ),
        variant(
            "strategy_authority_is_latest",
            "authority looks at the time",
            cases,
            confuses("authority", "last_write_wins"),
        ),
        variant(
            "strategy_vote_is_latest",
            "vote does not wait for ballots",
            cases,
            confuses("vote", "last_write_wins"),
        ),
        variant(
            "strategy_the_other_wins",
            "The loser is told as the winner",
            cases,
            tells("MERGE", |body| {
                let conflict = body["conflict"].clone();
                each(body, "/conflict/resolution", &|resolution| {
                    let other = [&conflict["unit_a"], &conflict["unit_b"]];
                    let other = other.into_iter().find(|unit| **unit != resolution["winner_id"]);
                    resolution["winner_id"] = other.cloned().unwrap_or_default();
                });
            }),
        ),
    ]
}

fn synthesis() -> Vec<Variant> {
    let cases = &["_strategy_"];
    vec![
        variant(
            "strategy_synthesis_without_relations",
            "A synthesis does not point at what it is made of",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/memory_unit/relations", &json!([]))),
        ),
        variant(
            "strategy_synthesis_of_its_own",
            "A synthesis does not have the text that was given",
            cases,
            tells("ATTUNE", |body| put(body, "/record/*/memory_unit/content", &json!("Both."))),
        ),
        variant(
            "strategy_synthesis_without_text",
            "A synthesis without a text is made up",
            cases,
            asks("MERGE", |payload| {
                let text = &mut payload["resolution"]["synthesis"];
                if text.as_str().is_none_or(str::is_empty) {
                    *text = json!("Both.");
                }
            }),
        ),
        variant(
            "strategy_synthesis_is_sure",
            "A synthesis is surer than its sources",
            cases,
            tells("ATTUNE", |body| {
                put(body, "/record/*/memory_unit/confidence/score", &json!(1.0))
            }),
        ),
    ]
}

fn votes() -> Vec<Variant> {
    let cases = &["_strategy_"];
    vec![
        variant(
            "strategy_ballots_count_twice",
            "Two ballots of one agent make a quorum",
            cases,
            after("DETECT", |_, answered, past| {
                let ballots = past.of("MERGE");
                each(&mut answered.body, "/conflicts/*", &|conflict| {
                    let of = |merge: &&super::past::Exchange| {
                        merge.payload["conflict_id"] == conflict["id"]
                    };
                    if ballots.iter().filter(of).count() >= 2 {
                        conflict["status"] = json!("resolved");
                    }
                });
            }),
        ),
        variant(
            "strategy_votes_for_anything",
            "A ballot for a unit outside of the conflict is taken",
            cases,
            pretends("MERGE", &["MERGE_FAILED", "UNIT_NOT_FOUND", "INVALID_PAYLOAD"]),
        ),
        variant(
            "strategy_votes_cannot_be_escalated",
            "While a vote is going on nothing else is taken",
            cases,
            before("MERGE", |asked, past| {
                let id = &asked.message["payload"]["conflict_id"];
                let voting = past.last("MERGE", |merge| {
                    merge.payload["conflict_id"] == *id && merge.answer["status"] == "pending_vote"
                });
                let other = asked.message["payload"]["strategy"] != "vote";
                (voting.is_some() && other)
                    .then(|| Answered::refusal(409, "INVALID_TRANSITION", "MERGE"))
            }),
        ),
    ]
}

fn failures() -> Vec<Variant> {
    vec![variant(
        "strategy_failure_closes",
        "After a MERGE that failed the conflict cannot be merged",
        &["_strategy_"],
        before("MERGE", |asked, past| {
            let id = &asked.message["payload"]["conflict_id"];
            let units = past.last("RECORD", |made| made.answer["conflicts_detected"][0] == *id)?;
            let named = &asked.message["payload"]["resolution"]["winner_id"];
            // A second MERGE of equally sure units comes after the first has failed.
            let even = units.payload["confidence"]["score"] == 0.6 && named.is_null();
            let later = asked.message["payload"]["strategy"] == "last_write_wins";
            (even && later).then(|| Answered::refusal(409, "INVALID_TRANSITION", "MERGE"))
        }),
    )]
}
