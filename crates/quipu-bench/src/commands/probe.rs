//! The machine itself. Its sync time: append a few hundred bytes to a file and wait until they are on stable
//! storage; every durable latency is a multiple of this. And, in `memory.rs`, what its memory gives.

use std::{fs::File, io::Write, path::Path};

use crate::measure::{
    failure::Failure,
    memory,
    report::Report,
    stopwatch::{Samples, Stopwatch},
};

const APPEND_BYTES: usize = 900;
const SAMPLES: usize = 4000;

pub(crate) fn run(dir: &Path, report: &mut Report) -> Result<(), Failure> {
    let samples = measure(dir)?;
    report.latencies("sync of a 900-byte append", &samples, None);
    memory::run(report);
    Ok(())
}

/// Measures the sync time of the disk that holds a directory.
pub(crate) fn measure(dir: &Path) -> Result<Samples, Failure> {
    let failed = |error| {
        Failure::caused(format!("cannot measure the sync time in {}", dir.display()), &error)
    };
    let mut file = tempfile_in(dir).map_err(failed)?;
    let mut samples = Samples::default();
    for _ in 0..SAMPLES {
        file.1.write_all(&[7; APPEND_BYTES]).map_err(failed)?;
        let watch = Stopwatch::start();
        file.1.sync_data().map_err(failed)?;
        samples.push(watch.elapsed());
    }
    std::fs::remove_file(&file.0).map_err(failed)?;
    Ok(samples)
}

fn tempfile_in(dir: &Path) -> std::io::Result<(std::path::PathBuf, File)> {
    std::fs::create_dir_all(dir)?;
    let path = dir.join(format!("quipu-probe-{}", std::process::id()));
    let file = File::create(&path)?;
    Ok((path, file))
}
