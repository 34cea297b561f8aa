//! Owns where a sentence ends. Weighs none and drops none.

use super::full_stops::ends_here;
use crate::limits::MAX_SUMMARY_SENTENCES;

/// Splits at sentence ends and line ends, at most [`MAX_SUMMARY_SENTENCES`] of them.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        let (before, behind) = (text.get(start..at), text.get(end..));
        if ends_sentence(before.unwrap_or_default(), letter, behind.unwrap_or_default()) {
            found.extend(text.get(start..end).map(str::trim).filter(|part| !part.is_empty()));
            start = end;
            if found.len() == MAX_SUMMARY_SENTENCES {
                return found;
            }
        }
    }
    found.extend(text.get(start..).map(str::trim).filter(|part| !part.is_empty()));
    found
}

/// Whether a sentence ends with `letter`, between what is before it and behind it.
pub(crate) fn ends_sentence(before: &str, letter: char, behind: &str) -> bool {
    let stands_alone = || behind.chars().next().is_none_or(char::is_whitespace);
    match letter {
        '\n' | '。' | '！' | '？' | '．' => true,
        '!' | '?' | '…' | '؟' | '۔' | '।' | '॥' | '።' => stands_alone(),
        '.' => stands_alone() && ends_here(before, behind),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn dates_numbers_and_abbreviations_end_no_sentence() {
        for (text, expected) in [
            (
                "Wir treffen uns am 30. März. Es gibt Kuchen.",
                &["Wir treffen uns am 30. März.", "Es gibt Kuchen."][..],
            ),
            ("Der 3. Versuch gelang. Der 4. auch.", &["Der 3. Versuch gelang.", "Der 4. auch."]),
            (
                "Das gilt z. B. in Kiel, d. h. im Norden. Mehr nicht.",
                &["Das gilt z. B. in Kiel, d. h. im Norden.", "Mehr nicht."],
            ),
            (
                "Siehe Nr. 5 bzw. Abs. 3. Danach Art. 7.",
                &["Siehe Nr. 5 bzw. Abs. 3.", "Danach Art. 7."],
            ),
            (
                "Es kostet ca. 3,5 Mio. Euro. Das ist viel.",
                &["Es kostet ca. 3,5 Mio. Euro.", "Das ist viel."],
            ),
            ("Obst, Gemüse usw. Der Rest fehlt.", &["Obst, Gemüse usw.", "Der Rest fehlt."]),
            (
                "It grew by 3.5 percent in 2024. The rest fell.",
                &["It grew by 3.5 percent in 2024.", "The rest fell."],
            ),
            ("We sold 30. The rest stays.", &["We sold 30.", "The rest stays."]),
            (
                "Dr. Weber met J. Smith at 5 p.m. on Monday. They agreed.",
                &["Dr. Weber met J. Smith at 5 p.m. on Monday.", "They agreed."],
            ),
            ("It shuts at 5 p.m. We leave then.", &["It shuts at 5 p.m.", "We leave then."]),
            (
                "Due Dec. 3, see No. 7. No. We said so.",
                &["Due Dec. 3, see No. 7.", "No.", "We said so."],
            ),
            (
                "Take plan B. The other failed. So did I.",
                &["Take plan B.", "The other failed.", "So did I."],
            ),
            ("1. Open the valve\n2. Wait", &["1. Open the valve", "2. Wait"]),
            ("港は閉鎖。氷のため。", &["港は閉鎖。", "氷のため。"]),
            ("बंदरगाह बंद है। बर्फ है।", &["बंदरगाह बंद है।", "बर्फ है।"]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_but_marks_is_bounded_and_loses_nothing() {
        for text in ["....", ". . .", "a.b.c.", "30.", "\u{202e}.\u{0}.", "„.“ ."] {
            let found = sentences(text).concat();
            let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(bare(&found), bare(text));
        }
        assert!(
            sentences(&"z. B. 3. ".repeat(100_000)).len() <= crate::limits::MAX_SUMMARY_SENTENCES
        );
    }
}
