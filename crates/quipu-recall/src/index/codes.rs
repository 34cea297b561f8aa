//! Owns how codes are compared: how far many of them are from a few, and which are nearest. A code has one bit for
//! each number of a vector. Knows nothing of documents.

use std::{
    num::NonZero,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
};

use fearless_simd::{Level, dispatch};

/// How a distance is estimated below which there are so many codes: from one row in so many.
const SAMPLED: usize = 16;
/// Distances that are looked at together to see whether any of them is near: few enough that mostly
/// none is.
const GLANCED: usize = 32;
/// Rows that are compared with one vector after the other while their codes are at hand: 32 KiB of them.
const COMPARED: usize = 1_024;
/// From so many rows on several threads compare them, so many at most: below, to start one takes longer.
const THREADED: usize = 256 * 1024;
const THREADS_MAX: usize = 4;

/// Who compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    /// Somebody waits for it.
    Waited,
    /// It goes on beside other work, to which it leaves the cores.
    Beside,
}

/// How far each of the codes, `words` long each, is from each of some others.
pub(crate) fn distances(
    codes: &[u64],
    words: usize,
    probes: &[&[u64]],
    haste: Haste,
) -> Vec<Vec<u16>> {
    let rows = codes.len() / words;
    let mut all = vec![vec![0_u16; rows]; probes.len()];
    let part = rows.div_ceil(threads_for(rows, haste)).max(1);
    compare_in_parts(codes, words, part, probes, &mut all);
    all
}

/// The rows of accepted codes of at most `bits` bits that are nearest by their distances: all that are as near as the
/// `wanted`th, so that neither ties nor what is not accepted decide.
pub(crate) fn nearest(
    distances: &[u16],
    bits: usize,
    wanted: usize,
    accepted: &dyn Fn(&usize) -> bool,
) -> Vec<usize> {
    let mut left_at = vec![0_usize; bits + 1];
    let sampled = distances.iter().step_by(SAMPLED);
    sampled.for_each(|distance| left_at[usize::from(*distance)] += SAMPLED);
    let mut rows: Vec<usize> = Vec::new();
    let (mut seen_below, mut look_for) = (0_usize, wanted);
    while seen_below < left_at.len() && rows.len() < wanted {
        let bound = bound_of(&left_at, seen_below, look_for);
        // Apart, because to ask about each waits for memory, and this way many wait together.
        let near = between(distances, seen_below, bound);
        rows.extend(near.into_iter().filter(accepted));
        (seen_below, look_for) = (bound, look_for.saturating_mul(4));
    }
    trim(rows, distances, wanted)
}

/// How many threads compare so many rows. One core alone does not get from memory all that memory gives.
fn threads_for(rows: usize, haste: Haste) -> usize {
    // To ask the system reads several files.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = || thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    match haste {
        Haste::Waited if rows >= THREADED => *CORES.get_or_init(cores),
        Haste::Waited | Haste::Beside => 1,
    }
}

/// Gives parts of all codes, `part` rows each, to a thread each; the last to this one, and those for which there is
/// no thread.
fn compare_in_parts(
    codes: &[u64],
    words: usize,
    part: usize,
    probes: &[&[u64]],
    all: &mut [Vec<u16>],
) {
    let mut rest: Vec<_> = all.iter_mut().map(|distances| distances.chunks_mut(part)).collect();
    let mut parts = codes.chunks(part * words).peekable();
    thread::scope(|scope| {
        while let Some(codes) = parts.next() {
            let given: Vec<&mut [u16]> = rest.iter_mut().filter_map(Iterator::next).collect();
            // Shared, because a thread that could not be started keeps what it was given.
            let given = Arc::new(Mutex::new(given));
            let take = |given: &Mutex<Vec<&mut [u16]>>| {
                let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
                compare_all(codes, words, probes, &mut given);
            };
            let theirs = Arc::clone(&given);
            let is_own = parts.peek().is_none()
                || thread::Builder::new().spawn_scoped(scope, move || take(&theirs)).is_err();
            if is_own {
                take(&given);
            }
        }
    });
}

/// How far the codes are from each of some vectors, a few codes at a time.
fn compare_all(codes: &[u64], words: usize, probes: &[&[u64]], distances: &mut [&mut [u16]]) {
    // To count bits, the machine's own instructions are several times as fast as those that every machine has.
    dispatch!(Level::new(), _simd => {
        for (block, codes) in codes.chunks(COMPARED * words).enumerate() {
            for (distances, probe) in distances.iter_mut().zip(probes) {
                let distances = distances.get_mut(block * COMPARED..).unwrap_or_default();
                compare(codes, probe, distances);
            }
        }
    });
}

/// How far each code is from one of them. Inlined, because what is called is not compiled for the machine's own
/// instructions.
#[inline(always)]
fn compare(codes: &[u64], wanted: &[u64], distances: &mut [u16]) {
    // The built-in model has four words a code; a loop of known length is twice as fast.
    if let Some(wanted) = wanted.as_array::<4>() {
        let codes = codes.as_chunks::<4>().0;
        distances.iter_mut().zip(codes).for_each(|(to, code)| *to = distance(code, wanted));
    } else {
        let codes = codes.chunks_exact(wanted.len().max(1));
        distances.iter_mut().zip(codes).for_each(|(to, code)| *to = distance(code, wanted));
    }
}

/// In how many bits two codes differ.
#[inline(always)]
fn distance(code: &[u64], other: &[u64]) -> u16 {
    let differing: u32 = code.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
    u16::try_from(differing).unwrap_or(u16::MAX)
}

/// The rows whose distance is in a range. Few are, so many are looked at together.
fn between(distances: &[u16], from: usize, to: usize) -> Vec<usize> {
    let least = u16::try_from(from).unwrap_or(u16::MAX);
    let count = u16::try_from(to.saturating_sub(from)).unwrap_or(u16::MAX);
    let is_in = |distance: u16| distance.wrapping_sub(least) < count;
    let mut rows = Vec::new();
    dispatch!(Level::new(), _simd => {
        for (chunk, some) in distances.chunks(GLANCED).enumerate() {
            // A loop of known length, because only that becomes one over many numbers at a time.
            let all = some.as_array::<GLANCED>();
            let any = all.is_none_or(|all| all.iter().fold(false, |any, at| any | is_in(*at)));
            if any {
                let near = some.iter().enumerate().filter(|(_, distance)| is_in(**distance));
                rows.extend(near.map(|(at, _)| chunk * GLANCED + at));
            }
        }
    });
    rows
}

/// The least distance below which, from `from` on, there are `count` rows.
fn bound_of(rows_at: &[usize], from: usize, count: usize) -> usize {
    let mut found = 0;
    for (distance, rows) in rows_at.iter().enumerate().skip(from) {
        found += rows;
        if found >= count {
            return distance + 1;
        }
    }
    rows_at.len()
}

/// Keeps the `wanted` nearest and all that are as near as the last of them.
fn trim(mut rows: Vec<usize>, distances: &[u16], wanted: usize) -> Vec<usize> {
    if rows.len() > wanted {
        let mut sorted: Vec<u16> = rows.iter().map(|row| distances[*row]).collect();
        let (_, last, _) = sorted.select_nth_unstable(wanted - 1);
        let last = *last;
        rows.retain(|row| distances[*row] <= last);
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_say_the_same_as_the_whole(
            words in 1_usize..6,
            numbers in prop::collection::vec(any::<u64>(), 0..400),
            part in 1_usize..90,
            probes in 0_usize..4,
        ) {
            let rows = numbers.len() / words;
            let codes = &numbers[..rows * words];
            let probes: Vec<&[u64]> = codes.chunks(words).take(probes).collect();
            let mut all = vec![vec![0; rows]; probes.len()];
            compare_in_parts(codes, words, part, &probes, &mut all);
            prop_assert_eq!(&all, &distances(codes, words, &probes, Haste::Waited));
            for (probe, all) in probes.iter().zip(all) {
                let differing = |code: &[u64]| -> u32 {
                    code.iter().zip(*probe).map(|(a, b)| (a ^ b).count_ones()).sum()
                };
                let expected: Vec<u32> = codes.chunks(words).map(differing).collect();
                prop_assert_eq!(all.into_iter().map(u32::from).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn codes_beyond_the_first_block_are_compared_with_the_right_rows() {
        let rows: u64 = 3 * u64::try_from(COMPARED).unwrap() + 7;
        let codes: Vec<u64> = (0..rows).flat_map(|row| [(1 << (row % 61)) - 1, 0, 0, 0]).collect();
        let told = distances(&codes, 4, &[&[0, 0, 0, 0]], Haste::Beside);
        let expected: Vec<u16> = (0..rows).map(|row| u16::try_from(row % 61).unwrap()).collect();
        assert_eq!(told, [expected]);
    }
}
