//! Names that no other run uses: letters only, so that no number in a text can look like a claim.

use std::hash::{BuildHasher, Hasher, RandomState};

const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";

/// A fresh word of twelve letters, from the keys with which the standard library seeds its maps.
pub(crate) fn token() -> String {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u8(0);
    let mut rest = hasher.finish();
    let mut word = String::with_capacity(12);
    for _ in 0..12 {
        let at = usize::try_from(rest % 20).unwrap_or_default();
        word.push(char::from(LETTERS.get(at).copied().unwrap_or(b'x')));
        rest /= 20;
    }
    word
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tokens_differ_and_have_no_digits() {
        let tokens: BTreeSet<String> = (0..1000).map(|_| token()).collect();
        assert_eq!(tokens.len(), 1000);
        assert!(tokens.iter().all(|token| token.chars().all(|c| c.is_ascii_lowercase())));
    }
}
