//! How many short texts a second does the built-in model embed, and how long does a scan of 100,000
//! vectors take, on one core? `cargo bench -p quipu-recall`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::time::Instant;

use quipu_recall::embed::builtin;
use quipu_recall::{Index, analyze};

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
const UNITS: u32 = 100_000;
const SCANS: u32 = 200;

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
    for ordinal in 0..UNITS {
        let at = usize::try_from(ordinal).unwrap_or(0);
        let text = format!("{} {} {ordinal}", TEXTS[at % 8], TEXTS[(at / 8) % 8]);
        index.insert(ordinal, &analyze(&text));
    }
    let per_unit = index.memory_bytes() as f64 / f64::from(UNITS);
    println!("index of {UNITS} units: {per_unit:.0} bytes a unit");
    let probe = index.vectors().probe(&builtin().vector("slow queries")).expect("a direction");
    let started = Instant::now();
    for _ in 0..SCANS {
        assert_eq!(index.vectors().nearest(&probe, 256, &|_| true).len(), 256);
    }
    let micros = started.elapsed().as_secs_f64() * 1e6 / f64::from(SCANS);
    println!("the 256 nearest of {UNITS}: {micros:.0} us");
}
