//! The built-in embedder: a table with one vector for each word piece; a text is the mean of its
//! tokens. Made from all-MiniLM-L6-v2 (`tools/embedder` says how); a few microseconds for a text.
//! It sees no word order, and knows English.

use std::sync::OnceLock;

use fearless_simd::{Level, dispatch};

use super::{EmbedError, Embedder, WordPiece};
use crate::limits::MAX_EMBEDDED_TOKENS;

/// The packed table. `tools/embedder/pack.py` describes the layout.
static PACKED: &[u8] = include_bytes!("../../models/static-256.bin");
const MAGIC: &[u8] = b"quipuemb";
const VERSION: u32 = 1;
/// Numbers of a vector that are summed at a time; a vector has a multiple of these.
const SUMMED: usize = 64;

/// A table of token vectors and the vocabulary to look them up with.
#[derive(Debug)]
pub struct BuiltIn {
    words: WordPiece,
    dimensions: usize,
    mean: Vec<f32>,
    scales: Vec<f32>,
    rows: &'static [u8],
}

/// The embedder that is always there. The first call unpacks its vocabulary, in some milliseconds.
pub fn builtin() -> &'static BuiltIn {
    static TABLE: OnceLock<BuiltIn> = OnceLock::new();
    TABLE.get_or_init(|| BuiltIn::unpack(PACKED).expect("the table in the binary is whole"))
}

impl BuiltIn {
    fn unpack(packed: &'static [u8]) -> Option<Self> {
        let mut rest = packed.strip_prefix(MAGIC)?;
        let mut number = || {
            let (bytes, after) = rest.split_first_chunk::<4>()?;
            rest = after;
            Some(u32::from_le_bytes(*bytes))
        };
        let [version, dimensions, rows, vocabulary] = [number()?, number()?, number()?, number()?];
        let size = |number: u32| usize::try_from(number).ok();
        let (dimensions, rows) = (size(dimensions)?, size(rows)?);
        let (vocabulary, rest) = rest.split_at_checked(size(vocabulary)?)?;
        let (mean, rest) = rest.split_at_checked(dimensions * 4)?;
        let (scales, table) = rest.split_at_checked(rows * 4)?;
        let vocabulary = std::str::from_utf8(vocabulary).ok()?;
        let whole = version == VERSION
            && dimensions.is_multiple_of(SUMMED)
            && table.len() == rows * dimensions
            && vocabulary.lines().count() == rows;
        whole.then(|| Self {
            words: WordPiece::new(vocabulary.lines()),
            dimensions,
            mean: floats(mean),
            scales: floats(scales),
            rows: table,
        })
    }

    /// The mean of the vectors of ordinary English sentences.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// The vocabulary.
    pub const fn words(&self) -> &WordPiece {
        &self.words
    }

    /// The vector of one text, of length 1; zeros where no word of it is known.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut ids = self.words.ids(text, MAX_EMBEDDED_TOKENS);
        ids.retain(|id| Some(*id) != self.words.unknown());
        let mut sum = vec![0.0; self.dimensions];
        // Each number is summed by itself, so wider instructions give the same sums.
        dispatch!(Level::new(), _simd => {
            for (part, sum) in sum.chunks_mut(SUMMED).enumerate() {
                self.add_up(&ids, part * SUMMED, sum);
            }
        });
        normalize(&mut sum);
        sum
    }

    /// The vector of one token at length 1, without how much it counts; zeros for one that is not known.
    pub(crate) fn direction(&self, id: u32) -> Vec<f32> {
        let at = usize::try_from(id).unwrap_or(usize::MAX).saturating_mul(self.dimensions);
        let row = self.rows.get(at..).unwrap_or_default().iter().take(self.dimensions);
        let mut row: Vec<f32> = row.map(|value| f32::from(value.cast_signed())).collect();
        row.resize(self.dimensions, 0.0);
        normalize(&mut row);
        row
    }

    /// Adds up a part of the rows of all tokens, from a dimension on. Inlined, because what is called is
    /// not compiled for the machine's own instructions.
    #[inline(always)]
    fn add_up(&self, ids: &[u32], from: usize, sum: &mut [f32]) {
        let mut part = [0.0_f32; SUMMED];
        for id in ids {
            let at = usize::try_from(*id).unwrap_or(usize::MAX);
            let Some(&scale) = self.scales.get(at) else { continue };
            let row = self.rows.get(at * self.dimensions + from..).unwrap_or_default();
            // A loop of known length, because only that stays in registers from token to token.
            let Some(row) = row.first_chunk::<SUMMED>() else { continue };
            for (total, value) in part.iter_mut().zip(row) {
                *total += scale * f32::from(value.cast_signed());
            }
        }
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum = part);
    }
}

impl Embedder for BuiltIn {
    fn model_id(&self) -> &str {
        "static-256/1"
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Makes a vector one of length 1, unless it has none.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
