//! Frames: the length in four bytes, the lowest first, and JSON. Bounded before anything is set aside for one.

use std::io::{self, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

/// The longest frame that a server sends: an answer may be as long as the content of an Artifact.
pub(super) const TO_MODULE_MAX: usize = 128 * 1024 * 1024;
/// The longest frame that a module's process sends. What a module returns or asks is bounded far below.
pub(super) const FROM_MODULE_MAX: usize = 32 * 1024 * 1024;
/// How much is set aside before the bytes are there.
const STEP: usize = 64 * 1024;

pub(super) fn write<T: Serialize>(to: &mut impl Write, said: &T, max: usize) -> io::Result<()> {
    let bytes = serde_json::to_vec(said).map_err(io::Error::other)?;
    let too_long = || io::Error::new(io::ErrorKind::InvalidData, "a frame is too long");
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= max);
    to.write_all(&length.ok_or_else(too_long)?.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// The next frame; nothing where the other side has closed before one.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read, max: usize) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read(&mut length[..1])? {
        0 => return Ok(None),
        _ => from.read_exact(&mut length[1..])?,
    }
    let wrong = |what: &'static str| io::Error::new(io::ErrorKind::InvalidData, what);
    let length = usize::try_from(u32::from_le_bytes(length)).ok().filter(|length| *length <= max);
    let length = length.ok_or_else(|| wrong("a frame is too long"))?;
    let mut bytes = Vec::with_capacity(length.min(STEP));
    let there = from.take(length as u64).read_to_end(&mut bytes)?;
    if there < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&bytes).map(Some).map_err(|_| wrong("a frame is not understood"))
}
