//! Owns a text's vectors in the small form in which they are kept: eight bits a number.
//! Knows no model and no index.

/// The vectors of one text, all of one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedding {
    pub(crate) rows: Vec<Row>,
}

/// One vector: `scale * values`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) scale: f32,
    pub(crate) values: Box<[i8]>,
}

impl Embedding {
    /// Of vectors as an embedder gives them. Those without a direction, or with a number that is
    /// not finite, are left out.
    pub fn new<'v>(vectors: impl IntoIterator<Item = &'v [f32]>) -> Self {
        Self { rows: vectors.into_iter().filter_map(Row::new).collect() }
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Row {
    pub(crate) fn new(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        let usable = largest > 0.0 && vector.iter().all(|value| value.is_finite());
        usable.then(|| {
            let scale = largest / 127.0;
            Self { scale, values: vector.iter().map(|value| small(value / scale)).collect() }
        })
    }
}

/// A row from -127 to 127.
#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates")]
fn small(value: f32) -> i8 {
    value.round() as i8
}

/// The inner product of two rows before their scales.
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_kept_within_half_a_step() {
        let vector = [0.6, -0.8, 0.0, 0.001];
        let row = Row::new(&vector).unwrap();
        for (kept, value) in row.values.iter().zip(vector) {
            assert!((f32::from(*kept) * row.scale - value).abs() <= row.scale / 2.0 + 1e-6);
        }
    }

    #[test]
    fn what_has_no_direction_is_left_out() {
        let vectors: [&[f32]; 5] =
            [&[], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[0.0, 1.0]];
        assert_eq!(Embedding::new(vectors).rows.len(), 1);
    }
}
