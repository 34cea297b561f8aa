//! A BERT encoder: token ids to one vector per text. Knows no words and no files but its weights'.

use super::{
    activation::LayerNorm,
    config::{Pooling, Shape},
    error::DirectoryError,
    layer::Layer,
    matmul::Linear,
    safetensors::Safetensors,
};

#[derive(Debug)]
pub(super) struct Encoder {
    shape: Shape,
    words: Vec<f32>,
    /// The embedding of each position, with that of the first token type already added.
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Encoder {
    pub(super) fn read(file: Safetensors, shape: Shape) -> Result<Self, DirectoryError> {
        let prefix = if file.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let mut weights = Weights { file, prefix, shape };
        let hidden = shape.hidden;
        let words =
            weights.tensor("embeddings.word_embeddings.weight", &[shape.vocabulary, hidden])?;
        let mut positions =
            weights.tensor("embeddings.position_embeddings.weight", &[shape.positions, hidden])?;
        let types = weights
            .tensor("embeddings.token_type_embeddings.weight", &[shape.token_types, hidden])?;
        for position in positions.chunks_exact_mut(hidden) {
            position.iter_mut().zip(&types).for_each(|(number, more)| *number += more);
        }
        let norm = weights.norm("embeddings.LayerNorm")?;
        let layers = (0..shape.layers).map(|at| weights.layer(at)).collect::<Result<_, _>>()?;
        Ok(Self { shape, words, positions, norm, layers })
    }

    /// One vector of length 1 per text. Every text has between one and `tokens_max` ids, and every id
    /// is one of the vocabulary.
    pub(super) fn encode(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let hidden = self.shape.hidden;
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let mut tokens = Vec::with_capacity(lengths.iter().sum::<usize>() * hidden);
        for text in texts {
            for (id, position) in text.iter().zip(self.positions.chunks_exact(hidden)) {
                let word = usize::try_from(*id).unwrap_or(usize::MAX).saturating_mul(hidden);
                let word = self.words.get(word..).unwrap_or_default();
                tokens.extend(position.iter().zip(word).map(|(position, word)| position + word));
            }
        }
        self.norm.apply(&mut tokens);
        for layer in &self.layers {
            layer.apply(&mut tokens, &lengths);
        }
        let mut rest = tokens.as_slice();
        lengths
            .iter()
            .map(|length| {
                let (text, after) = rest.split_at(length * hidden);
                rest = after;
                unit_length(pool(self.shape.pooling, text, hidden))
            })
            .collect()
    }
}

fn pool(pooling: Pooling, tokens: &[f32], hidden: usize) -> Vec<f32> {
    match pooling {
        Pooling::First => tokens[..hidden].to_vec(),
        // Dividing by the number of tokens is unnecessary, because the vector is normalized afterwards.
        Pooling::Mean => {
            let mut sum = vec![0.0; hidden];
            for token in tokens.chunks_exact(hidden) {
                sum.iter_mut().zip(token).for_each(|(sum, number)| *sum += number);
            }
            sum
        }
    }
}

fn unit_length(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    vector
}

/// The file, and what is needed to know its names and shapes.
struct Weights {
    file: Safetensors,
    prefix: &'static str,
    shape: Shape,
}

impl Weights {
    fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, DirectoryError> {
        self.file.read(&format!("{}{name}", self.prefix), shape)
    }

    fn norm(&mut self, name: &str) -> Result<LayerNorm, DirectoryError> {
        let hidden = [self.shape.hidden];
        let weight = self.tensor(&format!("{name}.weight"), &hidden)?;
        let bias = self.tensor(&format!("{name}.bias"), &hidden)?;
        Ok(LayerNorm::new(weight, bias, self.shape.epsilon))
    }

    fn linear(
        &mut self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear, DirectoryError> {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.tensor(&format!("{name}.bias"), &[outputs])?;
        Ok(Linear::new(&weight, bias, inputs))
    }

    fn layer(&mut self, at: usize) -> Result<Layer, DirectoryError> {
        let Shape { hidden, intermediate, heads, .. } = self.shape;
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"), hidden, hidden)?,
            key: self.linear(&name("attention.self.key"), hidden, hidden)?,
            value: self.linear(&name("attention.self.value"), hidden, hidden)?,
            mixed: self.linear(&name("attention.output.dense"), hidden, hidden)?,
            mixed_norm: self.norm(&name("attention.output.LayerNorm"))?,
            wide: self.linear(&name("intermediate.dense"), hidden, intermediate)?,
            narrow: self.linear(&name("output.dense"), intermediate, hidden)?,
            narrow_norm: self.norm(&name("output.LayerNorm"))?,
            heads,
        })
    }
}
