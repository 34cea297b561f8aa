//! Reads tensors from a safetensors file: eight bytes of length, a JSON header that says where each
//! tensor is, then the numbers. Hand-written, because the format is this small. Trusts nothing in
//! the header that the file's own length does not bear out.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use serde::Deserialize;

use super::error::DirectoryError;
use crate::limits::TENSOR_HEADER_BYTES_MAX;

#[derive(Debug)]
pub(super) struct Safetensors {
    file: File,
    tensors: BTreeMap<String, TensorEntry>,
    data_start: u64,
    data_bytes: u64,
}

#[derive(Debug, Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl Safetensors {
    pub(super) fn open(path: &Path) -> Result<Self, DirectoryError> {
        let unreadable = |source| DirectoryError::unreadable(path, source);
        let mut file = File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(unreadable)?;
        let length = u64::from_le_bytes(length);
        let data_start = length.saturating_add(8);
        if length > TENSOR_HEADER_BYTES_MAX || data_start > bytes {
            let what = format!("its header would have {length} bytes");
            return Err(DirectoryError::wrong(path, what));
        }
        let mut header = Vec::new();
        (&mut file).take(length).read_to_end(&mut header).map_err(unreadable)?;
        let tensors = read_header(&header)
            .map_err(|error| DirectoryError::wrong(path, format!("its header: {error}")))?;
        Ok(Self { file, tensors, data_start, data_bytes: bytes - data_start })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// The numbers of a tensor, which must have this shape.
    pub(super) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, DirectoryError> {
        let wrong = |reason: String| DirectoryError::Tensor { name: name.to_owned(), reason };
        let entry = self.tensors.get(name).ok_or_else(|| wrong("is not there".to_owned()))?;
        if entry.dtype != "F32" {
            return Err(wrong(format!("has numbers of type {}, not F32", entry.dtype)));
        }
        let wanted: Vec<u64> =
            shape.iter().map(|n| u64::try_from(*n).unwrap_or(u64::MAX)).collect();
        if entry.shape != wanted {
            return Err(wrong(format!("has the shape {:?}, not {wanted:?}", entry.shape)));
        }
        let bytes = wanted.iter().try_fold(4u64, |product, n| product.checked_mul(*n));
        let [start, end] = entry.data_offsets;
        if end > self.data_bytes
            || end.checked_sub(start).is_none()
            || end.checked_sub(start) != bytes
        {
            return Err(wrong(format!("lies at {start} to {end}, which the file does not have")));
        }
        self.numbers(start, end - start).map_err(|error| wrong(error.to_string()))
    }

    fn numbers(&mut self, start: u64, bytes: u64) -> io::Result<Vec<f32>> {
        self.file.seek(SeekFrom::Start(self.data_start + start))?;
        let mut raw = Vec::new();
        (&mut self.file).take(bytes).read_to_end(&mut raw)?;
        let (words, _) = raw.as_chunks::<4>();
        let numbers: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        if raw.len() as u64 != bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(io::Error::other("holds a number that is not finite"));
        }
        Ok(numbers)
    }
}

fn read_header(header: &[u8]) -> Result<BTreeMap<String, TensorEntry>, serde_json::Error> {
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header)?;
    all.into_iter()
        .filter(|(name, _)| name != "__metadata__")
        .map(|(name, entry)| Ok((name, TensorEntry::deserialize(entry)?)))
        .collect()
}
