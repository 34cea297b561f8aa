//! How many short texts a second does the built-in model embed, and how long do scans of a million
//! vectors take, by as many cores as they use? `cargo bench -p quipu-recall`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::time::Instant;

use quipu_recall::{Index, analyze, embed::builtin};

const TEXTS: [&str; 8] = [
    "The orders table needs an index on customer_id; queries take 4 s.",
    "We shard the orders by region, not by customer.",
    "The payment form loses its state when the browser tab sleeps.",
    "Personal data of customers in the EU must never leave EU servers.",
    "The cluster runs out of memory when two builds overlap.",
    "From now on, deployments on Fridays need my approval.",
    "Demand for cargo bikes grows by 23 percent a year in Germany.",
    "Customers leave the shop when delivery takes more than three days.",
];
const EMBEDDED: usize = 200_000;
const UNITS: u32 = 1_000_000;
const SCANS: u32 = 100;
const WORDS: usize = 12;

fn main() {
    builtin();
    let started = Instant::now();
    let mut checked = 0.0_f32;
    for text in TEXTS.iter().cycle().take(EMBEDDED) {
        checked += builtin().vector(text)[0].abs();
    }
    assert!(checked > 0.0);
    let rate = EMBEDDED as f64 / started.elapsed().as_secs_f64();
    println!("embedded {rate:.0} short texts a second");

    let mut index = Index::new();
    let words: Vec<&str> = TEXTS.iter().flat_map(|text| text.split(' ')).collect();
    let mut state = 1_u64;
    for ordinal in 0..UNITS {
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            words[usize::try_from(state >> 33).unwrap_or(0) % words.len()]
        };
        let text: Vec<&str> = (0..WORDS).map(|_| word()).collect();
        index.insert(ordinal, &analyze(&text.join(" ")));
    }
    let per_unit = index.memory_bytes() as f64 / f64::from(UNITS);
    println!("index of {UNITS} units: {per_unit:.0} bytes a unit");
    let hints = ["slow queries", "who approves deployments", "cargo bikes in Germany"];
    let vectors = index.vectors();
    let probe = |hint: &&str| vectors.probe(&builtin().vector(hint)).expect("a direction");
    let probes: Vec<_> = hints.iter().map(probe).collect();
    for count in [1, hints.len()] {
        let probes: Vec<_> = probes.iter().take(count).collect();
        let started = Instant::now();
        for _ in 0..SCANS {
            let found = vectors.nearest_to_each(&probes, 256, &|_| true);
            assert!(found.iter().all(|near| near.len() == 256));
        }
        let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(SCANS);
        println!("the 256 nearest of {UNITS}, to each of {count}: {micros:.0} us");
    }
}
