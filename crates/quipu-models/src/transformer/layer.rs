//! One layer of a BERT encoder: attention over the tokens of a text, then a feed-forward step for each token.

use super::{
    activation::{LayerNorm, gelu_all, softmax},
    matmul::Linear,
};

/// The parts of a layer, as its tensors are named.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) mixed: Linear,
    pub(super) mixed_norm: LayerNorm,
    pub(super) wide: Linear,
    pub(super) narrow: Linear,
    pub(super) narrow_norm: LayerNorm,
    pub(super) heads: usize,
}

impl Layer {
    /// Moves the tokens of several texts on by one layer. `texts` has the number of tokens of each;
    /// they follow one another in `tokens`, with no padding between them.
    pub(super) fn apply(&self, tokens: &mut [f32], texts: &[usize]) {
        let attended = self.attend(tokens, texts);
        add(tokens, &self.mixed.apply(&attended));
        self.mixed_norm.apply(tokens);
        let mut wide = self.wide.apply(tokens);
        gelu_all(&mut wide);
        add(tokens, &self.narrow.apply(&wide));
        self.narrow_norm.apply(tokens);
    }

    fn attend(&self, tokens: &[f32], texts: &[usize]) -> Vec<f32> {
        let (query, key, value) =
            (self.query.apply(tokens), self.key.apply(tokens), self.value.apply(tokens));
        let hidden = self.query.outputs();
        let mut output = vec![0.0; query.len()];
        let mut start = 0;
        for &length in texts {
            let span = start..start + length * hidden;
            let text = Text {
                query: &query[span.clone()],
                key: &key[span.clone()],
                value: &value[span.clone()],
                hidden,
                width: hidden / self.heads,
            };
            for head in 0..self.heads {
                text.attend(head, &mut output[span.clone()]);
            }
            start = span.end;
        }
        output
    }
}

/// The projections of one text's tokens.
struct Text<'a> {
    query: &'a [f32],
    key: &'a [f32],
    value: &'a [f32],
    hidden: usize,
    width: usize,
}

impl Text<'_> {
    /// The attention output of each token for one head.
    #[expect(clippy::cast_precision_loss, reason = "a head is some dozen numbers wide")]
    fn attend(&self, head: usize, output: &mut [f32]) {
        let first = head * self.width;
        let part = |row: usize| row * self.hidden + first..row * self.hidden + first + self.width;
        let length = self.query.len() / self.hidden;
        // Keys by dimension, so that the scores of all tokens grow side by side.
        let mut keys = vec![0.0; self.width * length];
        for row in 0..length {
            for (dimension, number) in self.key[part(row)].iter().enumerate() {
                keys[dimension * length + row] = *number;
            }
        }
        let scale = 1.0 / (self.width as f32).sqrt();
        let mut scores = vec![0.0; length];
        for row in 0..length {
            scores.fill(0.0);
            for (number, keys) in self.query[part(row)].iter().zip(keys.chunks_exact(length)) {
                add_scaled(&mut scores, keys, number * scale);
            }
            softmax(&mut scores);
            let target = &mut output[part(row)];
            for (other, share) in scores.iter().enumerate() {
                add_scaled(target, &self.value[part(other)], *share);
            }
        }
    }
}

fn add(target: &mut [f32], more: &[f32]) {
    for (target, more) in target.iter_mut().zip(more) {
        *target += more;
    }
}

fn add_scaled(target: &mut [f32], more: &[f32], scale: f32) {
    for (target, more) in target.iter_mut().zip(more) {
        *target += scale * more;
    }
}
