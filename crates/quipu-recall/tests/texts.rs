//! Token counts and summaries through their public surface, with good and bad texts.
#![cfg(test)]

use proptest::prelude::*;
use quipu_recall::{
    Query,
    summary::summarize::{summarize, summarize_for},
    text::tokens::{count, count_within},
};

const REPORT: &str = "The Asian market is growing. We spoke to twelve vendors, e.g. Acme and \
    Initech, over three weeks. Revenue will reach $4.2B by 2027, up 23% from last year. Lunch was \
    good. The market in Asia will overtake the European market. Nobody objected.";

#[test]
fn counts_as_the_encoding_does() {
    assert_eq!(count(""), 0);
    assert_eq!(count("hello world"), 2);
    assert_eq!(count_within("hello world", 2), Some(2));
    assert_eq!(count_within("hello world", 1), None);
}

#[test]
fn a_text_that_fits_is_returned_whole() {
    assert_eq!(summarize("  One. Two.\n", 100), "One. Two.");
    assert_eq!(summarize("", 0), "");
}

#[test]
fn keeps_whole_sentences_in_order_and_prefers_figures() {
    let summary = summarize(REPORT, 30);
    assert_eq!(
        summary,
        "The Asian market is growing. Revenue will reach $4.2B by 2027, up 23% from last year."
    );
}

#[test]
fn what_answers_the_reader_comes_before_the_opening_and_before_figures() {
    let asked = Query::new(&[("did anybody have lunch or object?", 1.0)]);
    assert_eq!(summarize_for(REPORT, &asked, 5), "Lunch was good.");
    assert_eq!(
        summarize_for(REPORT, &asked, 16),
        "The Asian market is growing. Lunch was good. Nobody objected."
    );
    let elsewhere = Query::new(&[("penguins", 1.0)]);
    assert_eq!(summarize_for(REPORT, &elsewhere, 30), summarize(REPORT, 30));
}

#[test]
fn an_abbreviation_does_not_end_a_sentence() {
    let text = "We asked vendors, e.g. Acme, about their plans for the coming year. Second.";
    assert_eq!(
        summarize(text, 18),
        "We asked vendors, e.g. Acme, about their plans for the coming year."
    );
}

#[test]
fn cuts_one_long_sentence_at_a_word() {
    let text = "growth, ".repeat(100) + "and more";
    let summary = summarize(&text, 10);
    assert!(summary.ends_with("growth…"), "{summary}");
    assert!(count(&summary) <= 10 && count(&summary) >= 8);
}

#[test]
fn cuts_inside_a_word_where_there_is_only_one() {
    let summary = summarize(&"x1".repeat(50_000), 12);
    assert!(summary.ends_with('…') && count(&summary) <= 12, "{summary}");
    assert_eq!(summarize("incomprehensibilities", 0), "");
}

#[test]
fn bad_texts_are_counted_and_summarised_within_the_limit() {
    let megabyte = 1 << 20;
    let texts = [
        " ".repeat(megabyte),
        "\n \n".repeat(megabyte / 3),
        "a".repeat(megabyte),
        "A".repeat(megabyte),
        "中".repeat(megabyte / 3),
        "👩‍👩‍👧‍👦".repeat(10_000),
        "ʰA".repeat(megabyte / 3),
        "\u{301}".repeat(megabyte / 2),
        "0123456789".repeat(megabyte / 10),
        "שלום עולם ".repeat(20_000),
        "bWFya2V0IGdyb3d0aA+/".repeat(megabyte / 20),
        "fn main() { let x = vec![0u8; 1 << 20]; }\n".repeat(10_000),
        "!".repeat(megabyte),
        ". ".repeat(megabyte / 2),
    ];
    for text in &texts {
        assert!(count(text) <= text.len());
        for max_tokens in [0, 1, 7, 100] {
            let summary = summarize(text, max_tokens);
            assert!(count(&summary) <= max_tokens, "{max_tokens}: {summary:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_summary_is_never_longer_than_asked_and_always_the_same(
        text in prop_oneof![".{0,400}", "([A-Z][a-z ]{1,30}[.!?] ?){0,20}", "[\\s\\S]{0,300}"],
        max_tokens in 0_usize..60,
    ) {
        let summary = summarize(&text, max_tokens);
        prop_assert!(count(&summary) <= max_tokens);
        prop_assert_eq!(summarize(&text, max_tokens), summary);
        let asked = Query::new(&[(text.get(text.len() / 2..).unwrap_or("a word"), 1.0)]);
        prop_assert!(count(&summarize_for(&text, &asked, max_tokens)) <= max_tokens);
    }

    #[test]
    fn a_bounded_count_agrees_with_the_whole_count(text in ".{0,300}", limit in 0_usize..200) {
        let whole = count(&text);
        prop_assert_eq!(count_within(&text, limit), (whole <= limit).then_some(whole));
    }
}
