//! Patterns of actions and targets: `*` stands for any text, `?` for one character, `\` takes the next one as
//! it is. Matching takes time in proportion to the lengths, whatever the pattern.

pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (tokens(pattern), text.chars().collect::<Vec<_>>());
    let (mut at, mut read) = (0, 0);
    // Where the last `*` was, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(Token::Any) => {
                star = Some((at, read));
                at += 1;
            }
            Some(token) if token.takes(text.get(read)) => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                at = place + 1;
                read = taken + 1;
            }
        }
    }
    pattern.iter().skip(at).all(|token| *token == Token::Any)
}

/// The pattern that only this text fits.
pub(super) fn exactly(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Any,
    One,
    Letter(char),
}

impl Token {
    fn takes(self, letter: Option<&char>) -> bool {
        match self {
            Self::Any => false,
            Self::One => letter.is_some(),
            Self::Letter(own) => letter == Some(&own),
        }
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '*' => Token::Any,
            '?' => Token::One,
            '\\' => Token::Letter(letters.next().unwrap_or('\\')),
            other => Token::Letter(other),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_and_a_question_mark_one_character() {
        for (pattern, text) in [
            ("*", ""),
            ("src/*", "src/a/b.rs"),
            ("*.rs", "src/a.rs"),
            ("a?c", "aüc"),
            ("*a*b*", "xxaxxbxx"),
            ("", ""),
            (r"\*", "*"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("src/*", "doc/a"), ("a?c", "ac"), ("*a", "ab"), ("", "a"), (r"\*", "x"), ("a", "aa")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_text_fits_exactly_itself() {
        for text in ["", "rm -rf *", r"a\b?", "plain"] {
            assert!(fits(&exactly(text), text), "{text}");
            assert!(!fits(&exactly(text), &format!("{text}x")), "{text}");
        }
        assert!(!fits(&exactly("rm *"), "rm everything"));
    }

    #[test]
    fn a_hostile_pattern_is_judged_at_once() {
        let pattern = "a*".repeat(2_000) + "b";
        assert!(!fits(&pattern, &"a".repeat(4_000)));
    }
}
