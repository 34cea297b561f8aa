//! Owns a vocabulary as a tree of bytes: the longest token at the start of a text is found in one walk
//! along it, where a table of whole tokens would be asked about every length. Knows no text.

/// Tokens by their bytes. The steps from each node are in one table, found by hashing: node and byte.
#[derive(Debug, Clone)]
pub(super) struct TokenTree {
    /// Step and where it leads. The number of places is a power of two, and half of them are empty.
    steps: Vec<(u32, u32)>,
    /// By node: the token that ends there.
    tokens: Vec<u32>,
}

/// Stands for no step and for no token.
const NONE: u32 = u32::MAX;

impl TokenTree {
    /// Of tokens and their ids. Of two that are the same, the later one counts.
    pub(super) fn new(tokens: &[(&str, u32)]) -> Self {
        let bytes: usize = tokens.iter().map(|(token, _)| token.len()).sum();
        let mut tree = Self { steps: vec![(NONE, 0); places(bytes)], tokens: vec![NONE] };
        for (token, id) in tokens {
            let end = token.bytes().fold(0, |node, byte| tree.step_or_add(node, byte));
            tree.tokens[slot(end)] = *id;
        }
        // Tokens share their beginnings, so there are fewer steps than bytes.
        tree.resize(places(tree.tokens.len()));
        tree
    }

    /// The id of a whole token.
    pub(super) fn id(&self, token: &str) -> Option<u32> {
        let end = token.bytes().try_fold(0, |node, byte| self.step(node, byte))?;
        Some(self.tokens[slot(end)]).filter(|id| *id != NONE)
    }

    /// How long the longest token is with which a text begins, and its id.
    pub(super) fn longest_start(&self, text: &str) -> Option<(usize, u32)> {
        let (mut node, mut found) = (0, None);
        for (length, byte) in (1..).zip(text.bytes()) {
            let Some(next) = self.step(node, byte) else { break };
            node = next;
            let id = self.tokens[slot(node)];
            found = if id == NONE { found } else { Some((length, id)) };
        }
        found
    }

    fn step(&self, node: u32, byte: u8) -> Option<u32> {
        let (found, next) = self.steps[self.place(node, byte)];
        (found != NONE).then_some(next)
    }

    fn step_or_add(&mut self, node: u32, byte: u8) -> u32 {
        let place = self.place(node, byte);
        if self.steps[place].0 == NONE {
            // Only a vocabulary of 16 million letters would run out of numbers.
            let next = u32::try_from(self.tokens.len()).unwrap_or(0);
            self.steps[place] = (key(node, byte), next);
            self.tokens.push(NONE);
        }
        self.steps[place].1
    }

    /// Where a step is in the table, or would be.
    fn place(&self, node: u32, byte: u8) -> usize {
        let key = key(node, byte);
        let mask = self.steps.len() - 1;
        let mut at = slot(key.wrapping_mul(0x9E37_79B1).rotate_left(15)) & mask;
        while self.steps[at].0 != key && self.steps[at].0 != NONE {
            at = (at + 1) & mask;
        }
        at
    }

    fn resize(&mut self, places: usize) {
        let old = std::mem::replace(&mut self.steps, vec![(NONE, 0); places]);
        for (key, next) in old.into_iter().filter(|(key, _)| *key != NONE) {
            let place = self.place(key >> 8, key.to_le_bytes()[0]);
            self.steps[place] = (key, next);
        }
    }
}

fn key(node: u32, byte: u8) -> u32 {
    node << 8 | u32::from(byte)
}

/// Places for so many steps.
const fn places(steps: usize) -> usize {
    ((steps + 1) * 2).next_power_of_two()
}

fn slot(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_asking_about_every_length_finds(
            tokens in prop::collection::vec("[abcé]{1,5}", 0..40),
            text in "[abcdé]{0,8}",
        ) {
            let tokens: Vec<(&str, u32)> = tokens.iter().map(String::as_str).zip(0..).collect();
            let tree = TokenTree::new(&tokens);
            let id = |wanted: &str| {
                tokens.iter().rev().find(|(token, _)| *token == wanted).map(|(_, id)| *id)
            };
            let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let longest = ends.filter_map(|end| Some((end, id(&text[..end])?))).next_back();
            prop_assert_eq!(tree.longest_start(&text), longest);
            prop_assert_eq!(tree.id(&text), id(&text));
        }
    }
}
