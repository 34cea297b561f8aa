//! Our own conflict pairs with hard negatives, and what the detector must make of them. The floors may
//! only rise.

#![cfg(test)]

mod agreements;
mod bad_input;
mod conflicts;
mod other_cases;

use agreements::AGREEMENTS;
use conflicts::CONFLICTS;
use other_cases::OTHER_CASES;
use quipu_recall::{
    Claim, Detector, Disagreement, Method,
    detect::{BuiltIn, SURENESS, Thresholds},
};

/// The share of the conflicts that must be found.
const RECALL_FLOOR: f64 = 1.0;
/// The share of what is found that must be a conflict.
const PRECISION_FLOOR: f64 = 1.0;

fn claim(content: &str) -> Claim<'_> {
    Claim { content, assumptions: &[], confidence: Some(0.8), author: 1 }
}

fn judge(older: &str, newer: &str) -> Option<Disagreement> {
    BuiltIn::default().judge(&claim(older), &claim(newer), 0.6)
}

#[test]
fn most_conflicts_are_found_and_hardly_anything_else() {
    assert!(CONFLICTS.len() >= 50 && AGREEMENTS.len() >= 60);
    let missed: Vec<_> = CONFLICTS.iter().filter(|(_, a, b)| judge(a, b).is_none()).collect();
    let alarms: Vec<_> = AGREEMENTS.iter().filter(|(_, a, b)| judge(a, b).is_some()).collect();
    let found = CONFLICTS.len() - missed.len();
    let recall = found as f64 / CONFLICTS.len() as f64;
    let precision = found as f64 / (found + alarms.len()).max(1) as f64;
    assert!(
        recall >= RECALL_FLOOR && precision >= PRECISION_FLOOR,
        "recall {recall:.3}, precision {precision:.3}\nmissed: {missed:#?}\nfalse: {alarms:#?}"
    );
}

#[test]
fn what_is_said_of_another_case_or_later_is_no_alarm_in_either_order() {
    assert!(OTHER_CASES.len() >= 80);
    let alarm = |a, b| judge(a, b).or_else(|| judge(b, a)).map(|found| found.reason);
    let alarms: Vec<_> = OTHER_CASES.iter().filter_map(|(_, a, b)| alarm(a, b)).collect();
    assert!(alarms.is_empty(), "{alarms:#?}");
}

#[test]
fn a_conflict_is_found_in_either_order() {
    // But for what never was until then, and has been since.
    for (_, a, b) in CONFLICTS.iter().filter(|(kind, _, _)| *kind != "never") {
        assert_eq!(judge(a, b).is_some(), judge(b, a).is_some(), "{a} {b}");
    }
}

#[test]
fn a_text_never_disagrees_with_itself() {
    for (_, a, b) in CONFLICTS.iter().chain(AGREEMENTS).chain(OTHER_CASES) {
        for text in [a, b] {
            assert_eq!(judge(text, text), None);
        }
    }
}

#[test]
fn a_verdict_says_what_disagrees_with_what_and_how_sure_it_is() {
    let found = judge("The cache TTL is 60 seconds.", "The cache TTL is 5 minutes.").unwrap();
    assert_eq!(
        found.reason,
        "“The cache TTL is 60 seconds” against “The cache TTL is 5 minutes”: 60 seconds is not \
         5 minutes (sure to 0.92)"
    );
    assert!((found.sureness - 0.92).abs() < 1e-9 && found.method == Method::Semantic);
}

#[test]
fn an_assumption_that_another_denies_is_a_logical_disagreement() {
    let assumptions = ["The payments service supports refunds in Europe".to_owned()];
    let plan = Claim { assumptions: &assumptions, ..claim("We can sell in Europe next month.") };
    let fact = claim("The payments service does not support refunds in Europe.");
    for (older, newer) in [(&plan, &fact), (&fact, &plan)] {
        let found = BuiltIn::default().judge(older, newer, 0.5).unwrap();
        assert_eq!(found.method, Method::Logical);
    }
}

#[test]
fn a_late_and_less_sure_voice_against_an_older_one_is_a_temporal_disagreement() {
    let older = Claim { confidence: Some(0.9), ..claim("The cluster has three nodes.") };
    let newer = Claim { confidence: Some(0.4), ..claim("The cluster has five nodes.") };
    let found = BuiltIn::default().judge(&older, &newer, 0.5).unwrap();
    assert_eq!(found.method, Method::Temporal);
    let surer = Claim { confidence: Some(0.9), ..newer };
    assert_eq!(BuiltIn::default().judge(&older, &surer, 0.5).unwrap().method, Method::Semantic);
}

#[test]
fn what_two_authors_say_of_themselves_does_not_clash() {
    let mine = claim("I have never used Kubernetes for deployments.");
    let theirs = Claim { author: 2, ..claim("I used Kubernetes for deployments yesterday.") };
    assert_eq!(BuiltIn::default().judge(&mine, &theirs, 0.9), None);
}

#[test]
fn a_field_that_wants_to_be_surer_gets_fewer_verdicts() {
    let strict = BuiltIn::new(Thresholds { sureness: 0.99 });
    assert!(CONFLICTS.iter().all(|(_, a, b)| strict.judge(&claim(a), &claim(b), 0.6).is_none()));
    let found = CONFLICTS.iter().filter_map(|(_, a, b)| judge(a, b));
    assert!(found.into_iter().all(|found| (SURENESS..=1.0).contains(&found.sureness)));
}
