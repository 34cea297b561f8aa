//! The functions between the matrices, written so that the compiler can work on several numbers at
//! once: no calls into the C library, no branches.

/// 1.5 * 2^23: adding it leaves a number's nearest integer in the lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// e to the power of `x`, for `x` of at most 80; below -87 it is 0 for our purposes.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    let rest = x - whole * LN2_HIGH - whole * LN2_LOW;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_67
                                + rest
                                    * (0.041_666_67
                                        + rest * (0.008_333_34 + rest * 0.001_388_89)))));
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    series * power
}

/// GELU as BERT has it, by the error function (the approximation of Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = (x * std::f32::consts::FRAC_1_SQRT_2).abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_8 + t * (-1.453_152 + t * 1.061_405_4))));
    let erf = (1.0 - series * exp(-(z * z).min(87.0))).copysign(x);
    0.5 * x * (1.0 + erf)
}

pub(super) fn gelu_all(numbers: &mut [f32]) {
    for number in numbers {
        *number = gelu(*number);
    }
}

/// Turns scores into shares that add up to 1.
pub(super) fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for score in scores.iter_mut() {
        *score = exp(*score - most);
    }
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// Scales and shifts a row to a learned mean and spread.
#[derive(Debug)]
pub(super) struct LayerNorm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl LayerNorm {
    /// A norm over rows of the weight's length.
    pub(super) fn new(weight: Vec<f32>, bias: Vec<f32>, epsilon: f32) -> Self {
        Self { weight, bias, epsilon }
    }

    #[expect(clippy::cast_precision_loss, reason = "a row has some hundred numbers")]
    pub(super) fn apply(&self, rows: &mut [f32]) {
        let width = self.weight.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            let spread = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / width as f32;
            let scale = 1.0 / (spread + self.epsilon).sqrt();
            for ((x, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *x = (*x - mean) * scale * weight + bias;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right_to_six_places() {
        for at in -8700..=2000i16 {
            let x = f32::from(at) / 100.0;
            let right = f64::from(x).exp();
            assert!((f64::from(exp(x)) - right).abs() <= right * 1e-6 + 1e-37, "{x}");
        }
        assert!(exp(-1e30) < 1e-37);
    }

    #[test]
    fn gelu_has_its_known_values() {
        for (x, right) in
            [(0.0, 0.0), (1.0, 0.841_344_8), (-1.0, -0.158_655_26), (3.0, 2.995_950_2)]
        {
            assert!((gelu(x) - right).abs() < 1e-6, "{x}");
        }
        assert!((gelu(50.0) - 50.0).abs() < 1e-4 && gelu(-50.0).abs() < 1e-4);
    }

    #[test]
    fn shares_add_up_to_one_however_large_the_scores() {
        let mut scores = vec![1000.0, 999.0, -1000.0];
        softmax(&mut scores);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(scores[0] > scores[1] && scores[1] > scores[2]);
    }
}
