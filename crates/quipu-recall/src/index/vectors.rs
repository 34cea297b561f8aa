//! Owns the vectors of all documents in one model's space: a flat list that is scanned whole. One bit
//! for each number finds candidates, eight bits score them. A graph would have to be built, rebalanced
//! and repaired; a scan of 100,000 codes takes a third of a millisecond, and its answer is the same
//! on every node and after every restart.

use std::collections::BTreeSet;

use crate::{
    embed::embedding::{Embedding, Row, dot},
    index::{
        codes::{self, Haste},
        lexical::{Hit, slot},
        top::top,
    },
};

/// How many of the nearest codes are scored exactly, times the bits of a code: 1,024 for the built-in
/// model. A shorter code says less, so more of them are.
pub const RESCORED_BITS: usize = 1_024 * 256;
/// Rows that are fetched from memory together, and what memory gives at a time.
const FETCHED: usize = 32;
const LINE_BYTES: usize = 64;
/// Stands in `owners` for a row whose document is gone.
const GONE: u32 = u32::MAX;
/// Bits of one word of a code.
const WORD_BITS: usize = 64;

/// What vectors belong to: a model, and the point from which its codes are taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// The model's id. Vectors of different models are never compared.
    pub model: Box<str>,
    pub dimensions: usize,
    /// The mean of ordinary vectors; empty for zero.
    pub centre: Vec<f32>,
}

/// The vectors of one collection. A document may have several; the nearest one counts.
#[derive(Debug, Clone)]
pub struct Vectors {
    space: Space,
    /// By ordinal: its first row and how many follow each other.
    row_ranges: Vec<RowRange>,
    /// By row: its document.
    owners: Vec<u32>,
    codes: Vec<u64>,
    values: Vec<i8>,
    scales: Vec<f32>,
    documents: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct RowRange {
    first: u32,
    rows: u32,
}

/// A vector to look for.
#[derive(Debug, Clone)]
pub struct Probe {
    code: Vec<u64>,
    row: Row,
}

impl Vectors {
    pub const fn new(space: Space) -> Self {
        Self {
            space,
            row_ranges: Vec::new(),
            owners: Vec::new(),
            codes: Vec::new(),
            values: Vec::new(),
            scales: Vec::new(),
            documents: 0,
        }
    }

    pub const fn space(&self) -> &Space {
        &self.space
    }

    pub const fn len(&self) -> usize {
        self.documents
    }

    /// Whether none has.
    pub const fn is_empty(&self) -> bool {
        self.documents == 0
    }

    pub fn has(&self, ordinal: u32) -> bool {
        self.row_range(ordinal).rows > 0
    }

    /// Adds the vectors of a document; `false`, and no change, where it has some already, or where
    /// there is none of this space's size. An append at the end, in any order of ordinals.
    pub fn insert(&mut self, ordinal: u32, embedding: &Embedding) -> bool {
        let size = self.space.dimensions;
        let rows = || embedding.rows.iter().filter(|row| row.values.len() == size);
        if !self.claim(ordinal, rows().count()) {
            return false;
        }
        for row in rows() {
            self.owners.push(ordinal);
            self.codes.extend(self.space.code(row));
            self.values.extend_from_slice(&row.values);
            self.scales.push(row.scale);
        }
        true
    }

    /// Adds the vectors that a document has in another collection of the same space; `false`, and no change, where it has none
    /// there, or some here already.
    pub(crate) fn copy(&mut self, ordinal: u32, from: &Self, theirs: u32) -> bool {
        let place = from.row_range(theirs);
        let rows = slot(place.first)..slot(place.first) + slot(place.rows);
        if !self.claim(ordinal, rows.len()) {
            return false;
        }
        let (size, words) = (self.space.dimensions, self.space.words());
        self.owners.resize(self.owners.len() + rows.len(), ordinal);
        self.codes.extend_from_slice(&from.codes[rows.start * words..rows.end * words]);
        self.values.extend_from_slice(&from.values[rows.start * size..rows.end * size]);
        self.scales.extend_from_slice(&from.scales[rows]);
        true
    }

    /// Says that the next rows are a document's, unless it has some or there are none.
    fn claim(&mut self, ordinal: u32, rows: usize) -> bool {
        let (Ok(first), Ok(rows)) = (u32::try_from(self.owners.len()), u32::try_from(rows)) else {
            return false;
        };
        if ordinal == GONE || rows == 0 || self.has(ordinal) {
            return false;
        }
        if slot(ordinal) >= self.row_ranges.len() {
            self.row_ranges.resize(slot(ordinal) + 1, RowRange::default());
        }
        self.row_ranges[slot(ordinal)] = RowRange { first, rows };
        self.documents += 1;
        true
    }

    /// Takes a document's vectors out and overwrites them; `false` where it had none.
    pub fn remove(&mut self, ordinal: u32) -> bool {
        let RowRange { first, rows } = self.row_range(ordinal);
        if rows == 0 {
            return false;
        }
        let (size, words) = (self.space.dimensions, self.space.words());
        for row in slot(first)..slot(first) + slot(rows) {
            self.owners[row] = GONE;
            self.codes[row * words..(row + 1) * words].fill(0);
            self.values[row * size..(row + 1) * size].fill(0);
        }
        self.row_ranges[slot(ordinal)] = RowRange::default();
        self.documents -= 1;
        true
    }

    /// Takes the vectors of many documents out.
    pub fn forget(&mut self, ordinals: &BTreeSet<u32>) {
        for ordinal in ordinals {
            self.remove(*ordinal);
        }
    }

    /// A vector to look for; none where it is not of this space or has no direction.
    pub fn probe(&self, vector: &[f32]) -> Option<Probe> {
        let row = Row::new(vector).filter(|_| vector.len() == self.space.dimensions)?;
        Some(Probe { code: self.space.code(&row).collect(), row })
    }

    /// A document's own first vector, to look for what is like it.
    pub fn probe_of(&self, ordinal: u32) -> Option<Probe> {
        let place = self.row_range(ordinal);
        let row = (place.rows > 0).then(|| slot(place.first))?;
        let row = Row { scale: self.scales[row], values: self.row(row).into() };
        Some(Probe { code: self.space.code(&row).collect(), row })
    }

    /// The mean of the vectors of some documents, in the given order; none where none has any.
    pub fn mean_of(&self, ordinals: &[u32]) -> Option<Vec<f32>> {
        let mut sum = vec![0.0_f32; self.space.dimensions];
        for ordinal in ordinals {
            let RowRange { first, rows } = self.row_range(*ordinal);
            for row in slot(first)..slot(first) + slot(rows) {
                for (total, value) in sum.iter_mut().zip(self.row(row)) {
                    *total += f32::from(*value) * self.scales[row];
                }
            }
        }
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        (length > 0.0).then(|| sum.iter().map(|value| value / length).collect())
    }

    /// How close a document is, as a cosine from -1 to 1; none where it has no vector.
    pub fn similarity(&self, probe: &Probe, ordinal: u32) -> Option<f32> {
        let RowRange { first, rows } = self.row_range(ordinal);
        let rows = slot(first)..slot(first) + slot(rows);
        rows.map(|row| self.cosine(probe, row)).reduce(f32::max)
    }

    /// How close each of some documents is, as [`Self::similarity`] says.
    pub fn similarities(&self, probe: &Probe, ordinals: &[u32]) -> Vec<Option<f32>> {
        let mut found = Vec::with_capacity(ordinals.len());
        for some in ordinals.chunks(FETCHED) {
            let row_ranges = some.iter().map(|ordinal| self.row_range(*ordinal));
            self.fetch(row_ranges.filter(|place| place.rows > 0).map(|place| slot(place.first)));
            found.extend(some.iter().map(|ordinal| self.similarity(probe, *ordinal)));
        }
        found
    }

    /// The `limit` nearest documents among those that `accept` lets through, nearest first, the
    /// higher ordinal first where they are equally near. Exact up to a thousand rows; beyond,
    /// among the documents with the nearest codes. What is not accepted changes nothing. Takes this
    /// thread alone.
    pub fn nearest(&self, probe: &Probe, limit: usize, accept: &dyn Fn(u32) -> bool) -> Vec<Hit> {
        self.find_nearest(&[probe], limit, accept, Haste::Beside).pop().unwrap_or_default()
    }

    /// The nearest documents of each of several vectors, as [`Self::nearest`] says, for somebody who waits: many
    /// codes are compared by several threads. They are fetched from memory once for all vectors.
    pub fn nearest_to_each(
        &self,
        probes: &[&Probe],
        limit: usize,
        accept: &dyn Fn(u32) -> bool,
    ) -> Vec<Vec<Hit>> {
        self.find_nearest(probes, limit, accept, Haste::Waited)
    }

    fn find_nearest(
        &self,
        probes: &[&Probe],
        limit: usize,
        accept: &dyn Fn(u32) -> bool,
        haste: Haste,
    ) -> Vec<Vec<Hit>> {
        let rescored = RESCORED_BITS / self.space.dimensions.max(1);
        let wanted = rescored.max(limit.saturating_mul(2));
        let near = self.nearest_codes(probes, wanted, accept, haste);
        let each = probes.iter().zip(near);
        each.map(|(probe, rows)| top(self.rescored(probe, &rows), limit, &|_| true)).collect()
    }

    /// How close the documents of some rows are, each once.
    fn rescored(&self, probe: &Probe, rows: &[usize]) -> Vec<Hit> {
        let mut hits = Vec::with_capacity(rows.len());
        for rows in rows.chunks(FETCHED) {
            self.fetch(rows.iter().copied());
            let hit =
                |row: &usize| Hit { ordinal: self.owners[*row], score: self.cosine(probe, *row) };
            hits.extend(rows.iter().map(hit));
        }
        // Only a document with several rows, or what is left of one that is gone, makes these differ.
        if self.documents != self.owners.len() {
            hits.sort_unstable_by(|a, b| {
                b.ordinal.cmp(&a.ordinal).then_with(|| b.score.total_cmp(&a.score))
            });
            hits.dedup_by_key(|hit| hit.ordinal);
        }
        hits
    }

    /// Bytes held, within a few percent.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.row_ranges.capacity() * size_of::<RowRange>()
            + self.owners.capacity() * size_of::<u32>()
            + self.codes.capacity() * size_of::<u64>()
            + self.values.capacity()
            + self.scales.capacity() * size_of::<f32>()
    }

    /// The documents with their rows (scale and values), by ascending ordinal.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (u32, Vec<(f32, &[i8])>)> {
        (0_u32..).zip(&self.row_ranges).filter(|(_, place)| place.rows > 0).map(
            |(ordinal, place)| {
                let rows = slot(place.first)..slot(place.first) + slot(place.rows);
                (ordinal, rows.map(|row| (self.scales[row], self.row(row))).collect())
            },
        )
    }

    /// For each vector the rows with the nearest codes of accepted documents: all that are as near as the
    /// `wanted`th, so that neither ties nor what is not accepted decide.
    fn nearest_codes(
        &self,
        probes: &[&Probe],
        wanted: usize,
        accept: &dyn Fn(u32) -> bool,
        haste: Haste,
    ) -> Vec<Vec<usize>> {
        if probes.is_empty() {
            return Vec::new();
        }
        let accepted = |row: &usize| self.owners[*row] != GONE && accept(self.owners[*row]);
        if self.owners.len() <= wanted {
            let all: Vec<usize> = (0..self.owners.len()).filter(accepted).collect();
            return vec![all; probes.len()];
        }
        let probes: Vec<&[u64]> = probes.iter().map(|probe| &*probe.code).collect();
        let distances = codes::distances(&self.codes, self.space.words().max(1), &probes, haste);
        let bits = self.space.dimensions;
        distances.iter().map(|each| codes::nearest(each, bits, wanted, &accepted)).collect()
    }

    fn cosine(&self, probe: &Probe, row: usize) -> f32 {
        let product = dot(self.row(row), &probe.row.values);
        (product as f32 * self.scales[row] * probe.row.scale).clamp(-1.0, 1.0)
    }

    /// Reads a little of each row, so that memory is on its way for all of them at once. Rows lie far
    /// apart, and to wait for one after the other takes three times as long.
    fn fetch(&self, rows: impl Iterator<Item = usize>) {
        let (mut values, mut scales) = (0_i8, 0_u32);
        for row in rows {
            scales ^= self.scales.get(row).map_or(0, |scale| scale.to_bits());
            values =
                self.row(row).iter().step_by(LINE_BYTES).fold(values, |all, value| all ^ value);
        }
        std::hint::black_box((values, scales));
    }

    fn row(&self, row: usize) -> &[i8] {
        let size = self.space.dimensions;
        self.values.get(row * size..(row + 1) * size).unwrap_or_default()
    }

    fn row_range(&self, ordinal: u32) -> RowRange {
        self.row_ranges.get(slot(ordinal)).copied().unwrap_or_default()
    }
}

impl Space {
    /// Words of a code.
    const fn words(&self) -> usize {
        self.dimensions.div_ceil(WORD_BITS)
    }

    /// One bit for each number: whether it is above the centre.
    fn code(&self, row: &Row) -> impl Iterator<Item = u64> {
        row.values.chunks(WORD_BITS).enumerate().map(move |(word, values)| {
            let centre = self.centre.get(word * WORD_BITS..).unwrap_or_default();
            let mut above = [0_u8; WORD_BITS];
            let middles = centre.iter().copied().chain(std::iter::repeat(0.0));
            for ((above, value), middle) in above.iter_mut().zip(values).zip(middles) {
                *above = u8::from(f32::from(*value) * row.scale > middle);
            }
            let bytes = above.as_chunks::<8>().0.iter().map(|eight| packed(*eight));
            bytes.enumerate().fold(0, |code, (at, byte)| code | byte << (8 * at))
        })
    }
}

/// Eight numbers that are 0 or 1 as the bits of a byte. The factor moves each to its place.
const fn packed(eight: [u8; 8]) -> u64 {
    u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
