//! How many texts a local model embeds in a second on one core. `QUIPU_TEST_MODEL` names its directory;
//! without it there is nothing to measure. Run with `cargo bench -p quipu-models`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench reads a clock and a variable, and prints what it found"
)]

use std::{path::Path, time::Instant};

use quipu_models::LocalModel;
use quipu_recall::Embedder;

fn main() {
    let Ok(directory) = std::env::var("QUIPU_TEST_MODEL") else {
        println!("QUIPU_TEST_MODEL names no model");
        return;
    };
    let model = LocalModel::open(Path::new(&directory)).expect("a model");
    for (what, words, texts) in [("short", 12, 128), ("medium", 45, 64), ("long", 240, 8)] {
        let text = "the deployment of the billing service was rolled back after a failed check "
            .repeat(20);
        let text: String = text.split_inclusive(' ').take(words).collect();
        let batch = vec![text.as_str(); texts];
        for size in [1, texts] {
            let started = Instant::now();
            for part in batch.chunks(size) {
                let vectors = model.embed(part).expect("vectors");
                assert_eq!(vectors.len(), part.len());
            }
            let rate = texts as f64 / started.elapsed().as_secs_f64();
            println!("{what} texts of {words} words, {size} at a time: {rate:.1} a second");
        }
    }
}
