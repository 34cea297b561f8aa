//! How fast this machine reads and copies memory that no cache holds, with one thread and with one for each core. What
//! goes through a whole index, as a search at a million units does, cannot be faster than this.

use std::{hint::black_box, num::NonZero, thread, time::Duration};

use super::{
    report::Report,
    stopwatch::{Stopwatch, rate},
};

/// What each thread goes through, which is more than a share of any cache.
const BUFFER_BYTES: usize = 128 * 1024 * 1024;
/// How often it is done. The best counts: whatever else runs only makes it slower.
const ROUNDS: usize = 5;

pub(crate) fn run(report: &mut Report) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    report.figure("cores", f64::from(u32::try_from(cores).unwrap_or(u32::MAX)), "");
    let mut counts = vec![1, cores];
    counts.dedup();
    for threads in counts {
        let what = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        let [read, copied] = measure(threads, BUFFER_BYTES);
        report.figure(&format!("memory read, {what}"), read / 1e9, "GB/s");
        report.figure(&format!("memory copied, {what}"), copied / 1e9, "GB/s");
    }
}

/// Bytes that so many threads read in a second, and that they copied.
fn measure(threads: usize, bytes: usize) -> [f64; 2] {
    let mut buffers: Vec<_> =
        (0..threads).map(|_| (vec![1u64; bytes / 8], vec![2u64; bytes / 8])).collect();
    let mut best = [0f64; 2];
    for _ in 0..ROUNDS {
        let read = together(&mut buffers, |(from, _)| {
            black_box(from.iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)));
        });
        let copied = together(&mut buffers, |(from, to)| to.copy_from_slice(black_box(from)));
        for (best, took) in best.iter_mut().zip([read, copied]) {
            *best = best.max(rate(threads * bytes, took));
        }
    }
    best
}

/// What it took until all were done, each on a thread of its own.
fn together<T: Send>(parts: &mut [T], work: impl Fn(&mut T) + Sync) -> Duration {
    let watch = Stopwatch::start();
    thread::scope(|scope| {
        for part in parts {
            scope.spawn(|| work(part));
        }
    });
    watch.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_and_every_figure_is_a_number() {
        let mut buffers = vec![(vec![1u64; 64], vec![2u64; 64]); 3];
        together(&mut buffers, |(from, to)| to.copy_from_slice(from));
        assert!(buffers.iter().all(|(from, to)| from == to));
        assert!(measure(2, 4096).iter().all(|figure| figure.is_finite() && *figure > 0.0));
    }
}
