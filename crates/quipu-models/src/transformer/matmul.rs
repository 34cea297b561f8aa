//! Multiplies rows by a weight matrix. The weights are kept in panels of [`LANES`] outputs, so that the
//! inner loop reads them in order and the compiler turns it into vector instructions without any
//! `unsafe`. Hand-written: it is the whole of what a matrix library would be used for.

/// Outputs that one panel holds: as many as, with [`ROWS`] rows, fit the registers of any 64-bit x86.
const LANES: usize = 12;
/// Rows that are worked on together, so that each weight is loaded once for all of them.
const ROWS: usize = 3;

/// A linear layer: `y = W x + b`.
#[derive(Debug)]
pub(super) struct Linear {
    inputs: usize,
    panels: Vec<[f32; LANES]>,
    bias: Vec<f32>,
}

impl Linear {
    /// From `weight` as stored, one row of `inputs` numbers per output.
    pub(super) fn new(weight: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let outputs = bias.len();
        let mut panels = Vec::with_capacity(outputs.div_ceil(LANES) * inputs);
        for first in (0..outputs).step_by(LANES) {
            for input in 0..inputs {
                panels.push(std::array::from_fn(|lane| {
                    let output = first + lane;
                    if output < outputs { weight[output * inputs + input] } else { 0.0 }
                }));
            }
        }
        Self { inputs, panels, bias }
    }

    /// How many numbers a row has afterwards.
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Multiplies every row of `input`. A panel stays in the nearest cache while all rows pass it.
    pub(super) fn apply(&self, input: &[f32]) -> Vec<f32> {
        let rows = input.len() / self.inputs;
        let mut output = vec![0.0; rows * self.outputs()];
        for (panel, first) in
            self.panels.chunks_exact(self.inputs).zip((0..self.outputs()).step_by(LANES))
        {
            let whole = rows - rows % ROWS;
            for row in (0..whole).step_by(ROWS) {
                let sums = self.block::<ROWS>(input, panel, row);
                self.store(&mut output, &sums, row, first);
            }
            for row in whole..rows {
                let sums = self.block::<1>(input, panel, row);
                self.store(&mut output, &sums, row, first);
            }
        }
        output
    }

    #[inline(always)]
    fn block<const N: usize>(
        &self,
        input: &[f32],
        panel: &[[f32; LANES]],
        row: usize,
    ) -> [[f32; LANES]; N] {
        let rows: [&[f32]; N] =
            std::array::from_fn(|at| &input[(row + at) * self.inputs..][..panel.len()]);
        let mut sums = [[0.0; LANES]; N];
        for (input, weights) in panel.iter().enumerate() {
            for (sums, row) in sums.iter_mut().zip(rows) {
                let factor = row[input];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += factor * weight;
                }
            }
        }
        sums
    }

    fn store(&self, output: &mut [f32], sums: &[[f32; LANES]], row: usize, first: usize) {
        let width = LANES.min(self.outputs() - first);
        let bias = &self.bias[first..first + width];
        for (at, sums) in sums.iter().enumerate() {
            let target = &mut output[(row + at) * self.outputs() + first..][..width];
            for ((target, sum), bias) in target.iter_mut().zip(sums).zip(bias) {
                *target = sum + bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(weight: &[f32], bias: &[f32], inputs: usize, input: &[f32]) -> Vec<f32> {
        let row = |row: &[f32]| {
            let output = |(weights, bias): (&[f32], &f32)| {
                weights.iter().zip(row).map(|(w, x)| w * x).sum::<f32>() + bias
            };
            weight.chunks_exact(inputs).zip(bias).map(output).collect::<Vec<_>>()
        };
        input.chunks_exact(inputs).flat_map(row).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_the_plain_sum_for_every_shape(
            inputs in 1..20usize, outputs in 1..30usize, rows in 0..8usize, seed in 0..1000u16,
        ) {
            let number = |at: usize| f32::from(u16::try_from((at * 7919 + usize::from(seed)) % 2001).unwrap()) / 1000.0 - 1.0;
            let weight: Vec<f32> = (0..inputs * outputs).map(number).collect();
            let bias: Vec<f32> = (0..outputs).map(|at| number(at + 5)).collect();
            let input: Vec<f32> = (0..inputs * rows).map(|at| number(at + 11)).collect();
            let expected = plain(&weight, &bias, inputs, &input);
            let found = Linear::new(&weight, bias, inputs).apply(&input);
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-4);
            }
        }
    }
}
