//! Owns the whole stored index.
//!
//! ```text
//!   magic (8) | format (4)
//!   | header of the words | lengths, a block per 65,536 ordinals | terms, ascending, in blocks
//!   | ordinals of the documents that lay down a rule
//!   | spaces: the built-in model's, and the second one if there is one
//!   | the vectors of each space, by ascending ordinal, in blocks
//! ```

use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
};

use super::{
    IndexError,
    blocks::{read_block, write_block},
    vectors::{StoredSpace, read_vectors, write_vectors},
};
use crate::index::{
    lexical::Lexical,
    search_index::{Index, builtin_space},
};

const MAGIC: &[u8; 8] = b"quipuidx";
pub(super) const VERSION: u32 = 1;

impl Index {
    /// Writes the index. Equal indexes give equal bytes, whatever the order of past removals.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        self.lexical.write_to(out)?;
        write_block(out, &self.rules)?;
        let spaces: Vec<_> = [&self.vectors].into_iter().chain(&self.second).collect();
        let stored: Vec<StoredSpace> = spaces.iter().map(|space| StoredSpace::of(space)).collect();
        write_block(out, &stored)?;
        spaces.into_iter().try_for_each(|vectors| write_vectors(out, vectors))
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
        let lexical = Lexical::read_from(input)?;
        let rules: BTreeSet<u32> = read_block(input, &mut Vec::new(), "rules")?;
        if rules.iter().any(|ordinal| !lexical.has(*ordinal)) {
            return Err(IndexError::Inconsistent("an unknown document lays down a rule"));
        }
        let stored: Vec<StoredSpace> = read_block(input, &mut Vec::new(), "spaces")?;
        let mut spaces = stored.into_iter();
        let first = spaces.next().ok_or(IndexError::Inconsistent("no space of vectors"))?;
        if first.space() != builtin_space() {
            return Err(IndexError::Model { found: first.space().model.into() });
        }
        let vectors = read_vectors(input, &first, &lexical)?;
        let second =
            spaces.next().map(|space| read_vectors(input, &space, &lexical)).transpose()?;
        if spaces.next().is_some() {
            return Err(IndexError::Inconsistent("too many spaces of vectors"));
        }
        Ok(Self { lexical, vectors, second, rules })
    }
}
