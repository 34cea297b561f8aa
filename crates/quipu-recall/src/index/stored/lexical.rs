//! Owns the stored form of the words: document lengths, and each term with its packed list.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use super::{
    IndexError,
    blocks::{BLOCK_BYTES, read_block, write_block},
};
use crate::{
    index::{
        lexical::{ABSENT, Lexical},
        postings::Postings,
    },
    limits::MAX_WORD_BYTES,
};

const LENGTHS_PER_BLOCK: usize = 65_536;
/// What a header's counts may reserve before the entries behind them have been seen.
const MAX_RESERVED: usize = 65_536;

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    ordinals: u32,
    documents: u32,
    terms: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredTerm<'a> {
    term: &'a str,
    postings: &'a [u8],
}

impl Lexical {
    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let ids = (0_u32..).take(self.ids()).map(|id| (self.term(id), self.list(id)));
        let mut terms: Vec<(&str, &Postings)> = ids.filter(|(_, list)| list.count() > 0).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        let used =
            self.lengths().iter().rposition(|length| *length != ABSENT).map_or(0, |at| at + 1);
        let lengths = self.lengths().get(..used).unwrap_or_default();
        write_block(
            out,
            &Header {
                ordinals: u32::try_from(used).map_err(io::Error::other)?,
                documents: u32::try_from(self.len()).map_err(io::Error::other)?,
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

    pub(super) fn read_from(input: &mut impl Read) -> Result<Self, IndexError> {
        let mut buffer = Vec::new();
        let header: Header = read_block(input, &mut buffer, "header")?;
        let mut index = Self::new();
        index.read_lengths(input, &header)?;
        index.read_terms(input, &header)?;
        Ok(index)
    }

    fn read_lengths(&mut self, input: &mut impl Read, header: &Header) -> Result<(), IndexError> {
        let ordinals = usize::try_from(header.ordinals).unwrap_or(usize::MAX);
        let (mut buffer, mut lengths) = (Vec::new(), Vec::new());
        while lengths.len() < ordinals {
            let block: Vec<u32> = read_block(input, &mut buffer, "lengths")?;
            if block.is_empty() || block.len() > ordinals - lengths.len() {
                return Err(IndexError::Inconsistent("a block of lengths has the wrong size"));
            }
            lengths.extend(block.iter().map(|stored| stored.wrapping_sub(1)));
        }
        self.set_lengths(lengths);
        if u32::try_from(self.len()) != Ok(header.documents) {
            return Err(IndexError::Inconsistent("lengths do not add up"));
        }
        Ok(())
    }

    fn read_terms(&mut self, input: &mut impl Read, header: &Header) -> Result<(), IndexError> {
        let mut buffer = Vec::new();
        let mut previous = String::new();
        let expected = usize::try_from(header.terms).unwrap_or(usize::MAX);
        self.reserve_terms(expected.min(MAX_RESERVED));
        while self.ids() < expected {
            let block: Vec<StoredTerm<'_>> = read_block(input, &mut buffer, "terms")?;
            if block.is_empty() || block.len() > expected - self.ids() {
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
                *self.list_mut(term) = list;
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
