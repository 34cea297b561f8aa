//! The SQLite engine beside a bare loop of inserts of the same bytes into the same kind of database,
//! at the same batch size, taking turns in one run. What is unfair: the bare loop checks nothing and
//! keeps no mark of its head; that difference is what is measured.

use std::path::Path;

use quipu_log::{
    Body, Commit, Draft, DraftEvent, Engine, FieldName, Head, Salt, SqliteEngine, SqliteOptions,
};
use rusqlite::{Connection, params};
use serde_json::json;

use crate::measure::{
    corpus::{Dice, record},
    failure::Failure,
    report::Report,
    stopwatch::{Stopwatch, rate},
};

const ROUNDS: usize = 6;

/// Compares at several batch sizes.
pub(crate) fn compare(dir: &Path, seed: u64, report: &mut Report) -> Result<(), Failure> {
    for (batch, batches) in [(1, 400), (16, 200), (256, 100)] {
        let (mut ours, mut bare) = (0.0, 0.0);
        for round in 0..ROUNDS {
            let folder = dir.join(format!("engine-{batch}-{round}"));
            let commits = chain(Head::EMPTY, batch * batches, seed)?;
            // Taking turns at going first, so that neither always finds the disk warm.
            if round % 2 == 0 {
                ours += engine_rate(&folder, &commits, batch)?;
                bare += bare_rate(&folder, &commits, batch)?;
            } else {
                bare += bare_rate(&folder, &commits, batch)?;
                ours += engine_rate(&folder, &commits, batch)?;
            }
            std::fs::remove_dir_all(&folder).ok();
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of rounds")]
        let rounds = ROUNDS as f64;
        report.figure(&format!("engine append, batch {batch}"), ours / rounds, "commits/s");
        report.figure(&format!("bare SQLite inserts, batch {batch}"), bare / rounds, "commits/s");
        report.figure(&format!("engine / bare, batch {batch}"), ours / bare, "x");
    }
    Ok(())
}

/// Commits that go on from a head.
pub(crate) fn chain(from: Head, count: usize, seed: u64) -> Result<Vec<Commit>, Failure> {
    let mut dice = Dice::new(seed);
    let mut head = from;
    let mut commits = Vec::with_capacity(count);
    for number in 0..count {
        let failed =
            |error: &dyn std::error::Error| Failure::new(format!("cannot seal a commit: {error}"));
        let body =
            Body::new(Salt::from_bytes([7; 16]), &record(&mut dice)).map_err(|e| failed(&e))?;
        let draft = Draft {
            epoch: head.epoch + 1,
            time_ms: 1,
            actor: "bench".to_owned(),
            session: None,
            request: Some(format!("message-{number}")),
            events: vec![DraftEvent { event: json!({"kind": "bench"}), body: Some(body) }],
        };
        let commit = draft.seal(head.position + 1, head.hash).map_err(|e| failed(&e))?;
        head = commit.head();
        commits.push(commit);
    }
    Ok(commits)
}

fn engine_rate(dir: &Path, commits: &[Commit], batch: usize) -> Result<f64, Failure> {
    let failed =
        |error: &dyn std::error::Error| Failure::new(format!("the engine failed: {error}"));
    let engine =
        SqliteEngine::open(&dir.join("ours"), SqliteOptions::default()).map_err(|e| failed(&e))?;
    let field = FieldName::default_field();
    let mut head = Head::EMPTY;
    let watch = Stopwatch::start();
    for batch in commits.chunks(batch) {
        head = engine.append(&field, &head, batch).map_err(|e| failed(&e))?;
    }
    Ok(rate(commits.len(), watch.elapsed()))
}

fn bare_rate(dir: &Path, commits: &[Commit], batch: usize) -> Result<f64, Failure> {
    bare(dir, commits, batch).map_err(|error| Failure::new(format!("bare SQLite failed: {error}")))
}

fn bare(dir: &Path, commits: &[Commit], batch: usize) -> rusqlite::Result<f64> {
    let folder = dir.join("bare");
    std::fs::create_dir_all(&folder).ok();
    let mut connection = Connection::open(folder.join("bare.sqlite"))?;
    connection.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
         CREATE TABLE commits (position INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, prev BLOB NOT NULL,
         hash BLOB NOT NULL, header TEXT NOT NULL, bodies TEXT)",
    )?;
    let rows: Vec<(String, String)> = commits.iter().map(texts).collect();
    let pairs: Vec<_> = commits.iter().zip(&rows).collect();
    let watch = Stopwatch::start();
    for batch in pairs.chunks(batch) {
        let transaction = connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO commits VALUES (?1,?2,?3,?4,?5,?6)")?;
            for (commit, (header, bodies)) in batch {
                insert.execute(params![
                    i64::try_from(commit.position).unwrap_or(i64::MAX),
                    i64::try_from(commit.epoch).unwrap_or(i64::MAX),
                    commit.prev.as_bytes(),
                    commit.hash.as_bytes(),
                    header,
                    bodies
                ])?;
            }
        }
        transaction.commit()?;
    }
    Ok(rate(commits.len(), watch.elapsed()))
}

/// The texts that the engine stores for a commit, as near as makes no difference.
fn texts(commit: &Commit) -> (String, String) {
    let header = String::from_utf8_lossy(&commit.header).into_owned();
    let body = commit.body(0).map_or_else(String::new, |body| {
        format!(
            r#"[{{"body":{},"event":0,"salt":"{}"}}]"#,
            String::from_utf8_lossy(&body.json),
            "07".repeat(16)
        )
    });
    (header, body)
}
