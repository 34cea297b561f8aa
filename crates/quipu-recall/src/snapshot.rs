//! Owns the stored form of an index: writing it, and reading it without trusting a byte of it.
//! Does not own where it is stored nor whether it is the right one; the caller hashes it.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::index::{ABSENT, Index};
use crate::limits::MAX_WORD_BYTES;
use crate::postings::Postings;

// magic (8) | format (4) | header | lengths, a block per 65,536 ordinals | terms, ascending, in blocks
//
// Header and blocks are each a little-endian u32 length followed by that many bytes of postcard.
const MAGIC: &[u8; 8] = b"quipulex";
const VERSION: u32 = 1;
const LENGTHS_PER_BLOCK: usize = 65_536;
/// A block of terms is closed once it holds this many bytes; a single term may exceed it.
const BLOCK_BYTES: usize = 256 * 1024;
/// What a header's counts may reserve before the entries behind them have been seen.
const MAX_RESERVED: usize = 65_536;

/// Why stored bytes are not an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The source failed, or ended too early.
    #[error("cannot read the index")]
    Read(#[source] io::Error),
    /// The bytes do not begin as an index does.
    #[error("not an index: starts with {found:02x?}")]
    Foreign {
        /// The first bytes.
        found: [u8; 8],
    },
    /// Written in a format that this code does not know.
    #[error("index format {found} is not supported, only {VERSION}")]
    Version {
        /// The format's number.
        found: u32,
    },
    /// A block could not be decoded.
    #[error("undecodable {part} in the index")]
    Block {
        /// Which block.
        part: &'static str,
        /// What the decoder said.
        #[source]
        source: postcard::Error,
    },
    /// The parts contradict each other.
    #[error("inconsistent index: {0}")]
    Inconsistent(&'static str),
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    ordinals: u32,
    documents: u32,
    total_length: u64,
    terms: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredTerm<'a> {
    term: &'a str,
    postings: &'a [u8],
}

impl Index {
    /// Writes the index. Equal indexes give equal bytes, whatever the order of past removals.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut terms: Vec<(&str, &Postings)> =
            self.dictionary.iter().map(|(term, id)| (&**term, self.list(*id))).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        let used = self.lengths.iter().rposition(|length| *length != ABSENT).map_or(0, |at| at + 1);
        let lengths = self.lengths.get(..used).unwrap_or_default();
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        write_block(
            out,
            &Header {
                ordinals: u32::try_from(used).map_err(io::Error::other)?,
                documents: self.documents,
                total_length: self.total_length,
                terms: u32::try_from(terms.len()).map_err(io::Error::other)?,
            },
        )?;
        for block in lengths.chunks(LENGTHS_PER_BLOCK) {
            // Absent is stored as 0, so that a length costs one or two bytes.
            let stored: Vec<u32> = block.iter().map(|length| length.wrapping_add(1)).collect();
            write_block(out, &stored)?;
        }
        write_terms(out, &terms)
    }

    /// Reads what [`Index::write_to`] wrote and leaves what follows it unread.
    ///
    /// Bytes that are cut, foreign or altered so that they contradict themselves are an error;
    /// nothing is reserved before the bytes that fill it have been read.
    pub fn read_from(input: &mut impl Read) -> Result<Self, IndexError> {
        let mut found = [0; 8];
        input.read_exact(&mut found).map_err(IndexError::Read)?;
        if &found != MAGIC {
            return Err(IndexError::Foreign { found });
        }
        let mut version = [0; 4];
        input.read_exact(&mut version).map_err(IndexError::Read)?;
        let version = u32::from_le_bytes(version);
        if version != VERSION {
            return Err(IndexError::Version { found: version });
        }
        let mut buffer = Vec::new();
        let header: Header = read_block(input, &mut buffer, "header")?;
        let mut index = Self::new();
        index.read_lengths(input, &header)?;
        index.read_terms(input, &header)?;
        Ok(index)
    }

    fn read_lengths(&mut self, input: &mut impl Read, header: &Header) -> Result<(), IndexError> {
        let ordinals = usize::try_from(header.ordinals).unwrap_or(usize::MAX);
        let mut buffer = Vec::new();
        while self.lengths.len() < ordinals {
            let block: Vec<u32> = read_block(input, &mut buffer, "lengths")?;
            if block.is_empty() || block.len() > ordinals - self.lengths.len() {
                return Err(IndexError::Inconsistent("a block of lengths has the wrong size"));
            }
            self.lengths.extend(block.iter().map(|stored| stored.wrapping_sub(1)));
        }
        for length in self.lengths.iter().filter(|length| **length != ABSENT) {
            self.documents += 1;
            self.total_length += u64::from(*length);
        }
        if (self.documents, self.total_length) != (header.documents, header.total_length) {
            return Err(IndexError::Inconsistent("lengths do not add up"));
        }
        Ok(())
    }

    fn read_terms(&mut self, input: &mut impl Read, header: &Header) -> Result<(), IndexError> {
        let mut buffer = Vec::new();
        let mut previous = String::new();
        let expected = usize::try_from(header.terms).unwrap_or(usize::MAX);
        self.dictionary.reserve(expected.min(MAX_RESERVED));
        while self.postings.len() < expected {
            let block: Vec<StoredTerm<'_>> = read_block(input, &mut buffer, "terms")?;
            if block.is_empty() || block.len() > expected - self.postings.len() {
                return Err(IndexError::Inconsistent("a block of terms has the wrong size"));
            }
            for StoredTerm { term, postings } in block {
                if term <= previous.as_str() || term.len() > MAX_WORD_BYTES {
                    return Err(IndexError::Inconsistent("terms are not in order"));
                }
                previous.clear();
                previous.push_str(term);
                let list = Postings::from_bytes(postings, |ordinal| self.has(ordinal))
                    .ok_or(IndexError::Inconsistent("a term's documents are not in order"))?;
                let id = u32::try_from(self.postings.len())
                    .map_err(|_| IndexError::Inconsistent("too many terms"))?;
                self.dictionary.insert(Box::from(term), id);
                self.postings.push(list);
            }
        }
        Ok(())
    }
}

fn write_terms(out: &mut impl Write, terms: &[(&str, &Postings)]) -> io::Result<()> {
    let mut block = Vec::new();
    let mut size = 0;
    for (term, list) in terms {
        block.push(StoredTerm { term, postings: list.bytes() });
        size += term.len() + list.bytes().len();
        if size >= BLOCK_BYTES {
            write_block(out, &block)?;
            block.clear();
            size = 0;
        }
    }
    if block.is_empty() { Ok(()) } else { write_block(out, &block) }
}

fn write_block<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&bytes)
}

fn read_block<'a, T: Deserialize<'a>>(
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
