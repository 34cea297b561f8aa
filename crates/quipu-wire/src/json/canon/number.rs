//! Finds the number tokens of a text, because the reader below hands over a double without saying
//! how it was written, and without the feature `float_roundtrip` not always the nearest one.

/// Walks the number tokens in the order of the text, no further than it is asked to.
#[derive(Debug)]
pub(super) struct NumberTokens<'i> {
    input: &'i [u8],
    at: usize,
    found: usize,
}

impl<'i> NumberTokens<'i> {
    pub(super) fn new(input: &'i [u8]) -> Self {
        Self { input, at: 0, found: 0 }
    }

    /// The `nth` token of the text, from 1. Only ever asked for later tokens than before, and only
    /// for tokens up to which the text was found valid.
    pub(super) fn nth(&mut self, nth: usize) -> Option<&'i str> {
        while self.found + 1 < nth {
            self.next_token()?;
        }
        std::str::from_utf8(self.next_token()?).ok()
    }

    fn next_token(&mut self) -> Option<&'i [u8]> {
        loop {
            match self.input.get(self.at)? {
                b'"' => self.skip_string(),
                b'-' | b'0'..=b'9' => break,
                _ => self.at += 1,
            }
        }
        let rest = &self.input[self.at..];
        let length = rest.iter().position(|byte| !is_of_number(*byte)).unwrap_or(rest.len());
        self.at += length;
        self.found += 1;
        Some(&rest[..length])
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.input.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == b'"' {
                return;
            }
        }
    }
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Whether a token was written without fraction and exponent.
pub(super) fn is_integer(token: &str) -> bool {
    !token.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}
