//! Owns the stemmer: Martin Porter's algorithm of 1980 for English words in lower-case ASCII.
//! Written here because a crate with fifteen languages would be larger than this file.
//! Does not decide which words are stemmed; `words` does.

/// One suffix and what replaces it when the stem before it is long enough.
type Rule = (&'static str, &'static str);

const STEP_2: &[Rule] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const STEP_3: &[Rule] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const STEP_4: &[Rule] = &[
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ion", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// Rules, and which of them a word's last two letters leave: one bit for each rule. Most words are out by
/// these, and then no suffix is compared.
struct Rules {
    rules: &'static [Rule],
    by_last: [u32; 26],
    by_second_last: [u32; 26],
}

static SECOND: Rules = Rules::new(STEP_2);
static THIRD: Rules = Rules::new(STEP_3);
static FOURTH: Rules = Rules::new(STEP_4);

impl Rules {
    const fn new(rules: &'static [Rule]) -> Self {
        let (mut by_last, mut by_second_last) = ([0; 26], [0; 26]);
        let mut at = 0;
        while at < rules.len() {
            let suffix = rules[at].0.as_bytes();
            by_last[(suffix[suffix.len() - 1] - b'a') as usize] |= 1 << at;
            by_second_last[(suffix[suffix.len() - 2] - b'a') as usize] |= 1 << at;
            at += 1;
        }
        Self { rules, by_last, by_second_last }
    }

    /// The rule with the longest suffix that the word ends with.
    fn find(&self, word: &[u8]) -> Option<&'static Rule> {
        let [.., second_last, last] = word else { return None };
        let of = |rules: &[u32; 26], letter: u8| {
            rules.get(usize::from(letter.wrapping_sub(b'a'))).copied().unwrap_or(0)
        };
        let mut left = of(&self.by_last, *last) & of(&self.by_second_last, *second_last);
        let mut found: Option<&Rule> = None;
        while left != 0 {
            let rule = self.rules.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            let longer = found.is_none_or(|found| found.0.len() < rule.0.len());
            if longer && word.ends_with(rule.0.as_bytes()) {
                found = Some(rule);
            }
        }
        found
    }
}

/// Stems `word` in place. A word that is short or not plain lower-case ASCII is left as it is.
pub(crate) fn stem(word: &mut String) {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    plural(word);
    past_or_gerund(word);
    if word.ends_with('y') && has_vowel(before(word, 1)) {
        replace(word, 1, "i");
    }
    apply_first(word, &SECOND);
    apply_first(word, &THIRD);
    drop_suffix(word);
    final_e(word);
    if word.ends_with("ll") && measure(word.as_bytes()) > 1 {
        word.pop();
    }
}

fn plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        replace(word, 2, "");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

fn past_or_gerund(word: &mut String) {
    if word.ends_with("eed") {
        if measure(before(word, 3)) > 0 {
            word.pop();
        }
        return;
    }
    let cut = match word.as_bytes() {
        [.., b'e', b'd'] => 2,
        [.., b'i', b'n', b'g'] => 3,
        _ => return,
    };
    if !has_vowel(before(word, cut)) {
        return;
    }
    replace(word, cut, "");
    let bytes = word.as_bytes();
    if word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz") {
        word.push('e');
    } else if ends_in_double_consonant(bytes) && !matches!(bytes.last(), Some(b'l' | b's' | b'z')) {
        word.pop();
    } else if measure(bytes) == 1 && ends_in_short_syllable(bytes) {
        word.push('e');
    }
}

/// Applies the rule with the longest matching suffix, and no other even if its stem is too short.
fn apply_first(word: &mut String, rules: &Rules) {
    if let Some((suffix, with)) = rules.find(word.as_bytes())
        && measure(before(word, suffix.len())) > 0
    {
        replace(word, suffix.len(), with);
    }
}

fn drop_suffix(word: &mut String) {
    let Some((suffix, with)) = FOURTH.find(word.as_bytes()) else { return };
    let rest = before(word, suffix.len());
    let fits = *suffix != "ion" || matches!(rest.last(), Some(b's' | b't'));
    if fits && measure(rest) > 1 {
        replace(word, suffix.len(), with);
    }
}

fn final_e(word: &mut String) {
    if !word.ends_with('e') {
        return;
    }
    let rest = before(word, 1);
    let syllables = measure(rest);
    if syllables > 1 || (syllables == 1 && !ends_in_short_syllable(rest)) {
        word.pop();
    }
}

fn before(word: &str, suffix_len: usize) -> &[u8] {
    word.as_bytes().get(..word.len().saturating_sub(suffix_len)).unwrap_or_default()
}

fn replace(word: &mut String, suffix_len: usize, with: &str) {
    // All of it is ASCII, so every place is between two letters.
    word.truncate(word.len().saturating_sub(suffix_len));
    word.push_str(with);
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
