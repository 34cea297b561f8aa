//! Owns one block of the stored form: a little-endian u32 length and that many bytes of postcard.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::IndexError;

/// A block of many things is closed once it holds this many bytes; a single thing may exceed it.
pub(super) const BLOCK_BYTES: usize = 256 * 1024;

pub(super) fn write_block<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&bytes)
}

pub(super) fn read_block<'a, T: Deserialize<'a>>(
    input: &mut impl Read,
    buffer: &'a mut Vec<u8>,
    part: &'static str,
) -> Result<T, IndexError> {
    let mut length = [0; 4];
    input.read_exact(&mut length).map_err(IndexError::Read)?;
    let length = u64::from(u32::from_le_bytes(length));
    buffer.clear();
    // Reading through `take` grows the buffer with what is really there, not with what is claimed.
    let read = input.take(length).read_to_end(buffer).map_err(IndexError::Read)?;
    if u64::try_from(read) != Ok(length) {
        return Err(IndexError::Read(io::ErrorKind::UnexpectedEof.into()));
    }
    let (value, rest) =
        postcard::take_from_bytes(buffer).map_err(|source| IndexError::Block { part, source })?;
    if rest.is_empty() { Ok(value) } else { Err(IndexError::Inconsistent("a block is too long")) }
}
