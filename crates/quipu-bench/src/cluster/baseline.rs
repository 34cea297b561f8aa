//! What the log's servers take from somebody who writes the same bytes and does nothing else: pgbench for PostgreSQL,
//! and for NATS our own client without a Field and without HTTP.

use std::{fs, path::Path, process::Command, sync::Arc, thread, time::Duration};

use quipu_log::{Engine, FieldName, Head};
use quipu_testbed::{PostgresServer, postgres_program};

use crate::{
    commands::engine::chain,
    measure::{
        failure::Failure,
        report::Report,
        stopwatch::{Stopwatch, rate},
    },
};

/// A rate to compare with.
pub(crate) struct Baseline {
    pub(crate) what: String,
    pub(crate) rate: f64,
}

/// Inserts of one row with as many bytes as a commit has in the log, each in a transaction of its own.
pub(crate) fn pgbench(
    server: &PostgresServer,
    folder: &Path,
    clients: usize,
    seconds: u64,
    report: &mut Report,
) -> Result<Baseline, Failure> {
    let bytes = server.sql("SELECT round(avg(bytes)) FROM quipu.commits").parse().unwrap_or(1000);
    server.sql(
        "DROP TABLE IF EXISTS bare; \
         CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, row text NOT NULL)",
    );
    let script = folder.join("insert.sql");
    fs::write(&script, format!("INSERT INTO bare (row) VALUES ('{}');\n", "x".repeat(bytes)))
        .map_err(|error| Failure::caused("cannot write a script", &error))?;
    let output = Command::new(postgres_program("pgbench"))
        .args(["-n", "-c", &clients.to_string(), "-j", "2", "-T", &seconds.to_string(), "-f"])
        .args([&script, Path::new(&server.url())])
        .output()
        .map_err(|error| Failure::caused("cannot run pgbench", &error))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let rate = printed
        .lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())
        .ok_or_else(|| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Failure::new(format!("pgbench printed no rate: {printed}{complaint}"))
        })?;
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    report.figure("bytes of a commit in the log, and of a row of pgbench", bytes as f64, "B");
    Ok(Baseline { what: format!("pgbench, one-row inserts, {clients} connections"), rate })
}

/// Appends of ready commits, one publisher for each Field, with batches as large as the nodes' were.
pub(crate) fn bare_publishers(
    engine: &Arc<dyn Engine>,
    fields: Vec<String>,
    batch: usize,
    lasting: Duration,
    seed: u64,
) -> Result<Baseline, Failure> {
    let publishers: Vec<_> = fields
        .into_iter()
        .map(|field| {
            let engine = Arc::clone(engine);
            thread::spawn(move || publish(engine.as_ref(), &field, batch, lasting, seed))
        })
        .collect();
    let mut sum = 0.0;
    for publisher in publishers {
        sum += publisher.join().map_err(|_| Failure::new("a publisher died"))??;
    }
    Ok(Baseline { what: format!("bare publishers, batches of {batch}"), rate: sum })
}

fn publish(
    engine: &dyn Engine,
    field: &str,
    batch: usize,
    lasting: Duration,
    seed: u64,
) -> Result<f64, Failure> {
    let name = FieldName::try_from(field).map_err(|error| Failure::caused("a name", &error))?;
    let (mut written, mut head, mut took) = (0, Head::EMPTY, Duration::ZERO);
    while took < lasting {
        // Made in between, so that making them is not measured.
        let commits = chain(head, batch * 64, seed)?;
        let watch = Stopwatch::start();
        for batch in commits.chunks(batch) {
            head = engine
                .append(&name, &head, batch)
                .map_err(|error| Failure::caused("a publisher failed", &error))?;
        }
        took += watch.elapsed();
        written += commits.len();
    }
    Ok(rate(written, took))
}
