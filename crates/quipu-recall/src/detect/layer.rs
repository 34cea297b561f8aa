//! One layer of the learned scorer: how it is read from the packed file, and what it makes of numbers.

/// A layer: `outputs` rows of weights, one bias each.
#[derive(Debug)]
pub(super) struct Layer {
    inputs: usize,
    /// By output.
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Layer {
    /// Reads one layer and gives back what follows it. `tools/detector/scorer.py` describes the layout.
    pub(super) fn read(packed: &[u8]) -> Option<(Self, &[u8])> {
        let (inputs, rest) = number(packed)?;
        let (outputs, rest) = number(rest)?;
        let (scales, rest) = rest.split_at_checked(outputs.checked_mul(4)?)?;
        let (biases, rest) = rest.split_at_checked(outputs.checked_mul(4)?)?;
        let (codes, rest) = rest.split_at_checked(inputs.checked_mul(outputs)?)?;
        if inputs == 0 {
            return None;
        }
        let scales = floats(scales);
        let rows = codes.chunks_exact(inputs).zip(&scales);
        let weights = rows
            .flat_map(|(row, scale)| {
                row.iter().map(move |code| f32::from(code.cast_signed()) * scale)
            })
            .collect();
        Some((Self { inputs, weights, biases: floats(biases) }, rest))
    }

    pub(super) const fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// Adds its outputs for one row of inputs to `into`, with nothing below zero.
    pub(super) fn rectified(&self, row: &[f32], into: &mut Vec<f32>) {
        into.extend(self.sums(row).map(|sum| sum.max(0.0)));
    }

    /// Its outputs as they are.
    pub(super) fn sums<'l>(&'l self, row: &'l [f32]) -> impl Iterator<Item = f32> + 'l {
        let rows = self.weights.chunks_exact(self.inputs).zip(&self.biases);
        rows.map(move |(weights, bias)| dot(weights, row) + bias)
    }
}

/// The product of two rows. Eight sums side by side, always in the same order.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (left, left_rest) = a.as_chunks::<8>();
    let (right, right_rest) = b.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (left, right) in left.iter().zip(right) {
        for (sum, (a, b)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += a * b;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// A whole number of four bytes, and what follows.
pub(super) fn number(packed: &[u8]) -> Option<(usize, &[u8])> {
    let (bytes, rest) = packed.split_first_chunk::<4>()?;
    Some((usize::try_from(u32::from_le_bytes(*bytes)).ok()?, rest))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
