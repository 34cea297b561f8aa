//! Owns how a text is cut before its tokens are looked up, as BERT's uncased models do it: no
//! controls, lower case, no accents, punctuation and ideographs alone.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::letters::{is_ideograph, is_invisible, is_punctuation};

/// Calls `each` for every word and every sign of `text` in order, until it answers `false`.
/// Runs in one pass with one buffer.
pub(super) fn for_each_piece(text: &str, mut each: impl FnMut(&str) -> bool) {
    let mut word = String::with_capacity(32);
    let mut rest = text;
    loop {
        let plain = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (run, behind) = rest.split_at(plain);
        let start = word.len();
        word.push_str(run);
        word[start..].make_ascii_lowercase();
        let mut letters = behind.chars();
        let Some(letter) = letters.next() else { break };
        rest = letters.as_str();
        let go_on = if letter.is_whitespace() {
            finish(&mut word, &mut each)
        } else if is_invisible(letter) {
            true
        } else if is_ideograph(letter) || is_punctuation(letter) {
            finish(&mut word, &mut each) && each(letter.encode_utf8(&mut [0; 4]))
        } else {
            fold(letter, &mut word, &mut each)
        };
        if !go_on {
            return;
        }
    }
    finish(&mut word, &mut each);
}

fn finish(word: &mut String, each: &mut impl FnMut(&str) -> bool) -> bool {
    let go_on = word.is_empty() || each(word);
    word.clear();
    go_on
}

/// Adds a letter without its accents. A few letters fall apart into punctuation.
fn fold(letter: char, word: &mut String, each: &mut impl FnMut(&str) -> bool) -> bool {
    for part in letter.nfd().filter(|part| !is_combining_mark(*part)) {
        for lower in part.to_lowercase().filter(|lower| !is_combining_mark(*lower)) {
            if !is_punctuation(lower) {
                word.push(lower);
            } else if !(finish(word, each) && each(lower.encode_utf8(&mut [0; 4]))) {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_as_bert_does() {
        for (text, expected) in [
            ("", &[][..]),
            ("Hello, World!", &["hello", ",", "world", "!"]),
            ("Café  naïve\tCAFE\u{301}", &["cafe", "naive", "cafe"]),
            ("don't $4.2B", &["don", "'", "t", "$", "4", ".", "2b"]),
            ("市場ab", &["市", "場", "ab"]),
            ("a\u{200D}b\0c\u{202E}d", &["abcd"]),
            ("İstanbul", &["istanbul"]),
            ("👩‍👧 ok", &["👩👧", "ok"]),
        ] {
            let mut found = Vec::new();
            for_each_piece(text, |piece| {
                found.push(piece.to_owned());
                true
            });
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn stops_when_it_is_told_to() {
        let mut seen = 0;
        for_each_piece("one two, three", |_| {
            seen += 1;
            seen < 2
        });
        assert_eq!(seen, 2);
    }
}
