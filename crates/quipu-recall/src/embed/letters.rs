//! Owns which letters are punctuation, ideographs or invisible, as BERT's tokenizers see them.
//! The tables hold what people write; a rare mark that is missing becomes part of a word.

/// Punctuation outside of ASCII, as inclusive ranges in ascending order.
const PUNCTUATION: &[(char, char)] = &[
    ('\u{A1}', '\u{A1}'),
    ('\u{A7}', '\u{A7}'),
    ('\u{AB}', '\u{AB}'),
    ('\u{B6}', '\u{B7}'),
    ('\u{BB}', '\u{BB}'),
    ('\u{BF}', '\u{BF}'),
    ('\u{37E}', '\u{37E}'),
    ('\u{387}', '\u{387}'),
    ('\u{55A}', '\u{55F}'),
    ('\u{589}', '\u{58A}'),
    ('\u{5BE}', '\u{5BE}'),
    ('\u{5C0}', '\u{5C0}'),
    ('\u{5C3}', '\u{5C3}'),
    ('\u{5F3}', '\u{5F4}'),
    ('\u{609}', '\u{60A}'),
    ('\u{60C}', '\u{60D}'),
    ('\u{61B}', '\u{61B}'),
    ('\u{61D}', '\u{61F}'),
    ('\u{66A}', '\u{66D}'),
    ('\u{6D4}', '\u{6D4}'),
    ('\u{964}', '\u{965}'),
    ('\u{970}', '\u{970}'),
    ('\u{E4F}', '\u{E4F}'),
    ('\u{E5A}', '\u{E5B}'),
    ('\u{2010}', '\u{2027}'),
    ('\u{2030}', '\u{2043}'),
    ('\u{2045}', '\u{2051}'),
    ('\u{2053}', '\u{205E}'),
    ('\u{207D}', '\u{207E}'),
    ('\u{208D}', '\u{208E}'),
    ('\u{2308}', '\u{230B}'),
    ('\u{2329}', '\u{232A}'),
    ('\u{2768}', '\u{2775}'),
    ('\u{27E6}', '\u{27EF}'),
    ('\u{2983}', '\u{2998}'),
    ('\u{2E00}', '\u{2E2E}'),
    ('\u{2E30}', '\u{2E4F}'),
    ('\u{3001}', '\u{3003}'),
    ('\u{3008}', '\u{3011}'),
    ('\u{3014}', '\u{301F}'),
    ('\u{3030}', '\u{3030}'),
    ('\u{303D}', '\u{303D}'),
    ('\u{30A0}', '\u{30A0}'),
    ('\u{30FB}', '\u{30FB}'),
    ('\u{FE10}', '\u{FE19}'),
    ('\u{FE30}', '\u{FE52}'),
    ('\u{FE54}', '\u{FE61}'),
    ('\u{FE63}', '\u{FE63}'),
    ('\u{FE68}', '\u{FE68}'),
    ('\u{FE6A}', '\u{FE6B}'),
    ('\u{FF01}', '\u{FF03}'),
    ('\u{FF05}', '\u{FF0A}'),
    ('\u{FF0C}', '\u{FF0F}'),
    ('\u{FF1A}', '\u{FF1B}'),
    ('\u{FF1F}', '\u{FF20}'),
    ('\u{FF3B}', '\u{FF3D}'),
    ('\u{FF3F}', '\u{FF3F}'),
    ('\u{FF5B}', '\u{FF5B}'),
    ('\u{FF5D}', '\u{FF5D}'),
    ('\u{FF5F}', '\u{FF65}'),
];

/// Whether a letter stands alone. In ASCII every sign counts, also "$" and "+".
pub(super) fn is_punctuation(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_punctuation();
    }
    let after = PUNCTUATION.partition_point(|(first, _)| *first <= letter);
    after.checked_sub(1).is_some_and(|at| letter <= PUNCTUATION[at].1)
}

/// Whether a letter is an ideograph, which is a word of its own here. Kana and hangul are not.
pub(super) const fn is_ideograph(letter: char) -> bool {
    matches!(letter,
        '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2CEAF}'
        | '\u{2F800}'..='\u{2FA1F}')
}

/// Whether a letter leaves no mark: controls, joiners, directions, private use, what was broken.
pub(super) fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{AD}'
            | '\u{600}'..='\u{605}'
            | '\u{61C}'
            | '\u{6DD}'
            | '\u{70F}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{E000}'..='\u{F8FF}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{FFFD}'
            | '\u{E0000}'..='\u{E007F}'
            | '\u{F0000}'..='\u{10FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_are_in_order_because_they_are_searched_by_halving() {
        assert!(PUNCTUATION.iter().all(|(first, last)| first <= last));
        assert!(PUNCTUATION.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(['$', '«', '—', '。', '？'].into_iter().all(is_punctuation));
        assert!(['a', 'é', '€', '市', '\u{10FFFF}'].into_iter().all(|no| !is_punctuation(no)));
    }
}
