//! The file in which the vectors of a slow model are kept, one for each unit. Derived: it can be deleted
//! at any time, and whatever in it cannot be read is made anew.
//!
//! ```text
//! "quipuvec" | u32 version | u32 dimensions | u32 bytes of the model id | model id | u64 check
//! record:  u128 unit id | f32 scale | i8 x dimensions | u64 check
//! ```
//!
//! A unit's text never changes, so its id stands for the content. A hash of the text would let anyone who
//! has the file find out whether a purged text was a certain one.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use crate::{base::failure::with_causes, compact::purge, snapshot::format::create_private};
use quipu_core::{State, UnitId};

const MAGIC: &[u8; 8] = b"quipuvec";
const VERSION: u32 = 1;
/// The longest model id that is believed.
const MODEL_BYTES_MAX: usize = 1024;
/// The most dimensions that are believed.
const DIMENSIONS_MAX: usize = 65_536;

pub(super) type Entry = (UnitId, Vec<f32>);

#[derive(Debug)]
pub(super) struct VectorFile {
    file: File,
    dimensions: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Start {
    model: String,
    dimensions: usize,
}

impl VectorFile {
    /// Opens the file of a model and reads what it holds. A file of another model, or without a
    /// readable start, is replaced; a damaged end is cut off. Where nobody knows the dimensions yet,
    /// there is no file either.
    pub(super) fn open(
        path: &Path,
        model: &str,
        dimensions: Option<usize>,
    ) -> io::Result<Option<(Self, Vec<Entry>)>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let found = Start::read(&bytes).filter(|(start, _)| {
            start.model == model && dimensions.is_none_or(|wanted| wanted == start.dimensions)
        });
        let (start, entries, good) = match (found, dimensions) {
            (Some((start, length)), _) => {
                let (entries, good) = entries(&bytes, length, start.dimensions);
                (start, entries, good)
            }
            (None, Some(dimensions)) => {
                let start = Start { model: model.to_owned(), dimensions };
                replace(path, &start, &[])?;
                (start, Vec::new(), 0)
            }
            (None, None) => return Ok(None),
        };
        let file = OpenOptions::new().append(true).open(path)?;
        if good > 0 && good < bytes.len() {
            tracing::warn!(path = %path.display(), "the vectors' file is damaged; making the rest anew");
            file.set_len(u64::try_from(good).unwrap_or(0))?;
        }
        Ok(Some((Self { file, dimensions: start.dimensions }, entries)))
    }

    /// Adds vectors. Those of another size are left out.
    pub(super) fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(entries.len() * record_bytes(self.dimensions));
        for entry in entries.iter().filter(|(_, vector)| vector.len() == self.dimensions) {
            write_record(&mut bytes, entry);
        }
        self.file.write_all(&bytes)?;
        self.file.sync_data()
    }
}

/// Takes the vectors of some units out of a file, whatever model it is of. What it cannot read, it
/// deletes.
pub(crate) fn purge_file(path: &Path, gone: &BTreeSet<UnitId>) -> io::Result<()> {
    remove_if_there(&part_of(path))?;
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some((start, length)) = Start::read(&bytes) else { return fs::remove_file(path) };
    let (mut entries, _) = entries(&bytes, length, start.dimensions);
    let before = entries.len();
    entries.retain(|(unit, _)| !gone.contains(unit));
    if entries.len() == before { Ok(()) } else { replace(path, &start, &entries) }
}

/// Takes the vectors of all purged units out of their file, at opening.
pub(crate) fn finish_purge_of_vectors(state: &State, vectors: Option<&Path>) {
    let Some(path) = vectors.filter(|_| state.last_purge > 0) else { return };
    let purged = purge::purged_units(state).collect();
    if let Err(error) = purge_file(path, &purged) {
        tracing::error!(path = %path.display(), error = with_causes(&error), "vectors of purged units remain");
    }
}

/// What an interrupted replacement may have left.
fn part_of(path: &Path) -> PathBuf {
    path.with_extension("part")
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Writes a whole file beside the old one and puts it in its place.
fn replace(path: &Path, start: &Start, entries: &[Entry]) -> io::Result<()> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(directory)?;
    let part = part_of(path);
    remove_if_there(&part)?;
    let mut writer = BufWriter::new(create_private(&part)?);
    writer.write_all(&start.bytes())?;
    let mut record = Vec::new();
    for entry in entries {
        record.clear();
        write_record(&mut record, entry);
        writer.write_all(&record)?;
    }
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&part, path)?;
    File::open(directory)?.sync_all()
}

impl Start {
    fn bytes(&self) -> Vec<u8> {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(number(self.dimensions));
        bytes.extend(number(self.model.len()));
        bytes.extend(self.model.as_bytes());
        bytes.extend(check(&bytes).to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut number = || {
            let mut word = [0; 4];
            rest.read_exact(&mut word).ok()?;
            usize::try_from(u32::from_le_bytes(word)).ok()
        };
        let (version, dimensions, length) = (number()?, number()?, number()?);
        let sound = version == usize::try_from(VERSION).ok()?
            && (1..=DIMENSIONS_MAX).contains(&dimensions)
            && length <= MODEL_BYTES_MAX;
        let model = rest.get(..length).filter(|_| sound)?;
        let start = Self { model: String::from_utf8(model.to_vec()).ok()?, dimensions };
        let whole = start.bytes();
        bytes.starts_with(&whole).then_some((start, whole.len()))
    }
}

const fn record_bytes(dimensions: usize) -> usize {
    16 + 4 + dimensions + 8
}

fn write_record(bytes: &mut Vec<u8>, (unit, vector): &Entry) {
    let start = bytes.len();
    let largest = vector.iter().fold(0.0f32, |most, number| most.max(number.abs()));
    let scale = largest / 127.0;
    bytes.extend(unit.bits().to_le_bytes());
    bytes.extend(scale.to_le_bytes());
    let small = |number: &f32| if scale > 0.0 { small(number / scale) } else { 0 };
    bytes.extend(vector.iter().flat_map(|number| small(number).to_le_bytes()));
    let check = check(bytes.get(start..).unwrap_or_default());
    bytes.extend(check.to_le_bytes());
}

#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates")]
fn small(number: f32) -> i8 {
    number.round() as i8
}

/// The readable records from `start` on, and where the first unreadable one begins.
fn entries(bytes: &[u8], start: usize, dimensions: usize) -> (Vec<Entry>, usize) {
    let mut entries = Vec::new();
    let mut good = start;
    for record in bytes.get(start..).unwrap_or_default().chunks(record_bytes(dimensions)) {
        let Some(entry) = read_record(record, dimensions) else { break };
        entries.push(entry);
        good += record.len();
    }
    (entries, good)
}

fn read_record(record: &[u8], dimensions: usize) -> Option<Entry> {
    let (content, stored) = record.split_last_chunk::<8>()?;
    if check(content) != u64::from_le_bytes(*stored) {
        return None;
    }
    let (unit, rest) = content.split_first_chunk::<16>()?;
    let (scale, values) = rest.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    let vector: Vec<f32> =
        values.iter().map(|value| f32::from(i8::from_le_bytes([*value])) * scale).collect();
    (vector.len() == dimensions && scale.is_finite())
        .then(|| (UnitId::from_bits(u128::from_le_bytes(*unit)), vector))
}

/// FNV-1a. It finds damage; nobody has a reason to forge a vector.
fn check(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(bits: u128) -> UnitId {
        UnitId::from_bits(bits)
    }

    fn three() -> Vec<Entry> {
        vec![
            (unit(1), vec![0.6, -0.8, 0.0]),
            (unit(2), vec![1.0, 0.0, 0.0]),
            (unit(3), vec![0.0, 0.0, 0.0]),
        ]
    }

    fn open(path: &Path) -> (VectorFile, Vec<Entry>) {
        VectorFile::open(path, "m", Some(3)).unwrap().unwrap()
    }

    fn ids(entries: &[Entry]) -> Vec<UnitId> {
        entries.iter().map(|(unit, _)| *unit).collect()
    }

    #[test]
    fn what_is_written_is_read_within_half_a_step() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        let (mut file, none) = open(&path);
        assert!(none.is_empty());
        file.append(&three()[..2]).unwrap();
        file.append(&three()[2..]).unwrap();
        file.append(&[(unit(4), vec![1.0])]).unwrap();
        let (_, read) = open(&path);
        assert_eq!(ids(&read), ids(&three()));
        for ((_, found), (_, wrote)) in read.iter().zip(&three()) {
            for (found, wrote) in found.iter().zip(wrote) {
                assert!((found - wrote).abs() < 0.005);
            }
        }
    }

    #[test]
    fn a_file_that_is_cut_anywhere_gives_what_is_whole_and_can_be_added_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        open(&path).0.append(&three()).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let (mut file, read) = open(&path);
            assert!(read.len() < 3);
            assert_eq!(ids(&read), ids(&three()[..read.len()]));
            file.append(&[(unit(9), vec![0.0, 1.0, 0.0])]).unwrap();
            let (_, again) = open(&path);
            assert_eq!(again.len(), read.len() + 1, "cut at {cut}");
        }
    }

    #[test]
    fn a_byte_that_was_changed_anywhere_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        open(&path).0.append(&three()).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            let read = open(&path).1;
            assert!(read.len() < 3, "at {at}");
            assert_eq!(ids(&read), ids(&three()[..read.len()]));
        }
    }

    #[test]
    fn the_file_of_another_model_or_size_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        open(&path).0.append(&three()).unwrap();
        let (_, read) = VectorFile::open(&path, "m", None).unwrap().unwrap();
        assert_eq!(read.len(), 3, "the file says its own size");
        assert!(VectorFile::open(&path, "n", None).unwrap().is_none());
        assert!(VectorFile::open(&path, "n", Some(3)).unwrap().unwrap().1.is_empty());
        assert!(VectorFile::open(&path, "n", Some(4)).unwrap().unwrap().1.is_empty());
    }

    #[test]
    fn a_purge_takes_vectors_out_of_any_model_s_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("vectors");
        purge_file(&path, &BTreeSet::from([unit(1)])).unwrap();
        open(&path).0.append(&three()).unwrap();
        purge_file(&path, &BTreeSet::from([unit(2), unit(7)])).unwrap();
        assert_eq!(ids(&open(&path).1), [unit(1), unit(3)]);
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(16).any(|part| part == unit(2).bits().to_le_bytes()));
        fs::write(part_of(&path), b"of an interrupted replacement").unwrap();
        purge_file(&path, &BTreeSet::from([unit(7)])).unwrap();
        assert!(!part_of(&path).exists());
        fs::write(&path, b"rubbish").unwrap();
        purge_file(&path, &BTreeSet::from([unit(1)])).unwrap();
        assert!(!path.exists());
    }
}
