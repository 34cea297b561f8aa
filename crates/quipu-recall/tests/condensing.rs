//! Summaries of many texts, and the beginnings of one: in the sources' own sentences, none twice, within the limit.
#![cfg(test)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use quipu_recall::summary::{
    condense::{Condensed, Quote, Room, Source, condense},
    summarize::{lead, summarize},
};

fn sources<'a>(texts: &[&'a str]) -> Vec<Source<'a>> {
    texts.iter().map(|text| Source { text, worth: 0.0, heading: 0 }).collect()
}

fn said(texts: &[&str], room: Room) -> Vec<String> {
    let condensed = condense(&sources(texts), &[], room);
    condensed.quotes.into_iter().map(|it| it.sentence.into_owned()).collect()
}

fn chars(condensed: &Condensed<'_>) -> usize {
    let quotes = condensed.quotes.iter().map(|it| it.sentence.chars().count() + 1);
    let phrases = condensed.phrases.iter().map(|it| it.chars().count() + 2);
    quotes.chain(phrases).sum()
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
    let kept = said(&WEEK, Room::Chars(320));
    for wanted in ["9 ms", "Decided: the store runs in Frankfurt.", "second region required"] {
        assert!(kept.iter().any(|sentence| sentence.contains(wanted)), "{wanted}: {kept:?}");
    }
    assert!(!kept.iter().any(|sentence| sentence.contains("discussed again")), "{kept:?}");
}

#[test]
fn says_nothing_twice_but_keeps_what_differs_in_a_figure_or_a_not() {
    let condensed = condense(&sources(&WEEK), &[], Room::Everything);
    let of = |words: &str| {
        condensed.quotes.iter().filter(|it| it.sentence.contains(words)).collect::<Vec<_>>()
    };
    let three = of("We looked at three regions");
    assert_eq!(three.len(), 1, "{condensed:?}");
    assert_eq!(three[0].repeats, [2], "it is said who said it too");
    assert_eq!(of("spare capacity").len(), 2, "what is denied is not what is said");
    let figures = ["The market grows by 14% a year.", "The market grows by 12% a year."];
    assert_eq!(said(&figures, Room::Everything), figures);
}

#[test]
fn what_is_not_quoted_leaves_its_figures_and_names() {
    let long = [
        "Decided: the whole store has to run in Frankfurt from the spring on, as everybody agreed.",
        "On the way home we talked with Miriam Stein for a while about the 340 crates in Kiel.",
    ];
    let condensed = condense(&sources(&long), &[], Room::Chars(150));
    assert_eq!(condensed.quotes.len(), 1, "{condensed:?}");
    let phrases = condensed.phrases.join("; ");
    assert!(phrases.contains("Miriam Stein") && phrases.contains("340 crates"), "{phrases}");
}

#[test]
fn what_the_caller_values_more_is_taken_first() {
    let mut sources = sources(&["The harbour is closed by ice.", "The airport is closed by fog."]);
    let room = Room::Chars(60);
    assert_eq!(condense(&sources, &[], room).quotes[0].source, 0);
    sources[1].worth = 1.0;
    assert_eq!(condense(&sources, &[], room).quotes[0].source, 1);
}

#[test]
fn a_heading_is_paid_for_once() {
    let mut sources = sources(&["Ice came. Fog went.", "Rain stayed."]);
    sources[1].heading = 1;
    let kept = condense(&sources, &[20, 20], Room::Chars((20 + 10 + 10) * 100 / 60 + 1));
    assert_eq!(kept.quotes.iter().map(|quote| quote.source).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn one_long_sentence_is_cut_and_nothing_gives_nothing() {
    let long = "the and ".repeat(100);
    let kept = said(&[&long], Room::Chars(20));
    assert!(kept.len() == 1 && kept[0].ends_with('…') && kept[0].len() <= 22, "{kept:?}");
    assert_eq!(condense(&[], &[], Room::Everything), Condensed::default());
    assert_eq!(condense(&sources(&["", " \n"]), &[], Room::Chars(9)), Condensed::default());
    assert_eq!(said(&["Ice came."], Room::Chars(0)), Vec::<String>::new());
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
    fn what_is_condensed_is_verbatim_short_enough_ordered_and_always_the_same(
        texts in prop::collection::vec(text(), 0..8),
        room in 0_usize..400,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let kept = condense(&sources(&texts), &[], Room::Chars(room));
        prop_assert!(chars(&kept) <= room, "{kept:?}");
        prop_assert!(kept.quotes.is_sorted_by_key(|quote| quote.source));
        for Quote { source, sentence, .. } in &kept.quotes {
            let whole = texts[*source].contains(sentence.as_ref());
            let start = sentence.strip_suffix('…').unwrap_or("\n");
            prop_assert!(whole || kept.quotes.len() == 1 && texts[*source].contains(start), "{sentence}");
        }
        for phrase in &kept.phrases {
            prop_assert!(texts.iter().any(|text| text.contains(phrase)), "{phrase}");
        }
        prop_assert_eq!(condense(&sources(&texts), &[], Room::Chars(room)), kept);
    }

    #[test]
    fn no_two_sentences_have_the_same_words(
        texts in prop::collection::vec(text(), 0..8),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut seen = BTreeSet::new();
        for sentence in said(&texts, Room::Everything) {
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
