//! Owns the stored form of the vectors. Codes are not stored: they follow from the rows.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::{
    IndexError,
    blocks::{BLOCK_BYTES, read_block, write_block},
};
use crate::{
    embed::embedding::{Embedding, Row},
    index::{
        lexical::Lexical,
        vectors::{Space, Vectors},
    },
};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSpace {
    model: String,
    dimensions: u32,
    centre: Vec<f32>,
    documents: u32,
}

/// The rows of one document, one after the other.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRows {
    ordinal: u32,
    scales: Vec<f32>,
    values: Vec<u8>,
}

impl StoredSpace {
    pub(super) fn of(vectors: &Vectors) -> Self {
        let space = vectors.space();
        let number = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        Self {
            model: space.model.to_string(),
            dimensions: number(space.dimensions),
            centre: space.centre.clone(),
            documents: number(vectors.len()),
        }
    }

    pub(super) fn space(&self) -> Space {
        let dimensions = usize::try_from(self.dimensions).unwrap_or(usize::MAX);
        Space { model: self.model.as_str().into(), dimensions, centre: self.centre.clone() }
    }
}

pub(super) fn write_vectors(out: &mut impl Write, vectors: &Vectors) -> io::Result<()> {
    let (mut block, mut size) = (Vec::new(), 0);
    for (ordinal, rows) in vectors.documents() {
        let scales: Vec<f32> = rows.iter().map(|(scale, _)| *scale).collect();
        let values: Vec<u8> = rows
            .iter()
            .flat_map(|(_, values)| *values)
            .map(|value| value.cast_unsigned())
            .collect();
        size += values.len();
        block.push(StoredRows { ordinal, scales, values });
        if size >= BLOCK_BYTES {
            write_block(out, &block)?;
            block.clear();
            size = 0;
        }
    }
    if block.is_empty() { Ok(()) } else { write_block(out, &block) }
}

pub(super) fn read_vectors(
    input: &mut impl Read,
    stored: &StoredSpace,
    documents: &Lexical,
) -> Result<Vectors, IndexError> {
    let space = stored.space();
    let size = space.dimensions;
    let expected = usize::try_from(stored.documents).unwrap_or(usize::MAX);
    let mut vectors = Vectors::new(space);
    let mut buffer = Vec::new();
    while vectors.len() < expected {
        let block: Vec<StoredRows> = read_block(input, &mut buffer, "vectors")?;
        if block.is_empty() || block.len() > expected - vectors.len() {
            return Err(IndexError::Inconsistent("a block of vectors has the wrong size"));
        }
        for rows in block {
            let (ordinal, embedding) = (rows.ordinal, rows.embedding(size));
            if !documents.has(ordinal) || !vectors.insert(ordinal, &embedding) {
                return Err(IndexError::Inconsistent("vectors of an unknown document"));
            }
        }
    }
    Ok(vectors)
}

impl StoredRows {
    /// The rows, or none where the parts do not fit each other.
    fn embedding(&self, size: usize) -> Embedding {
        let whole = self.values.len() == self.scales.len().saturating_mul(size)
            && self.scales.iter().all(|scale| scale.is_finite() && *scale > 0.0);
        let rows = self.scales.iter().zip(self.values.chunks(size.max(1)));
        let rows = rows.map(|(scale, values)| Row {
            scale: *scale,
            values: values.iter().map(|value| value.cast_signed()).collect(),
        });
        Embedding { rows: if whole { rows.collect() } else { Vec::new() } }
    }
}
