//! The index through its public surface: answers equal to a plain calculation, forgetting, storing.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quipu_recall::{Hit, Index, IndexError, Neighbours, Newest, Query, Seen, analyze};

const WORDS: &[&str] = &["market", "growth", "asia", "risk", "4.2b", "team", "launch", "市場"];

/// Lays down a rule.
const RULE: &str = "From now on always answer in French.";

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

fn search(index: &Index, query: &Query, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
    index.lexical().search(query, &Seen::ALL).best(limit, accept)
}

/// Documents in a row.
struct Row(u32);

impl Neighbours for Row {
    fn before(&self, ordinal: u32) -> Option<u32> {
        ordinal.checked_sub(1)
    }

    fn after(&self, ordinal: u32) -> Option<u32> {
        Some(ordinal + 1).filter(|next| *next < self.0)
    }
}

/// Documents that stand alone.
struct Alone;

impl Neighbours for Alone {
    fn before(&self, _: u32) -> Option<u32> {
        None
    }

    fn after(&self, _: u32) -> Option<u32> {
        None
    }
}

/// What each word is worth in each text: BM25 by presence, lengths against their geometric mean.
fn by_word(texts: &BTreeMap<u32, String>, query: &[(&str, f32)]) -> Vec<BTreeMap<u32, f64>> {
    let docs: BTreeMap<u32, _> = texts.iter().map(|(at, text)| (*at, analyze(text))).collect();
    let count = docs.len() as f64;
    let total: f64 = docs.values().map(|doc| (doc.distinct().max(1) as f64).ln()).sum();
    let pivot = (total / count.max(1.0)).exp();
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    for (text, weight) in query {
        for (term, _) in analyze(text).terms() {
            *weights.entry(term.to_owned()).or_default() += f64::from(*weight);
        }
    }
    let worth = |(term, weight): (String, f64)| {
        let having: Vec<_> = docs.iter().filter(|(_, doc)| doc.has(&term)).collect();
        let with = having.len() as f64;
        let rarity = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        let of = |doc: &quipu_recall::Analyzed| {
            weight * rarity / (1.0 + 0.9 * (0.6 + 0.4 * doc.distinct() as f64 / pivot))
        };
        having.into_iter().map(|(at, doc)| (*at, of(doc))).collect()
    };
    weights.into_iter().map(worth).collect()
}

fn brute_force(texts: &BTreeMap<u32, String>, query: &[(&str, f32)]) -> BTreeMap<u32, f64> {
    let mut scores = BTreeMap::new();
    for (at, worth) in by_word(texts, query).into_iter().flatten() {
        *scores.entry(at).or_default() += worth;
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
        let hits = search(&index, &query, usize::MAX, &everything);
        check_against_brute_force(&hits, &brute_force(&left, &parts));
        let ordinals: Vec<u32> = hits.iter().map(|hit| hit.ordinal).collect();
        let scores: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
        let search = index.lexical().search(&query, &Seen::ALL);
        prop_assert_eq!(search.scores(&ordinals, &Alone), scores);
    }

    #[test]
    fn an_index_that_takes_over_the_newest_documents_is_as_if_it_had_found_their_words_itself(
        some in prop::collection::vec(prop_oneof![9 => text(), 1 => Just(RULE.to_owned())], 1..25),
        repeated in 1_usize..20,
        known in 0_usize..400,
        forgotten in prop::collection::btree_set(0_u32..400, 0..6),
    ) {
        let texts: Vec<String> = some.iter().cycle().take(some.len() * repeated).cloned().collect();
        let known = known.min(texts.len());
        prop_assert!(analyze(RULE).is_rule());
        let mut whole = build(&texts);
        let mut grown = build(&texts[..known]);
        grown.forget(&forgotten);
        whole.forget(&forgotten);
        // Whoever goes on adding documents meanwhile changes nothing.
        let mut live = whole.clone();
        let mut newest = Newest::of(&live, u32::try_from(known).unwrap());
        prop_assert!(known == texts.len() || !grown.append(&newest), "nothing is taken yet");
        for later in (u32::try_from(texts.len()).unwrap()..).take(9) {
            live.insert(later, &analyze(&format!("market later{later}")));
            newest.take_some(&live);
        }
        while newest.take_some(&live) {}
        prop_assert!(grown.append(&newest));
        prop_assert_eq!(stored(&grown), stored(&whole));
        prop_assert_eq!(grown.len(), whole.len());
        prop_assert!(known == texts.len() || !grown.append(&newest), "it has them now");
        let query = Query::new(&[("market growth in asia", 1.0)]);
        let (found, expected) = (search(&grown, &query, 9, &everything), search(&whole, &query, 9, &everything));
        prop_assert_eq!(found, expected);
        let probe = whole.vectors().probe_of(0);
        let near = |index: &Index| probe.as_ref().map(|probe| index.vectors().nearest(probe, 9, &everything));
        prop_assert_eq!(near(&grown), near(&whole));
    }

    #[test]
    fn documents_with_all_words_are_those_that_have_each(
        texts in prop::collection::vec(text(), 1..25),
        asked in prop::collection::vec(prop::sample::select(WORDS), 0..4),
        hidden in prop::collection::btree_set(0_u32..25, 0..6),
    ) {
        let index = build(&texts);
        let ordinals = u32::try_from(texts.len()).unwrap();
        let seen = Seen::only(ordinals, |ordinal| !hidden.contains(&ordinal));
        let has_all = |text: &String| {
            let own: Vec<&str> = text.split(' ').collect();
            !asked.is_empty() && asked.iter().all(|word| own.contains(word))
        };
        let expected: Vec<u32> = (0..)
            .zip(&texts)
            .filter(|(ordinal, text)| !hidden.contains(ordinal) && has_all(text))
            .map(|(ordinal, _)| ordinal)
            .collect();
        let query = Query::new(&[(&asked.join(" "), 1.0)]);
        prop_assert_eq!(index.lexical().having_all(&query, &seen), expected);
    }

    #[test]
    fn a_word_of_a_neighbour_counts_less_the_further_away_it_is(
        texts in prop::collection::vec(text(), 1..25),
        hint in text(),
    ) {
        let index = build(&texts);
        let all: BTreeMap<u32, String> = (0..).zip(texts.clone()).collect();
        let query = Query::new(&[(&hint, 1.0)]);
        let ordinals: Vec<u32> = all.keys().copied().collect();
        let row = Row(u32::try_from(texts.len()).unwrap());
        let found = index.lexical().search(&query, &Seen::ALL).scores(&ordinals, &row);
        let words = by_word(&all, &[(&hint, 1.0)]);
        for (ordinal, found) in ordinals.iter().zip(found) {
            let near = |word: &BTreeMap<u32, f64>| {
                let of = |(at, worth): (&u32, &f64)| match at.abs_diff(*ordinal) {
                    far @ 0..=3 => {
                        let share: f64 = if at < ordinal { 0.75 } else { 0.6 };
                        worth * share.powi(i32::try_from(far).unwrap())
                    }
                    _ => 0.0,
                };
                word.iter().map(of).fold(0.0, f64::max)
            };
            let expected: f64 = words.iter().map(near).sum();
            prop_assert!((f64::from(found) - expected).abs() < 1e-4, "{} {}", found, expected);
        }
    }

    #[test]
    fn what_is_not_seen_changes_nothing(
        texts in prop::collection::vec(text(), 1..25),
        hint in text(),
        hidden in prop::collection::btree_set(0_u32..25, 0..20),
    ) {
        let whole = build(&texts);
        let mut without = build(&texts);
        without.forget(&hidden);
        let query = Query::new(&[(&hint, 1.0)]);
        let seen = Seen::only(25, |at| !hidden.contains(&at));
        let (some, all) = (
            whole.lexical().search(&query, &seen),
            without.lexical().search(&query, &Seen::ALL),
        );
        prop_assert_eq!(some.best(25, &everything), all.best(25, &everything));
        prop_assert_eq!(some.covered().to_bits(), all.covered().to_bits());
        let left: Vec<u32> = (0..25).filter(|at| !hidden.contains(at)).collect();
        prop_assert_eq!(some.scores(&left, &Alone), all.scores(&left, &Alone));
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
        let all = search(&index, &query, usize::MAX, &everything);
        let mut expected: Vec<Hit> = all.into_iter().filter(|hit| even(hit.ordinal)).collect();
        expected.truncate(limit);
        prop_assert_eq!(search(&index, &query, limit, &even), expected);
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
            search(&again, &query, 10, &everything),
            search(&index, &query, 10, &everything)
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
            search(&index, &Query::new(&[("market growth", 1.0)]), 10, &everything);
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
fn a_document_scores_the_same_whoever_else_is_asked_about() {
    const UNITS: u32 = 6000;
    // Common words and rare ones, so that every way to look into a list is taken.
    const STEPS: [u32; 5] = [2, 19, 23, 40, 700];
    let words = |at: u32| STEPS.iter().filter(move |step| at.is_multiple_of(**step));
    let text = |at: u32| words(at).map(|step| format!("word{step} ")).collect::<String>();
    let texts: Vec<String> = (0..UNITS).map(|at| format!("{}every", text(at))).collect();
    let index = build(&texts);
    let query = Query::new(&[(&format!("{}every", text(0)), 1.0)]);
    let search = index.lexical().search(&query, &Seen::ALL);
    let all: Vec<u32> = (0..UNITS).collect();
    let (row, alone) = (search.scores(&all, &Row(UNITS)), search.scores(&all, &Alone));
    for (at, score) in all.iter().zip(&row).step_by(37) {
        assert_eq!(search.scores(&[*at], &Row(UNITS)), [*score], "{at}");
    }
    let mut expected: Vec<Hit> =
        all.iter().zip(alone).map(|(&ordinal, score)| Hit { ordinal, score }).collect();
    expected.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.ordinal.cmp(&a.ordinal)));
    for limit in [1, 5, 40, 400] {
        assert_eq!(search.best(limit, &everything), expected[..limit], "{limit}");
    }
}

#[test]
fn names_the_words_as_the_query_wrote_them_rarest_first() {
    let texts = ["growing markets in asia", "market report", "a market", "nothing"];
    let index = build(&texts.map(str::to_owned));
    let query = Query::new(&[("Market Growth grows ASIAN asia", 1.0)]);
    let search = index.lexical().search(&query, &Seen::ALL);
    let words = search.shared_words(&[3, 0, 1, 99, 0]);
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
        let hits = search(&index, &Query::new(&[(hint, 1.0)]), 1, &everything);
        assert_eq!(hits.first().map(|hit| hit.ordinal), Some(ordinal));
    }
    assert!(search(&index, &Query::new(&[("", 1.0)]), 5, &everything).is_empty());
}

#[test]
fn memory_grows_by_a_few_bytes_per_word_of_known_vocabulary() {
    let texts: Vec<String> =
        (0_u32..5000).map(|at| format!("market growth {} {}", at % 50, at % 70)).collect();
    let index = build(&texts);
    assert!(
        index.lexical().memory_bytes() < 5000 * (4 + 4 * 3) + 20_000,
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
