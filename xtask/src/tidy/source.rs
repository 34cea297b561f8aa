//! Just enough of Rust's lexer to tell code from comments and literals, and to find where an item ends.
//! It does not parse: rules that need types belong in clippy.

use std::ops::Range;

/// The same text, of the same length, with comments and the insides of literals turned into blanks.
pub(crate) fn masked(source: &str) -> String {
    let mut bytes = source.as_bytes().to_vec();
    let mut at = 0;
    while at < source.len() {
        let token = token_at(source.as_bytes(), at);
        if let Some(hidden) = token.hidden {
            for byte in &mut bytes[hidden] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = token.end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every string literal of the code with the place of its first character.
pub(crate) fn string_literals(source: &str) -> Vec<(usize, &str)> {
    let mut literals = Vec::new();
    let mut at = 0;
    while at < source.len() {
        let token = token_at(source.as_bytes(), at);
        if token.is_string
            && let Some(inside) = token.hidden
        {
            literals.push((inside.start, &source[inside]));
        }
        at = token.end;
    }
    literals
}

/// The line of a place in the text, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// An attribute of masked source: where it stands and what its brackets hold, without blanks.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) span: Range<usize>,
    pub(crate) inner: bool,
    pub(crate) content: String,
}

/// Every attribute of masked source, in order.
pub(crate) fn attributes(masked: &str) -> Vec<Attribute> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = masked[at..].find('#') {
        let start = at + offset;
        at = start + 1;
        let rest = &masked[at..];
        let inner = rest.starts_with('!');
        let open = at + usize::from(inner);
        if !masked[open..].starts_with('[') {
            continue;
        }
        let Some(close) = closing(masked, open) else { break };
        let content = masked[open + 1..close].split_whitespace().collect();
        found.push(Attribute { span: start..close + 1, inner, content });
        at = close + 1;
    }
    found
}

/// The parts of masked source that are compiled for tests only.
pub(crate) fn test_ranges(masked: &str) -> Vec<Range<usize>> {
    let is_test = |attribute: &&Attribute| {
        let content = &attribute.content;
        // What is there for tests or something else, is not for tests only.
        let is_condition = content.starts_with("cfg(") && !content.starts_with("cfg(any(");
        is_condition && has_word(content, "test") && !content.contains("not(test)")
    };
    let attributes = attributes(masked);
    let range = |attribute: &Attribute| {
        if attribute.inner {
            0..masked.len()
        } else {
            attribute.span.start..item_end(masked, attribute.span.end)
        }
    };
    attributes.iter().filter(is_test).map(range).collect()
}

/// Where the item that starts here ends: behind its `;` or its closing brace.
pub(crate) fn item_end(masked: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in masked.as_bytes()[from..].iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *byte == b'}' {
                    return from + offset + 1;
                }
            }
            b';' if depth == 0 => return from + offset + 1,
            _ => {}
        }
    }
    masked.len()
}

/// The bracket that closes the one at `open`.
pub(crate) fn closing(masked: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in masked.as_bytes()[open..].iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(open + offset);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the text holds the word, not as a part of a longer one.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    !word_positions(text, word).is_empty()
}

/// Where the word begins in the text, each time that it stands alone.
pub(crate) fn word_positions(text: &str, word: &str) -> Vec<usize> {
    let alone = |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[*at + word.len()..].chars().next();
        !before.is_some_and(is_word_char) && !after.is_some_and(is_word_char)
    };
    text.match_indices(word).map(|(at, _)| at).filter(alone).collect()
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Token {
    end: usize,
    hidden: Option<Range<usize>>,
    is_string: bool,
}

impl Token {
    fn code(end: usize) -> Self {
        Self { end, hidden: None, is_string: false }
    }

    fn hidden(hidden: Range<usize>, end: usize, is_string: bool) -> Self {
        Self { end, hidden: Some(hidden), is_string }
    }
}

fn token_at(bytes: &[u8], at: usize) -> Token {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => {
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            Token::hidden(at..at + length, at + length, false)
        }
        [b'/', b'*', ..] => {
            let end = block_comment_end(bytes, at);
            Token::hidden(at..end, end, false)
        }
        [b'"', ..] => quoted(bytes, at, b'"'),
        [b'\'', ..] => char_or_lifetime(bytes, at),
        [first, ..] if first.is_ascii_alphabetic() || *first == b'_' => word_or_prefixed(bytes, at),
        // A number's letters must not look like a literal's prefix (`1b` does not exist, `0xb"` neither).
        _ => Token::code(at + 1),
    }
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// A literal with escapes whose opening quote is at `open`.
fn quoted(bytes: &[u8], open: usize, quote: u8) -> Token {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    let close = at.min(bytes.len());
    Token::hidden(open + 1..close, (close + 1).min(bytes.len()), quote == b'"')
}

fn char_or_lifetime(bytes: &[u8], open: usize) -> Token {
    let width = match bytes.get(open + 1) {
        Some(b'\\') => return quoted(bytes, open, b'\''),
        None => return Token::code(open + 1),
        Some(first) if first.is_ascii() => 1,
        Some(first) => usize::try_from(first.leading_ones()).unwrap_or(1),
    };
    if bytes.get(open + 1 + width) == Some(&b'\'') {
        quoted(bytes, open, b'\'')
    } else {
        Token::code(open + 1)
    }
}

fn word_or_prefixed(bytes: &[u8], start: usize) -> Token {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = bytes[start..].iter().take_while(|byte| is_word(byte)).count();
    let end = start + length;
    match (&bytes[start..end], bytes.get(end)) {
        (b"b" | b"c", Some(b'"')) => quoted(bytes, end, b'"'),
        (b"b", Some(b'\'')) => quoted(bytes, end, b'\''),
        (b"r" | b"br" | b"cr", Some(b'"' | b'#')) => raw_string(bytes, end),
        _ => Token::code(end),
    }
}

/// `#..#"text"#..#`, or a raw identifier, whose first `#` or quote is at `start`.
fn raw_string(bytes: &[u8], start: usize) -> Token {
    let hashes = bytes[start..].iter().take_while(|byte| **byte == b'#').count();
    let open = start + hashes;
    if bytes.get(open) != Some(&b'"') {
        return Token::code(open);
    }
    let mut closer = vec![b'"'];
    closer.resize(hashes + 1, b'#');
    let length = bytes[open + 1..].windows(closer.len()).position(|window| window == closer);
    let close = length.map_or(bytes.len(), |length| open + 1 + length);
    Token::hidden(open + 1..close, (close + closer.len()).min(bytes.len()), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        assert_eq!(masked(source), expected);
        assert_eq!(masked(source).len(), source.len());
    }

    #[test]
    fn comments_become_blanks() {
        check("a // todo!()\nb", "a           \nb");
        check("a /* x /* y */ z */ b", "a                   b");
    }

    #[test]
    fn insides_of_literals_become_blanks() {
        check(r#"f("a\"b", 1)"#, r#"f("    ", 1)"#);
        check(r##"f(r#"a"b"#)"##, r##"f(r#"   "#)"##);
        check(r#"f(b"xy", b'"')"#, r#"f(b"  ", b' ')"#);
        check(r"['\'', 'x', 'é']", r"['  ', ' ', '  ']");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_stay_code() {
        check("fn f<'a>(x: &'a str, r#in: u8)", "fn f<'a>(x: &'a str, r#in: u8)");
    }

    #[test]
    fn an_unfinished_literal_ends_with_the_text() {
        check("\"ab", "\"  ");
        check("\"ab\\", "\"   ");
        check("'", "'");
        check("/* a", "    ");
        check("r#\"a", "r#\" ");
    }

    #[test]
    fn string_literals_come_with_their_place() {
        let source = r#"A => "X_Y", // "Z""#;
        assert_eq!(string_literals(source), [(6, "X_Y")]);
    }

    #[test]
    fn code_for_tests_ends_where_its_item_ends() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}\n";
        let ranges = test_ranges(source);
        assert_eq!(ranges.len(), 1);
        assert_eq!(&source[ranges[0].clone()], "#[cfg(test)]\nmod tests { fn b() {} }");
    }

    #[test]
    fn an_inner_test_attribute_covers_the_file() {
        let source = "#![cfg(test)]\nfn a() {}\n";
        let whole = 0..source.len();
        assert_eq!(test_ranges(source), [whole]);
        assert_eq!(test_ranges("#[cfg(not(test))]\nfn a() {}\n"), []);
        assert_eq!(test_ranges("#[cfg(any(test, feature = \"b\"))]\nfn a() {}\n"), []);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(word_positions("sleep asleep sleep_until sleep", "sleep"), [0, 25]);
    }
}
