//! The index through its public surface: answers equal to a plain calculation, forgetting, storing.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quipu_recall::{Hit, Index, IndexError, Query, analyze};

const WORDS: &[&str] = &["market", "growth", "asia", "risk", "4.2b", "team", "launch", "市場"];

fn build(texts: &[String]) -> Index {
    let mut index = Index::new();
    for (ordinal, text) in (0..).zip(texts) {
        assert!(index.insert(ordinal, &analyze(text)));
    }
    index
}

fn stored(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write_to(&mut bytes).unwrap();
    bytes
}

fn everything(_: u32) -> bool {
    true
}

/// BM25 as in a textbook, over the texts themselves.
fn brute_force(texts: &BTreeMap<u32, String>, query: &[(&str, f32)]) -> BTreeMap<u32, f64> {
    let docs: BTreeMap<u32, _> = texts.iter().map(|(at, text)| (*at, analyze(text))).collect();
    let count = docs.len() as f64;
    let total: f64 = docs.values().map(|doc| f64::from(doc.length())).sum();
    let average = (total / count).max(1.0);
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for (text, weight) in query {
        for (term, _) in analyze(text).terms() {
            *weights.entry(term.to_owned()).or_default() += f64::from(*weight);
        }
    }
    let mut scores = BTreeMap::new();
    for (term, weight) in weights {
        let frequency = |doc: &quipu_recall::Analyzed| {
            doc.terms().find(|(other, _)| *other == term).map_or(0.0, |(_, tf)| f64::from(tf))
        };
        let with = docs.values().filter(|doc| frequency(doc) > 0.0).count() as f64;
        let rarity = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        for (at, doc) in docs.iter().filter(|(_, doc)| frequency(doc) > 0.0) {
            let norm = 0.9 * (0.6 + 0.4 * f64::from(doc.length()) / average);
            let tf = frequency(doc);
            *scores.entry(*at).or_default() += weight * rarity * tf / (tf + norm);
        }
    }
    scores
}

fn check_against_brute_force(hits: &[Hit], expected: &BTreeMap<u32, f64>) {
    let found: BTreeSet<u32> = hits.iter().map(|hit| hit.ordinal).collect();
    assert_eq!(found, expected.keys().copied().collect());
    for hit in hits {
        let difference = (f64::from(hit.score) - expected[&hit.ordinal]).abs();
        assert!(difference < 1e-4, "{hit:?} should be {}", expected[&hit.ordinal]);
    }
    for pair in hits.windows(2) {
        let order = pair[0].score.total_cmp(&pair[1].score);
        assert!(order.is_gt() || (order.is_eq() && pair[0].ordinal > pair[1].ordinal));
    }
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn search_equals_a_plain_calculation(
        texts in prop::collection::vec(text(), 1..25),
        hint in text(),
        interests in text(),
        weight in 0.1_f32..2.0,
        removed in prop::collection::btree_set(0_usize..25, 0..6),
    ) {
        let mut index = build(&texts);
        let mut left: BTreeMap<u32, String> = (0..).zip(texts.clone()).collect();
        for at in removed.into_iter().filter(|at| *at < texts.len()) {
            let ordinal = u32::try_from(at).unwrap();
            prop_assert!(index.remove(ordinal, &analyze(&texts[at])));
            left.remove(&ordinal);
        }
        let parts = [(hint.as_str(), 1.0), (interests.as_str(), weight)];
        let query = Query::new(&parts);
        let hits = index.lexical().search(&query, usize::MAX, &everything);
        check_against_brute_force(&hits, &brute_force(&left, &parts));
        let ordinals: Vec<u32> = hits.iter().map(|hit| hit.ordinal).collect();
        let scores: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
        prop_assert_eq!(index.lexical().score_all(&query, &ordinals), scores);
    }

    #[test]
    fn a_smaller_limit_gives_a_prefix_and_only_accepted_documents_count(
        texts in prop::collection::vec(text(), 1..25),
        hint in text(),
        limit in 0_usize..10,
    ) {
        let index = build(&texts);
        let query = Query::new(&[(&hint, 1.0)]);
        let even = |ordinal: u32| ordinal.is_multiple_of(2);
        let all = index.lexical().search(&query, usize::MAX, &everything);
        let mut expected: Vec<Hit> = all.into_iter().filter(|hit| even(hit.ordinal)).collect();
        expected.truncate(limit);
        prop_assert_eq!(index.lexical().search(&query, limit, &even), expected);
    }

    #[test]
    fn a_stored_index_answers_the_same(
        texts in prop::collection::vec(text(), 0..25),
        hint in text(),
        removed in prop::collection::btree_set(0_usize..25, 0..25),
    ) {
        let mut index = build(&texts);
        for at in removed.into_iter().filter(|at| *at < texts.len()) {
            index.remove(u32::try_from(at).unwrap(), &analyze(&texts[at]));
        }
        let bytes = stored(&index);
        let mut again = Index::read_from(&mut bytes.as_slice()).unwrap();
        let query = Query::new(&[(&hint, 1.0)]);
        prop_assert_eq!(
            again.lexical().search(&query, 10, &everything),
            index.lexical().search(&query, 10, &everything)
        );
        prop_assert_eq!(stored(&again), bytes);
        let more = analyze("growth in asia");
        prop_assert!(again.insert(25, &more) && index.insert(25, &more));
        prop_assert_eq!(stored(&again), stored(&index));
    }

    #[test]
    fn removing_leaves_no_trace(
        texts in prop::collection::vec(text(), 1..12),
        secret in "[a-z]{5,9}",
        at in 0_usize..12,
    ) {
        let at = at % texts.len();
        let mut with_secret = texts.clone();
        with_secret[at] = format!("{} zq{secret}", texts[at]);
        let ordinal = u32::try_from(at).unwrap();
        let mut index = build(&with_secret);
        prop_assert!(index.remove(ordinal, &analyze(&with_secret[at])));
        prop_assert!(index.insert(ordinal, &analyze(&texts[at])));
        prop_assert_eq!(stored(&index), stored(&build(&texts)));
    }

    #[test]
    fn altered_bytes_are_an_error_or_an_index_but_never_a_panic(
        texts in prop::collection::vec(text(), 1..12),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = stored(&build(&texts));
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(index) = Index::read_from(&mut bytes.as_slice()) {
            index.lexical().search(&Query::new(&[("market growth", 1.0)]), 10, &everything);
        }
    }
}

#[test]
fn a_cut_index_is_an_error_at_every_length() {
    let texts: Vec<String> = (0..50).map(|at| format!("market unit{at} growth")).collect();
    let bytes = stored(&build(&texts));
    for length in 0..bytes.len() {
        let error = Index::read_from(&mut &bytes[..length]).unwrap_err();
        assert!(matches!(error, IndexError::Read(_)), "{length}: {error}");
    }
}

#[test]
fn foreign_and_newer_files_are_named_as_such() {
    let foreign = Index::read_from(&mut &b"SQLite format 3\0"[..]).unwrap_err();
    assert!(matches!(foreign, IndexError::Foreign { .. }), "{foreign}");
    let mut newer = stored(&Index::new());
    newer[8] = 9;
    let newer = Index::read_from(&mut newer.as_slice()).unwrap_err();
    assert_eq!(newer.to_string(), "index format 9 is not supported, only 1");
}

#[test]
fn a_claimed_size_reserves_nothing() {
    let mut bytes = stored(&Index::new());
    bytes.truncate(12);
    bytes.extend(u32::MAX.to_le_bytes());
    let error = Index::read_from(&mut bytes.as_slice()).unwrap_err();
    assert!(matches!(error, IndexError::Read(_)), "{error}");
}

#[test]
fn an_ordinal_is_taken_until_it_is_removed() {
    let doc = analyze("market growth");
    let mut index = Index::new();
    assert!(index.insert(5, &doc));
    assert!(!index.insert(5, &doc));
    assert!(!index.insert(u32::MAX, &doc));
    assert!(!index.remove(4, &doc));
    assert!(index.remove(5, &doc));
    assert!(index.is_empty() && !index.lexical().knows_term("market"));
    assert!(index.insert(5, &doc));
    assert_eq!(index.len(), 1);
}

#[test]
fn names_the_words_as_the_query_wrote_them_rarest_first() {
    let texts = ["growing markets in asia", "market report", "a market", "nothing"];
    let index = build(&texts.map(str::to_owned));
    let query = Query::new(&[("Market Growth grows ASIAN asia", 1.0)]);
    let words = index.lexical().matched_terms(&query, &[3, 0, 1, 99, 0]);
    assert_eq!(words[1], words[4]);
    assert_eq!(words[1], ["asia", "grows", "Market"]);
    assert_eq!(words[2], ["Market"]);
    assert!(words[0].is_empty() && words[3].is_empty());
}

#[test]
fn bad_texts_are_found_again() {
    let code = "fn main() { let täxt = vec![0u8; 1 << 20]; }\n".repeat(2000);
    let base64 = "bWFya2V0IGdyb3d0aCBpbiBhc2lh/+".repeat(4000);
    let emoji = "🚀 moonshot 👩‍👩‍👧‍👦".repeat(1000);
    let texts = ["", "word", &code, &base64, &emoji, "\u{202E}שלום עולם", "السوق ينمو بسرعة"];
    let index = build(&texts.map(str::to_owned));
    for (hint, ordinal) in
        [("word", 1), ("täxt", 2), ("moonshot", 4), ("עולם", 5), ("ينمو", 6), (&base64, 3)]
    {
        let hits = index.lexical().search(&Query::new(&[(hint, 1.0)]), 1, &everything);
        assert_eq!(hits.first().map(|hit| hit.ordinal), Some(ordinal));
    }
    assert!(index.lexical().search(&Query::new(&[("", 1.0)]), 5, &everything).is_empty());
}

#[test]
fn memory_grows_by_a_few_bytes_per_word_of_known_vocabulary() {
    let texts: Vec<String> =
        (0_u32..5000).map(|at| format!("market growth {} {}", at % 50, at % 70)).collect();
    let index = build(&texts);
    assert!(
        index.lexical().memory_bytes() < 5000 * (4 + 4 * 5) + 20_000,
        "{}",
        index.lexical().memory_bytes()
    );
}

#[test]
fn forgetting_without_the_texts_leaves_what_removing_with_them_leaves() {
    let texts: Vec<String> =
        ["market growth", "risk in asia", "asia market market", "launch"].map(str::to_owned).into();
    let (mut forgotten, mut removed) = (build(&texts), build(&texts));
    forgotten.forget(&BTreeSet::from([1, 2, 77]));
    for (ordinal, text) in [(1, "risk in asia"), (2, "asia market market")] {
        assert!(removed.remove(ordinal, &analyze(text)));
    }
    assert_eq!(stored(&forgotten), stored(&removed));
    assert_eq!(forgotten.len(), 2);
    assert!(!forgotten.lexical().knows_term("risk") && forgotten.lexical().knows_term("market"));
}
