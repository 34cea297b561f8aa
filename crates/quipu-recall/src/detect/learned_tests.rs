//! The forward pass against what the trainer computed, and what is no sentence.

use super::*;
use proptest::prelude::*;

fn likely(a: &str, b: &str) -> Option<f64> {
    Some(scorer().score(&scorer().encode(a)?, &scorer().encode(b)?))
}

/// By `scorer.py` of `tools/detector` from the same file.
const EXPECTED: &[(&str, &str, f64)] = &[
    ("The garden gate is open.", "The garden gate is closed.", 0.99672),
    ("The crew repaired the old bridge.", "Nobody repaired the old bridge.", 0.99544),
    ("Three children are swimming in the lake.", "Some children are in the water.", 0.11855),
    ("The export takes 40 minutes.", "The export takes 3 hours.", 0.99595),
    ("The café's naïve ranking isn't stable", "Its colour is blue; it costs $5", 0.89223),
    ("yes", "no", 1.0),
];

#[test]
fn scores_as_the_trainer_does() {
    for (a, b, expected) in EXPECTED {
        let found = likely(a, b).unwrap();
        assert!((found - expected).abs() < 1e-3, "{a} {b}: {found} instead of {expected}");
    }
}

#[test]
fn reads_the_first_pieces_of_a_long_text_only() {
    let long = "The train leaves at nine. ".repeat(20);
    let longer = "The train leaves at nine. ".repeat(20_000);
    let other = "The train leaves at ten.";
    assert!((likely(&long, other).unwrap() - 0.9999).abs() < 1e-3);
    assert_eq!(likely(&long, other), likely(&longer, other));
}

#[test]
fn a_text_without_words_has_no_score() {
    for empty in ["", " \n", "\u{200B}"] {
        assert_eq!(likely(empty, "The gate is open."), None);
    }
}

#[test]
fn a_file_that_is_cut_short_or_of_another_kind_is_refused() {
    for at in [0, 7, 8, 12, 16, 40, 1000, PACKED.len() - 1] {
        assert!(Scorer::unpack(&PACKED[..at]).is_none(), "{at}");
    }
    let mut longer = PACKED.to_vec();
    longer.push(0);
    assert!(Scorer::unpack(&longer).is_none());
    let mut other = PACKED.to_vec();
    other[8] = 2;
    assert!(Scorer::unpack(&other).is_none());
}

proptest! {
    #[test]
    fn any_two_texts_score_the_same_in_either_order_and_within_bounds(a in ".{0,80}", b in ".{0,80}") {
        let (there, back) = (likely(&a, &b), likely(&b, &a));
        prop_assert_eq!(there, back);
        if let Some(score) = there {
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }

    #[test]
    fn emoji_and_signs_harm_nothing(a in "[🚀🎉👩‍👧\u{FE0F}$%. ]{0,200}") {
        likely(&a, "The gate is open.");
    }
}
