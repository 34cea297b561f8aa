//! Texts that are no prose, or too much of it. Nothing may panic, and nothing may take long.

use super::{claim, judge};
use proptest::prelude::*;
use quipu_recall::{
    Detector, Index, Seen, analyze,
    detect::{BuiltIn, Sieve},
};

#[test]
fn odd_texts_are_no_claims_and_harm_nothing() {
    let huge = "The port is 8080 and not 9090. ".repeat(4000);
    let spaceless = "x".repeat(100_000);
    let odd = [
        "",
        " ",
        ".",
        "?",
        "not",
        "never",
        "I have never",
        "8080",
        "$",
        "%",
        "🚀🚀🚀",
        "\u{202e}abc not abc",
        "السوق ينمو بنسبة 23%",
        "市場は23%成長しました。",
        "e\u{301}\u{301}\u{301} is not é",
        "1e999 users",
        "99999999999999999999999999999999 users are not 1 user",
        "between and to - to and",
        "- - - \n* * *\n1. 2. 3.",
        &huge,
        &spaceless,
    ];
    for a in odd {
        for b in odd {
            judge(a, b);
        }
        assert!(
            BuiltIn::default()
                .judge(&claim(a), &claim("The cluster has five nodes."), 1.0)
                .is_none()
        );
    }
}

#[test]
fn candidates_are_those_that_the_sieve_lets_through_the_nearest_first() {
    let texts = ["The cluster has three nodes.", "Berlin has parks.", "The cluster is in Berlin."];
    let mut index = Index::new();
    for (at, text) in (0..).zip(texts) {
        index.insert(at, &analyze(text));
    }
    let detector = BuiltIn::default();
    let probe = detector.probe("The cluster has five nodes.").unwrap();
    let find = |accept: &dyn Fn(u32) -> bool, limit| {
        let sieve = Sieve { accept, own: &|_| true, seen: &Seen::ALL };
        let found = detector.candidates(&index, &probe, limit, &sieve);
        found.into_iter().map(|one| one.document).collect::<Vec<_>>()
    };
    assert_eq!(find(&|_| true, 8)[0], 0);
    assert_eq!(find(&|_| true, 1), [0]);
    assert!(!find(&|document| document != 0, 8).contains(&0));
    assert!(find(&|_| false, 8).is_empty());
    assert!(detector.probe("let x = y[0];").is_none());
}

proptest! {
    #[test]
    fn any_two_texts_get_a_sureness_within_bounds_and_the_same_twice(
        a in "[a-zA-Z0-9 .,%$?!'-]{0,120}|\\PC{0,60}",
        b in "[a-zA-Z0-9 .,%$?!'-]{0,120}|\\PC{0,60}",
        closeness in -1.0f32..2.0,
    ) {
        let detector = BuiltIn::default();
        let once = detector.surest(&claim(&a), &claim(&b), closeness);
        prop_assert_eq!(&once, &detector.surest(&claim(&a), &claim(&b), closeness));
        prop_assert!(once.is_none_or(|found| found.sureness > 0.0 && found.sureness <= 1.0));
    }
}
