//! Summaries of many texts, and the beginnings of one: in the sources' own sentences, none twice, within the limit.
#![cfg(test)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use quipu_recall::{
    summary::summarize::{Extract, Source, digest, lead, summarize},
    text::tokens::count,
};

fn sources<'a>(texts: &[&'a str]) -> Vec<Source<'a>> {
    texts.iter().map(|text| Source { text, worth: 0.0, name_tokens: 0 }).collect()
}

fn said(texts: &[&str], max_tokens: usize) -> Vec<String> {
    digest(&sources(texts), max_tokens).into_iter().map(|it| it.sentence.into_owned()).collect()
}

/// What agents wrote on one task in a week.
const WEEK: [&str; 7] = [
    "We looked at three regions for the new store. Frankfurt has the lowest latency, 9 ms at the median.",
    "The regions for the new store were discussed again. Lunch was late.",
    "We looked at three regions for the new store.",
    "Decided: the store runs in Frankfurt. The contract is signed on 1 March.",
    "Latency in Frankfurt was measured once more and is 9 ms at the median.",
    "Is a second region required before the launch?",
    "Frankfurt does not have spare capacity before April. Frankfurt has spare capacity before April.",
];

#[test]
fn keeps_figures_decisions_and_open_questions_before_the_rest() {
    let kept = said(&WEEK, 50);
    for wanted in ["9 ms", "Decided: the store runs in Frankfurt.", "second region required"] {
        assert!(kept.iter().any(|sentence| sentence.contains(wanted)), "{wanted}: {kept:?}");
    }
    assert!(!kept.iter().any(|sentence| sentence.contains("discussed again")), "{kept:?}");
}

#[test]
fn says_nothing_twice_but_keeps_what_differs_in_a_figure_or_a_not() {
    let kept = said(&WEEK, 1000);
    let of = |words: &str| kept.iter().filter(|sentence| sentence.contains(words)).count();
    assert_eq!(of("We looked at three regions"), 1, "{kept:?}");
    assert_eq!(of("spare capacity"), 2, "what is denied is not what is said: {kept:?}");
    let figures = ["The market grows by 14% a year.", "The market grows by 12% a year."];
    assert_eq!(said(&figures, 100), figures);
}

#[test]
fn what_the_caller_values_more_is_taken_first() {
    let mut sources = sources(&["The harbour is closed by ice.", "The airport is closed by fog."]);
    assert_eq!(digest(&sources, 8)[0].source, 0);
    sources[1].worth = 1.0;
    assert_eq!(digest(&sources, 8)[0].source, 1);
}

#[test]
fn naming_a_source_is_paid_for_once() {
    let mut sources = sources(&["Ice came. Fog went.", "Rain stayed."]);
    for source in &mut sources {
        source.name_tokens = 10;
    }
    let tokens = |text: &str| count(text);
    let both = tokens(" Ice came.") + tokens(" Fog went.");
    let kept = digest(&sources, 10 + both);
    assert_eq!(kept.iter().map(|extract| extract.source).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn one_long_sentence_is_cut_and_nothing_gives_nothing() {
    let long = "growth and ".repeat(100);
    let kept = said(&[&long], 12);
    assert!(kept.len() == 1 && kept[0].ends_with('…') && count(&kept[0]) <= 12, "{kept:?}");
    assert_eq!(digest(&[], 100), []);
    assert_eq!(digest(&sources(&["", " \n"]), 100), []);
    assert_eq!(said(&["Ice came."], 0), Vec::<String>::new());
}

#[test]
fn a_summary_of_one_text_does_not_repeat_itself() {
    let text = "The build is broken. The build is broken. It fails in the parser. ".repeat(20);
    assert_eq!(summarize(&text, 40), "The build is broken. It fails in the parser.");
}

#[test]
fn the_beginning_of_a_text_is_its_first_sentences_or_its_first_words() {
    for (max_chars, expected) in [
        (100, "One came, e.g. Ann. Two went home early today."),
        (30, "One came, e.g. Ann."),
        (19, "One came, e.g. Ann."),
        (18, "One came, e.g.…"),
        (3, "On…"),
        (1, "…"),
        (0, ""),
    ] {
        assert_eq!(lead(" One came, e.g. Ann. Two went home early today.\n", max_chars), expected);
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,200}",
        "((The|A) (ship|port|crew) (is|was|must be|is not) (late|new|closed)( by [0-9]{1,2}%)?[.?] ?){0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_digest_is_verbatim_short_enough_ordered_and_always_the_same(
        texts in prop::collection::vec(text(), 0..8),
        max_tokens in 0_usize..80,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let kept = digest(&sources(&texts), max_tokens);
        let joined: Vec<&str> = kept.iter().map(|extract| extract.sentence.as_ref()).collect();
        prop_assert!(count(&joined.join(" ")) <= max_tokens);
        prop_assert!(kept.is_sorted_by_key(|extract| extract.source));
        for Extract { source, sentence } in &kept {
            let whole = texts[*source].contains(sentence.as_ref());
            let start = sentence.strip_suffix('…').unwrap_or("\n");
            prop_assert!(whole || (kept.len() == 1 && texts[*source].contains(start)), "{sentence}");
        }
        prop_assert_eq!(digest(&sources(&texts), max_tokens), kept);
    }

    #[test]
    fn no_two_sentences_of_a_digest_have_the_same_words(
        texts in prop::collection::vec(text(), 0..8),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut seen = BTreeSet::new();
        for sentence in said(&texts, 10_000) {
            let words: BTreeSet<String> = sentence
                .split(|letter: char| !letter.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect();
            prop_assert!(words.is_empty() || seen.insert(words), "{sentence}");
        }
    }

    #[test]
    fn the_beginning_of_a_text_is_never_longer_than_asked(text in ".{0,80}", max_chars in 0_usize..60) {
        let lead = lead(&text, max_chars);
        prop_assert!(lead.chars().count() <= max_chars, "{lead:?}");
        let start = lead.strip_suffix('…').unwrap_or(&lead);
        prop_assert!(text.trim().starts_with(start));
    }
}
