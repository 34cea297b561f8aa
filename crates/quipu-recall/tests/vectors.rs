//! The vectors through their public surface: what is near is found, what is gone is gone, and what
//! may not be seen changes nothing.
#![cfg(test)]

#[path = "sentences/generated.rs"]
mod sentences;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quipu_recall::{Embedding, Hit, Index, Space, Vectors, analyze, embed::builtin};

use sentences::{Dice, question, statement};

const DIMENSIONS: usize = 64;

fn space() -> Space {
    Space { model: "test/1".into(), dimensions: DIMENSIONS, centre: Vec::new() }
}

/// Numbers that look random and are the same each time.
fn drawn(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..DIMENSIONS).map(|_| next()).collect()
}

fn normal(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

fn collection(seeds: impl IntoIterator<Item = (u32, u64)>) -> Vectors {
    let mut vectors = Vectors::new(space());
    for (ordinal, seed) in seeds {
        assert!(vectors.insert(ordinal, &Embedding::new([normal(drawn(seed)).as_slice()])));
    }
    vectors
}

fn everything(_: u32) -> bool {
    true
}

fn ordinals(hits: &[Hit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.ordinal).collect()
}

#[test]
fn the_nearest_of_many_are_almost_always_the_exact_ones() {
    let vectors = collection((0..20_000).map(|at| (at, u64::from(at) + 1)));
    let mut found = 0;
    for query in 0..20_u64 {
        let probe = vectors.probe(&normal(drawn(1_000_000 + query))).unwrap();
        let mut exact: Vec<(f32, u32)> =
            (0..20_000).map(|at| (vectors.similarity(&probe, at).unwrap(), at)).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let exact: BTreeSet<u32> = exact.iter().take(10).map(|(_, at)| *at).collect();
        let near = ordinals(&vectors.nearest(&probe, 10, &everything));
        found += near.iter().filter(|at| exact.contains(at)).count();
    }
    assert!(found >= 190, "{found} of 200");
}

#[test]
fn of_the_ten_sentences_nearest_in_meaning_98_in_100_are_found() {
    let mut vectors = Vectors::new(Index::new().vectors().space().clone());
    let mut dice = Dice(7);
    for ordinal in 0..20_000 {
        vectors
            .insert(ordinal, &Embedding::new([builtin().vector(&statement(&mut dice)).as_slice()]));
    }
    let (mut found, queries) = (0, 100);
    for _ in 0..queries {
        let probe = vectors.probe(&builtin().vector(&question(&mut dice))).unwrap();
        let mut exact: Vec<(f32, u32)> =
            (0..20_000).map(|at| (vectors.similarity(&probe, at).unwrap(), at)).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let exact: BTreeSet<u32> = exact.iter().take(10).map(|(_, at)| *at).collect();
        let near = ordinals(&vectors.nearest(&probe, 10, &everything));
        found += near.iter().filter(|at| exact.contains(at)).count();
    }
    assert!(found >= queries * 10 * 98 / 100, "{found} of {}", queries * 10);
}

#[test]
fn a_document_is_as_near_as_its_nearest_vector_and_comes_once() {
    let mut vectors = Vectors::new(space());
    let (a, b) = (normal(drawn(1)), normal(drawn(2)));
    assert!(vectors.insert(3, &Embedding::new([a.as_slice(), b.as_slice()])));
    assert!(!vectors.insert(3, &Embedding::new([a.as_slice()])));
    let near = vectors.nearest(&vectors.probe(&b).unwrap(), 5, &everything);
    assert_eq!(ordinals(&near), [3]);
    assert!(near[0].score > 0.99);
}

#[test]
fn vectors_of_another_size_are_refused() {
    let mut vectors = Vectors::new(space());
    assert!(!vectors.insert(0, &Embedding::new([[1.0_f32, 2.0].as_slice()])));
    assert!(!vectors.insert(0, &Embedding::default()));
    assert!(vectors.probe(&[1.0, 2.0]).is_none() && vectors.probe(&[0.0; DIMENSIONS]).is_none());
    assert!(vectors.is_empty() && !vectors.has(0) && vectors.probe_of(0).is_none());
}

#[test]
fn a_meaning_is_found_without_a_shared_word() {
    let mut index = Index::new();
    let texts = ["The orchestra tuned its violins", "The physician prescribed medicine", "Invoice"];
    for (ordinal, text) in (0..).zip(texts) {
        assert!(index.insert(ordinal, &analyze(text)));
    }
    let hint = builtin().vector("a doctor gives drugs to sick people");
    let probe = index.vectors().probe(&hint).unwrap();
    assert_eq!(index.vectors().nearest(&probe, 1, &everything)[0].ordinal, 1);
}

#[test]
fn a_second_model_covers_what_has_arrived_and_is_stored_with_the_rest() {
    let mut index = Index::new();
    (0..3).for_each(|at| assert!(index.insert(at, &analyze("some words"))));
    let second = Embedding::new([normal(drawn(1)).as_slice()]);
    assert!(!index.insert_second(1, &second));
    index.open_second(space());
    assert!(index.insert_second(1, &second) && !index.insert_second(7, &second));
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    let mut again = Index::read_from(&mut bytes.as_slice()).unwrap();
    assert!(again.second().is_some_and(|second| second.has(1) && !second.has(0)));
    again.forget(&BTreeSet::from([1]));
    assert!(again.second().is_some_and(Vectors::is_empty) && !again.vectors().has(1));
    again.open_second(Space { model: "other/1".into(), ..space() });
    assert!(again.second().is_some_and(Vectors::is_empty));
    again.close_second();
    assert!(again.second().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_not_accepted_changes_nothing(
        hidden in prop::collection::btree_set(0_u32..6000, 0..3000),
        query in any::<u64>(),
        limit in 1_usize..20,
    ) {
        let all = (0..6000).map(|at| (at, u64::from(at % 500) + 1));
        let with = collection(all.clone());
        let without = collection(all.filter(|(at, _)| !hidden.contains(at)));
        let probe = with.probe(&normal(drawn(query))).unwrap();
        let seen = |at: u32| !hidden.contains(&at);
        prop_assert_eq!(
            with.nearest(&probe, limit, &seen),
            without.nearest(&probe, limit, &everything)
        );
    }

    #[test]
    fn several_looked_for_together_find_what_each_finds_alone(
        queries in prop::collection::vec(any::<u64>(), 0..5),
        limit in 1_usize..20,
    ) {
        let all = collection((0..3000).map(|at| (at, u64::from(at) + 1)));
        let probes: Vec<_> = queries.iter().map(|at| all.probe(&normal(drawn(*at))).unwrap()).collect();
        let alone: Vec<_> = probes.iter().map(|probe| all.nearest(probe, limit, &everything)).collect();
        let together: Vec<_> = probes.iter().collect();
        prop_assert_eq!(all.nearest_to_each(&together, limit, &everything), alone);
    }

    #[test]
    fn the_order_of_arrival_changes_nothing(
        order in Just((0..60_u32).collect::<Vec<_>>()).prop_shuffle(),
        query in any::<u64>(),
    ) {
        let sorted = collection((0..60).map(|at| (at, u64::from(at % 7) + 1)));
        let shuffled = collection(order.into_iter().map(|at| (at, u64::from(at % 7) + 1)));
        let probe = sorted.probe(&normal(drawn(query))).unwrap();
        let near = sorted.nearest(&probe, 60, &everything);
        prop_assert_eq!(&near, &shuffled.nearest(&probe, 60, &everything));
        let by_ordinal: BTreeMap<u32, f32> = near.iter().map(|hit| (hit.ordinal, hit.score)).collect();
        prop_assert!(by_ordinal.iter().all(|(at, score)| sorted.similarity(&probe, *at) == Some(*score)));
    }
}
