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

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Row {
    pub(crate) fn new(vector: &[f32]) -> Option<Self> {
        let (largest, finite) = largest(vector);
        let usable = largest > 0.0 && finite;
        usable.then(|| {
            let scale = largest / 127.0;
            Self { scale, values: vector.iter().map(|value| small(value / scale)).collect() }
        })
    }
}

/// Numbers that are looked at together: one after the other, each would wait for the one before.
const LANES: usize = 8;

/// The largest number, whatever its sign, and whether all are finite.
fn largest(vector: &[f32]) -> (f32, bool) {
    let (mut most, mut finite) = ([0.0_f32; LANES], [true; LANES]);
    for chunk in vector.chunks(LANES) {
        for ((most, finite), value) in most.iter_mut().zip(&mut finite).zip(chunk) {
            let size = value.abs();
            *most = if size > *most { size } else { *most };
            *finite &= size < f32::INFINITY;
        }
    }
    (most.into_iter().fold(0.0, f32::max), finite == [true; LANES])
}

/// A row from -127 to 127: the nearest whole number, halves away from zero. What is added is the largest
/// number below a half. The library's own rounding would be a call for each number.
#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates")]
fn small(value: f32) -> i8 {
    (value + 0.499_999_97_f32.copysign(value)) as i8
}

/// The inner product of two rows before their scales.
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    // The product of two bytes has 16 bits at most. In that form, and in loops of known length, many are
    // multiplied at a time.
    let product = |(a, b): (&i8, &i8)| i32::from(i16::from(*a) * i16::from(*b));
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<BLOCK>(), b.as_chunks::<BLOCK>());
    let blocks = a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(product).sum::<i32>());
    blocks.sum::<i32>() + a_rest.iter().zip(b_rest).map(product).sum::<i32>()
}

/// Bytes that are multiplied in one loop.
const BLOCK: usize = 32;

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
    fn products_of_the_largest_numbers_fit() {
        for length in [0, 1, 31, 32, 33, 256] {
            let (low, high) = (vec![i8::MIN; length], vec![i8::MAX; length]);
            let count = i32::try_from(length).unwrap();
            assert_eq!(dot(&low, &low), 128 * 128 * count);
            assert_eq!(dot(&low, &high), -128 * 127 * count);
        }
    }

    #[test]
    fn numbers_are_rounded_as_the_library_does() {
        let steps = (-32_000_i16..=32_000).map(|step| f32::from(step) / 250.0);
        let halves = (-255_i16..=255).map(|half| f32::from(half) / 2.0);
        let beside = halves.flat_map(|half| [half.next_down(), half, half.next_up()]);
        for value in steps.chain(beside) {
            let rounded = value.round().clamp(-128.0, 127.0);
            assert!((f32::from(small(value)) - rounded).abs() < 0.1, "{value}");
        }
    }

    #[test]
    fn what_has_no_direction_is_left_out() {
        let vectors: [&[f32]; 5] =
            [&[], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[0.0, 1.0]];
        assert_eq!(Embedding::new(vectors).rows.len(), 1);
    }
}
