//! Flips every byte and cuts at many lengths: a log is refused by name, or it reads back byte for byte.
#![cfg(test)]

use std::{fs, ops::Range, path::Path};

use quipu_log::{
    Body, Commit, Draft, DraftEvent, Engine, FieldName, Head, Salt, SqliteEngine, SqliteOptions,
    sqlite::check_storage, verify_chain,
};
use serde_json::json;
use tempfile::TempDir;

const LOG: &str = "fields/default/log.sqlite";
const WAL: &str = "fields/default/log.sqlite-wal";
const HEAD: &str = "fields/default/head";
const NOWHERE: [usize; 0] = [];
const FILES: [&str; 4] = ["format", LOG, WAL, HEAD];

/// A directory in memory where there is one: tens of thousands of small files are written here.
fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn commits(count: u64) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    for position in 1..=count {
        let salt = Salt::from_bytes([u8::try_from(position).unwrap(); 16]);
        let body = Body::new(salt, &json!({ "text": format!("the text of commit {position}") }));
        let draft = Draft {
            epoch: position * 3,
            time_ms: position,
            actor: "a".to_owned(),
            session: None,
            request: None,
            events: vec![DraftEvent { event: json!({ "n": position }), body: Some(body.unwrap()) }],
        };
        let prev = commits.last().map_or(Head::EMPTY, Commit::head).hash;
        commits.push(draft.seal(position, prev).unwrap());
    }
    commits
}

/// A small log and the bytes of its files, as they were while it was open (with a WAL) or after it was closed.
struct Sample {
    commits: Vec<Commit>,
    files: Vec<(&'static str, Vec<u8>)>,
}

impl Sample {
    fn take(closed: bool) -> Self {
        let dir = scratch();
        let field = FieldName::default_field();
        let commits = commits(12);
        let engine = SqliteEngine::open(dir.path(), SqliteOptions::default()).unwrap();
        let mut head = Head::EMPTY;
        for batch in commits.chunks(6) {
            head = engine.append(&field, &head, batch).unwrap();
        }
        let engine = if closed {
            drop(engine);
            None
        } else {
            Some(engine)
        };
        let files = FILES
            .iter()
            .filter_map(|name| Some((*name, fs::read(dir.path().join(name)).ok()?)))
            .collect();
        drop(engine);
        Self { commits, files }
    }

    fn bytes(&self, name: &str) -> &[u8] {
        &self.files.iter().find(|(file, _)| *file == name).unwrap().1
    }

    /// Writes the sample into `dir`, with `change` made to the file `name`.
    fn write(&self, dir: &Path, name: &str, change: &dyn Fn(&mut Vec<u8>)) {
        let field = dir.join("fields/default");
        if field.exists() {
            fs::remove_dir_all(&field).unwrap();
        }
        fs::create_dir_all(&field).unwrap();
        for (file, bytes) in &self.files {
            let mut bytes = bytes.clone();
            if *file == name {
                change(&mut bytes);
            }
            fs::write(dir.join(file), bytes).unwrap();
        }
    }

    /// Whether the damage is named by the checks, by opening or by verifying; if not, the log must be unharmed.
    fn is_noticed(&self, dir: &Path, case: &str) -> bool {
        let field = FieldName::default_field();
        let checked = check_storage(dir, &field);
        let mut read = Vec::new();
        let verified = SqliteEngine::open(dir, SqliteOptions::default()).unwrap();
        let verified = verify_chain(&verified, &field, Head::EMPTY, &mut |commit| {
            read.push(commit.clone());
            Ok(())
        });
        if verified.is_ok() {
            assert!(read == self.commits, "{case}: the log reads back different");
        }
        checked.is_err() || verified.is_err()
    }

    /// Tries `change` at each place; answers the places where nobody noticed.
    fn unnoticed(
        &self,
        name: &str,
        places: Range<usize>,
        change: impl Fn(&mut Vec<u8>, usize),
    ) -> Vec<usize> {
        let dir = scratch();
        let unnoticed = places.filter(|place| {
            self.write(dir.path(), name, &|bytes| change(bytes, *place));
            !self.is_noticed(dir.path(), &format!("{name} at {place}"))
        });
        unnoticed.collect()
    }
}

/// Another bit in each place, so that every bit of a byte has its turn over a file.
fn flip(bytes: &mut [u8], place: usize) {
    bytes[place] ^= 1 << (place % 8);
}

fn cut(bytes: &mut Vec<u8>, place: usize) {
    bytes.truncate(place);
}

/// Where the rows of the commits lie in the database file: the cell's own header, then the values.
///
/// `size(2..3) rowid(1) header-size(1) types: null epoch prev hash header(2) bodies(2) | epoch prev hash header bodies`
fn row_ranges(sample: &Sample) -> Vec<(Range<usize>, usize)> {
    let file = sample.bytes(LOG);
    let find = |needle: &[u8]| {
        let mut hits = file.windows(needle.len()).enumerate().filter(|(_, w)| *w == needle);
        let (at, _) = hits.next().unwrap();
        assert!(hits.next().is_none(), "the row is there once");
        at
    };
    let ranges = sample.commits.iter().map(|commit| {
        let header = find(&commit.header);
        let text = format!("the text of commit {}\"}}}}]", commit.position);
        let end = find(text.as_bytes()) + text.len();
        // Epochs here are one byte; before them stand eight bytes of types, of which the first is the
        // one for the position, and one with their size; before that the row id and the row's size.
        let types = header - 32 - 32 - 1 - 8;
        assert_eq!(file[types - 1], 9, "the size of the types counts itself");
        assert_eq!(u64::from(file[types - 2]), commit.position, "the row id");
        (types - 4..end, types)
    });
    ranges.collect()
}

fn check_flips_of_the_database(part: usize) {
    let sample = Sample::take(true);
    let len = sample.bytes(LOG).len();
    let places = len * part / 4..len * (part + 1) / 4;
    let unnoticed = sample.unnoticed(LOG, places.clone(), |bytes, place| flip(bytes, place));
    // SQLite keeps the position as the row id and never looks at the type that stands in its place.
    let (mut in_rows, mut idle) = (0, 0);
    for (row, type_of_position) in row_ranges(&sample) {
        for place in row.filter(|place| places.contains(place)) {
            in_rows += 1;
            if place == type_of_position {
                idle += 1;
            } else {
                assert!(!unnoticed.contains(&place), "a flip at {place} in a row went unnoticed");
            }
        }
    }
    // All others that nobody noticed lie outside the rows, and the log read back the same.
    let outside = places.len() - in_rows;
    assert!(unnoticed.len() <= outside + idle, "{} of {outside}", unnoticed.len());
}

#[test]
fn notices_every_flip_in_a_commit_first_quarter() {
    check_flips_of_the_database(0);
}

#[test]
fn notices_every_flip_in_a_commit_second_quarter() {
    check_flips_of_the_database(1);
}

#[test]
fn notices_every_flip_in_a_commit_third_quarter() {
    check_flips_of_the_database(2);
}

#[test]
fn notices_every_flip_in_a_commit_fourth_quarter() {
    check_flips_of_the_database(3);
}

fn check_flips_of_the_wal(part: usize) {
    let sample = Sample::take(false);
    let len = sample.bytes(WAL).len();
    let places = len * part / 4..len * (part + 1) / 4;
    // Every byte of the write-ahead log counts: its frames have checksums, and the head mark knows their end.
    assert_eq!(sample.unnoticed(WAL, places, |bytes, place| flip(bytes, place)), NOWHERE);
}

#[test]
fn notices_every_flip_in_the_wal_first_quarter() {
    check_flips_of_the_wal(0);
}

#[test]
fn notices_every_flip_in_the_wal_second_quarter() {
    check_flips_of_the_wal(1);
}

#[test]
fn notices_every_flip_in_the_wal_third_quarter() {
    check_flips_of_the_wal(2);
}

#[test]
fn notices_every_flip_in_the_wal_fourth_quarter() {
    check_flips_of_the_wal(3);
}

#[test]
fn notices_every_flip_in_the_head_mark() {
    let sample = Sample::take(true);
    let len = sample.bytes(HEAD).len();
    assert_eq!(sample.unnoticed(HEAD, 0..len, |bytes, place| flip(bytes, place)), NOWHERE);
}

#[test]
fn notices_every_cut_of_the_head_mark() {
    let sample = Sample::take(true);
    let len = sample.bytes(HEAD).len();
    assert_eq!(sample.unnoticed(HEAD, 0..len, cut), NOWHERE);
}

#[test]
fn notices_every_cut_of_the_database() {
    let sample = Sample::take(true);
    let len = sample.bytes(LOG).len();
    let lengths = 0..len / 37 + 1;
    assert_eq!(sample.unnoticed(LOG, lengths, |bytes, n| cut(bytes, n * 37)), NOWHERE);
}

#[test]
fn notices_every_cut_of_the_wal() {
    let sample = Sample::take(false);
    let len = sample.bytes(WAL).len();
    let lengths = 0..len / 37 + 1;
    assert_eq!(sample.unnoticed(WAL, lengths, |bytes, n| cut(bytes, n * 37)), NOWHERE);
}

#[test]
fn opens_the_untouched_samples() {
    for closed in [true, false] {
        let sample = Sample::take(closed);
        let dir = scratch();
        sample.write(dir.path(), "", &|_| ());
        assert!(!sample.is_noticed(dir.path(), "untouched"), "closed: {closed}");
    }
}
