//! The guard of the hot paths: how many instructions each takes, as valgrind counts them, against figures that were
//! reviewed (`bench/instructions.toml`). Instructions and not time, because a busy machine changes time alone.
//! Other processors have other instructions, so the figures are of one kind of machine.
#![cfg(test)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod bench_guard;
mod counting;
mod figures;
mod hot_paths;
mod material;
