//! Owns the stemmer: Martin Porter's algorithm of 1980 for English words in lower-case ASCII.
//! Written here because a crate with fifteen languages would be larger than this file.
//! Does not decide which words are stemmed; `words` does.

/// One suffix and what replaces it when the stem before it is long enough.
type Rule = (&'static [u8], &'static [u8]);

const STEP_2: &[Rule] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"abli", b"able"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
];

const STEP_3: &[Rule] = &[
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

const STEP_4: &[&[u8]] = &[
    b"al", b"ance", b"ence", b"er", b"ic", b"able", b"ible", b"ant", b"ement", b"ment", b"ent",
    b"ion", b"ou", b"ism", b"ate", b"iti", b"ous", b"ive", b"ize",
];

/// Stems `word` in place. A word that is short or not plain lower-case ASCII is left as it is.
pub(crate) fn stem(word: &mut String) {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let mut bytes = std::mem::take(word).into_bytes();
    plural(&mut bytes);
    past_or_gerund(&mut bytes);
    if bytes.ends_with(b"y") && has_vowel(before(&bytes, 1)) {
        replace(&mut bytes, 1, b"i");
    }
    apply_first(&mut bytes, STEP_2);
    apply_first(&mut bytes, STEP_3);
    drop_suffix(&mut bytes);
    final_e(&mut bytes);
    if bytes.ends_with(b"ll") && measure(&bytes) > 1 {
        bytes.pop();
    }
    // Only ASCII goes in and comes out, so nothing is ever replaced here.
    *word = String::from_utf8(bytes).unwrap_or_default();
}

fn plural(word: &mut Vec<u8>) {
    if word.ends_with(b"sses") || word.ends_with(b"ies") {
        replace(word, 2, b"");
    } else if word.ends_with(b"s") && !word.ends_with(b"ss") {
        word.pop();
    }
}

fn past_or_gerund(word: &mut Vec<u8>) {
    if word.ends_with(b"eed") {
        if measure(before(word, 3)) > 0 {
            word.pop();
        }
        return;
    }
    let cut = match word.as_slice() {
        [.., b'e', b'd'] => 2,
        [.., b'i', b'n', b'g'] => 3,
        _ => return,
    };
    if !has_vowel(before(word, cut)) {
        return;
    }
    replace(word, cut, b"");
    if word.ends_with(b"at") || word.ends_with(b"bl") || word.ends_with(b"iz") {
        word.push(b'e');
    } else if ends_in_double_consonant(word) && !matches!(word.last(), Some(b'l' | b's' | b'z')) {
        word.pop();
    } else if measure(word) == 1 && ends_in_short_syllable(word) {
        word.push(b'e');
    }
}

/// Applies the rule with the longest matching suffix, and no other even if its stem is too short.
fn apply_first(word: &mut Vec<u8>, rules: &[Rule]) {
    let matching = rules.iter().filter(|(suffix, _)| ends_with(word, suffix));
    if let Some((suffix, with)) = matching.max_by_key(|(suffix, _)| suffix.len())
        && measure(before(word, suffix.len())) > 0
    {
        replace(word, suffix.len(), with);
    }
}

fn drop_suffix(word: &mut Vec<u8>) {
    let matching = STEP_4.iter().filter(|suffix| ends_with(word, suffix));
    let Some(suffix) = matching.max_by_key(|suffix| suffix.len()) else { return };
    let rest = before(word, suffix.len());
    let fits = *suffix != b"ion" || matches!(rest.last(), Some(b's' | b't'));
    if fits && measure(rest) > 1 {
        replace(word, suffix.len(), b"");
    }
}

fn final_e(word: &mut Vec<u8>) {
    if !word.ends_with(b"e") {
        return;
    }
    let rest = before(word, 1);
    let syllables = measure(rest);
    if syllables > 1 || (syllables == 1 && !ends_in_short_syllable(rest)) {
        word.pop();
    }
}

/// Most suffixes are out by their last letter, for which no call is needed.
fn ends_with(word: &[u8], suffix: &[u8]) -> bool {
    word.last() == suffix.last() && word.ends_with(suffix)
}

fn before(word: &[u8], suffix_len: usize) -> &[u8] {
    word.get(..word.len().saturating_sub(suffix_len)).unwrap_or_default()
}

fn replace(word: &mut Vec<u8>, suffix_len: usize, with: &[u8]) {
    word.truncate(word.len().saturating_sub(suffix_len));
    word.extend_from_slice(with);
}

/// For each letter, whether it is a vowel; `y` is one after a consonant.
fn vowels(word: &[u8]) -> impl Iterator<Item = bool> {
    let mut after_consonant = false;
    word.iter().map(move |byte| {
        let vowel = match byte {
            b'a' | b'e' | b'i' | b'o' | b'u' => true,
            b'y' => after_consonant,
            _ => false,
        };
        after_consonant = !vowel;
        vowel
    })
}

fn has_vowel(word: &[u8]) -> bool {
    vowels(word).any(|vowel| vowel)
}

/// How many times a run of vowels is followed by a run of consonants.
fn measure(word: &[u8]) -> usize {
    let mut count = 0;
    let mut after_vowel = false;
    for vowel in vowels(word) {
        if after_vowel && !vowel {
            count += 1;
        }
        after_vowel = vowel;
    }
    count
}

fn ends_in_double_consonant(word: &[u8]) -> bool {
    let same = matches!(word, [.., a, b] if a == b);
    same && vowels(word).last() == Some(false)
}

/// Consonant, vowel, consonant, the last not w, x or y: as in "hop", where the e of "hope" belongs.
fn ends_in_short_syllable(word: &[u8]) -> bool {
    let skip = word.len().saturating_sub(3);
    let mut last = vowels(word).skip(skip);
    let shape = [last.next(), last.next(), last.next()];
    shape == [Some(false), Some(true), Some(false)]
        && !matches!(word.last(), Some(b'w' | b'x' | b'y'))
}

#[cfg(test)]
mod tests {
    use super::stem;

    fn stemmed(word: &str) -> String {
        let mut word = word.to_owned();
        stem(&mut word);
        word
    }

    #[test]
    fn forms_of_one_word_meet_in_one_stem() {
        for group in [
            &["connect", "connected", "connecting", "connection", "connections"][..],
            &["relate", "related", "relating"],
            &["agree", "agreed"],
            &["happy", "happi"],
            &["market", "markets", "marketing", "marketed"],
            &["hope", "hoping", "hopes"],
            &["plan", "planned", "planning", "plans"],
            &["decision", "decisions"],
        ] {
            let first = stemmed(group[0]);
            for word in group {
                assert_eq!(stemmed(word), first, "{word}");
            }
        }
    }

    #[test]
    fn the_published_examples_hold() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("falling", "fall"),
            ("filing", "file"),
            ("sky", "sky"),
            ("rational", "ration"),
            ("digitizer", "digit"),
            ("hopefulness", "hope"),
            ("electricity", "electr"),
            ("replacement", "replac"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("controll", "control"),
            ("roll", "roll"),
        ] {
            assert_eq!(stemmed(word), expected, "{word}");
        }
    }

    #[test]
    fn leaves_numbers_short_words_and_other_scripts_alone() {
        for word in ["4.2b", "ai", "économies", "новости", "x86s"] {
            assert_eq!(stemmed(word), word);
        }
    }
}
