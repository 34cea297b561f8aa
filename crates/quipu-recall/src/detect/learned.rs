//! A small learned scorer: how likely two sentences contradict. It aligns their word pieces softly, looks at
//! what each piece met on the other side, and adds that up. Symmetric, deterministic, about half a
//! millisecond a pair. `tools/detector` says how it was trained and on what.

use std::sync::OnceLock;

use super::layer::{Layer, dot, number};
use crate::embed::builtin;

/// The packed weights. `tools/detector/scorer.py` describes the layout.
static PACKED: &[u8] = include_bytes!("../../models/contradiction.bin");
const MAGIC: &[u8] = b"quipudet";
const VERSION: usize = 1;
/// Word pieces of a sentence that are read.
const PIECES: usize = 48;

#[derive(Debug)]
pub(super) struct Scorer {
    project: Layer,
    context: Layer,
    attend: Layer,
    compare: Layer,
    hidden: Layer,
    out: Layer,
}

/// A sentence as the scorer sees it: for each word piece what it means here, and what it looks for.
#[derive(Debug)]
pub(super) struct Encoded {
    pieces: usize,
    meant: Vec<f32>,
    sought: Vec<f32>,
}

/// The scorer in the binary. The first call unpacks it.
pub(super) fn scorer() -> &'static Scorer {
    static SCORER: OnceLock<Scorer> = OnceLock::new();
    SCORER.get_or_init(|| Scorer::unpack(PACKED).expect("the scorer in the binary is whole"))
}

impl Scorer {
    fn unpack(packed: &[u8]) -> Option<Self> {
        let (version, rest) = number(packed.strip_prefix(MAGIC)?)?;
        let (layers, rest) = number(rest)?;
        let (project, rest) = Layer::read(rest)?;
        let (context, rest) = Layer::read(rest)?;
        let (attend, rest) = Layer::read(rest)?;
        let (compare, rest) = Layer::read(rest)?;
        let (hidden, rest) = Layer::read(rest)?;
        let (out, rest) = Layer::read(rest)?;
        let size = project.outputs();
        let wide =
            [&context, &attend, &compare, &hidden].map(|layer| (layer.inputs(), layer.outputs()));
        let whole = version == VERSION
            && layers == 6
            && rest.is_empty()
            && wide == [(3 * size, size), (size, size), (4 * size, size), (4 * size, size)]
            && (out.inputs(), out.outputs()) == (size, 1);
        whole.then_some(Self { project, context, attend, compare, hidden, out })
    }

    fn size(&self) -> usize {
        self.project.outputs()
    }

    /// Reads a sentence; nothing where it has no words.
    pub(super) fn encode(&self, sentence: &str) -> Option<Encoded> {
        let (table, size) = (builtin(), self.size());
        let ids = table.words().ids(sentence, PIECES);
        // One empty piece before and behind, so that the first and the last have neighbours.
        let mut alone = vec![0.0; size];
        for id in &ids {
            self.project.rectified(&table.direction(*id), &mut alone);
        }
        alone.resize(alone.len() + size, 0.0);
        let (mut meant, mut sought) = (Vec::new(), Vec::new());
        for at in 0..ids.len() {
            let around = alone.get(at * size..(at + 3) * size)?;
            self.context.rectified(around, &mut meant);
            self.attend.rectified(meant.get(at * size..)?, &mut sought);
        }
        (!ids.is_empty()).then_some(Encoded { pieces: ids.len(), meant, sought })
    }

    /// How likely two sentences contradict, from 0 to 1.
    pub(super) fn score(&self, a: &Encoded, b: &Encoded) -> f64 {
        let (left, right) = (self.side(a, b), self.side(b, a));
        let sums = left.iter().zip(&right).map(|(left, right)| left + right);
        let gaps = left.iter().zip(&right).map(|(left, right)| (left - right).abs());
        let both: Vec<f32> = sums.chain(gaps).collect();
        let mut hidden = Vec::with_capacity(self.size());
        self.hidden.rectified(&both, &mut hidden);
        let out = self.out.sums(&hidden).next().unwrap_or(f32::MIN);
        1.0 / (1.0 + f64::from(-out).exp())
    }

    /// What the pieces of one sentence met in the other: the mean of it, and the most of it.
    fn side(&self, mine: &Encoded, theirs: &Encoded) -> Vec<f32> {
        let size = self.size();
        let (mut mean, mut most) = (vec![0.0_f32; size], vec![0.0_f32; size]);
        let (mut row, mut found) = (Vec::with_capacity(4 * size), Vec::with_capacity(size));
        let pieces = mine.meant.chunks_exact(size).zip(mine.sought.chunks_exact(size));
        for (meant, sought) in pieces {
            let met = theirs.met(sought, size);
            row.clear();
            row.extend_from_slice(meant);
            row.extend_from_slice(&met);
            row.extend(meant.iter().zip(&met).map(|(mine, theirs)| (mine - theirs).abs()));
            row.extend(meant.iter().zip(&met).map(|(mine, theirs)| mine * theirs));
            found.clear();
            self.compare.rectified(&row, &mut found);
            for ((mean, most), value) in mean.iter_mut().zip(&mut most).zip(&found) {
                *mean += value;
                *most = most.max(*value);
            }
        }
        let count = mine.pieces as f32;
        mean.iter_mut().for_each(|value| *value /= count);
        mean.extend(most);
        mean
    }
}

impl Encoded {
    /// What one meets here who looks for something: the mean of the pieces, by how well they answer it.
    fn met(&self, sought: &[f32], size: usize) -> Vec<f32> {
        let scale = (size as f32).sqrt();
        let answers = self.sought.chunks_exact(size).map(|piece| dot(piece, sought) / scale);
        let answers: Vec<f32> = answers.collect();
        let most = answers.iter().copied().fold(f32::MIN, f32::max);
        let shares: Vec<f32> = answers.iter().map(|answer| (answer - most).exp()).collect();
        let all: f32 = shares.iter().sum();
        let mut met = vec![0.0; size];
        for (piece, share) in self.meant.chunks_exact(size).zip(&shares) {
            let share = share / all;
            met.iter_mut().zip(piece).for_each(|(met, value)| *met += share * value);
        }
        met
    }
}

#[cfg(test)]
#[path = "learned_tests.rs"]
mod tests;
