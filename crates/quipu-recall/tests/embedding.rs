//! The built-in embedder against tokens and vectors computed from the same files by other programs, and
//! against texts that nobody would choose.
#![cfg(test)]

use proptest::prelude::*;
use quipu_recall::{Embedder, embed::builtin};

/// A text, its tokens by the tokenizers library, the first numbers of its vector by numpy.
type Reference = (&'static str, &'static [u32], [f32; 6]);

const REFERENCES: &[Reference] = &[
    (
        "The physician prescribed medicine to her patients.",
        &[999, 6525, 15253, 3203, 1003, 1017, 4025, 15],
        [0.08326, -0.0214, 0.07481, 0.03903, 0.05689, 0.014],
    ),
    (
        "Ship it before Friday, or don't: $4.2B is at stake — 23% of the café's naïve plan.",
        &[
            1914, 1012, 1080, 4961, 13, 1033, 1126, 8, 59, 27, 5, 21, 15, 19, 1500, 1006, 1015,
            7409, 520, 1606, 6, 1000, 999, 6671, 8, 58, 14746, 1936, 15,
        ],
        [-0.03189, -0.13197, 0.076, -0.04292, -0.06804, 0.08299],
    ),
    (
        "fn get_user(id: u32) -> Result<User, Error> { todo!() }",
        &[
            45, 1081, 1134, 38, 4313, 9, 7912, 27, 60, 15706, 10, 14, 31, 1768, 29, 4313, 13, 6564,
            31, 66, 27684, 1083, 2, 9, 10, 68,
        ],
        [0.05638, -0.01906, 0.08697, -0.02648, 0.02999, -0.06994],
    ),
    (
        "市場成長 is 12%。السوق ينمو שלום עולם",
        &[
            1, 809, 857, 970, 1006, 1263, 6, 639, 273, 22676, 28827, 28839, 28837, 303, 14918,
            21195, 28839, 269, 28802, 28795, 28803, 262, 28795, 28802, 28803,
        ],
        [-0.05971, -0.10786, -0.0274, 0.03873, -0.01992, -0.065],
    ),
    (
        "👩‍👧 party 🎉 time",
        &[1, 1286, 1, 1054],
        [0.00164, -0.02124, 0.05208, 0.02991, -0.044, 0.0841],
    ),
    (
        "unbelievablyantidisestablishmentarianism",
        &[3898, 7674, 1669, 2570, 5324, 3633, 27176, 7586, 1699, 15561, 20811, 11202, 1967],
        [0.09004, -0.03445, -0.11775, 0.07074, -0.01553, 0.0045],
    ),
    (
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=",
        &[
            23212, 2504, 15203, 1618, 15526, 1695, 1235, 21581, 24512, 19495, 1229, 1632, 13292,
            20810, 1229, 1490, 1102, 1618, 1618, 5395, 1103, 1863, 5770, 30,
        ],
        [0.02624, -0.06516, -0.07016, -0.02266, -0.03566, -0.0265],
    ),
    (
        "Раз два три, naïveté ﬁne İstanbul",
        &[198, 9263, 28747, 187, 24532, 9263, 200, 15859, 9328, 13, 14746, 1621, 987, 1641, 8963],
        [-0.03154, -0.04663, -0.03079, 0.01413, -0.0983, -0.01912],
    ),
];

fn cosine(a: &str, b: &str) -> f32 {
    let (a, b) = (builtin().vector(a), builtin().vector(b));
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

#[test]
fn tokens_and_vectors_are_those_of_the_reference() {
    for (text, tokens, start) in REFERENCES {
        assert_eq!(builtin().words().ids(text, 512), *tokens, "{text}");
        let vector = builtin().vector(text);
        assert_eq!(vector.len(), builtin().dimensions());
        for (found, expected) in vector.iter().zip(start) {
            assert!((found - expected).abs() < 2e-5, "{text}: {found} {expected}");
        }
    }
}

#[test]
fn what_means_the_same_is_closer_than_what_does_not() {
    let health = "The physician prescribed medicine to her patients";
    let asked = "a doctor gives drugs to sick people in hospital";
    assert!(cosine(health, asked) > cosine(health, "a concert of classical songs") + 0.2);
    assert!(cosine("car", "automobile") > cosine("car", "invoice"));
}

#[test]
fn a_text_that_says_nothing_has_no_direction() {
    for text in ["", " \n\t", "🎉", "\0\u{200D}"] {
        assert!(builtin().vector(text).iter().all(|value| *value == 0.0), "{text:?}");
    }
}

#[test]
fn a_huge_text_costs_no_more_than_its_start() {
    let start = "word ".repeat(512);
    let huge = start.clone() + &"another thing entirely ".repeat(20_000);
    assert_eq!(builtin().vector(&huge), builtin().vector(&start));
}

proptest! {
    #[test]
    fn every_vector_is_finite_and_of_length_one_or_zero(text in "\\PC{0,80}") {
        let vectors = builtin().embed(&[&text]).unwrap();
        let length: f32 = vectors[0].iter().map(|value| value * value).sum();
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-4, "{length}");
    }
}
