//! Proof files: that a commit is in a log, in one text that is verified offline (C2SP tlog-proof@v1).
//! The specification leaves open what is in its `extra` line; in ours it is the commit's header, or there is none.

use std::{fmt, str::FromStr};

use serde::Deserialize;

use quipu_wire::{hash::Hash, json::base64};

use super::{
    checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint},
    decimal,
    inclusion::{InclusionError, InclusionProof},
    node::LeafHash,
    verifier_key::VerifierKey,
};

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

/// No tree that can be counted in 64 bits is higher.
const PATH_MAX: usize = 64;

/// That the commit at position `index + 1` is in the log of a signed checkpoint.
///
/// ```text
///   header --SHA-256--> commit hash --leaf--> path --> root in the checkpoint <-- signature
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlogProof {
    header: Option<Box<[u8]>>,
    inclusion: InclusionProof,
    checkpoint: SignedCheckpoint,
}

/// Why a proof file is none, or proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlogProofError {
    #[error("proof does not begin with the line {FIRST_LINE:?}")]
    FirstLine,
    #[error("proof has no empty line before a checkpoint")]
    NoCheckpoint,
    #[error("proof has an extra line that is not base64")]
    Extra,
    #[error("{line:?} is not the index of a proof")]
    Index { line: String },
    #[error("proof hash {text:?} is not base64 of 32 bytes")]
    PathHash { text: String },
    #[error("proof has more than {PATH_MAX} hashes")]
    PathTooLong,
    #[error("proof has no valid checkpoint")]
    Checkpoint(#[from] CheckpointError),
    #[error("commit {commit} is not proven to be at index {index}")]
    Inclusion {
        commit: Hash,
        index: u64,
        #[source]
        cause: InclusionError,
    },
    /// A proof without a header proves only what its reader already has.
    #[error("proof has no commit header; the commit's hash must be given")]
    NoHeader,
    #[error("header in the proof is that of commit {found}, not of {commit}")]
    HeaderMismatch { commit: Hash, found: Hash },
    #[error("header in the proof does not say that it has the index {index}")]
    HeaderPosition { index: u64 },
}

impl TlogProof {
    /// Puts a proof together. `header` is the commit's canonical header, if the file is to say what was committed.
    ///
    /// # Errors
    /// `Inclusion`, `HeaderMismatch` or `HeaderPosition` if it would not verify.
    pub fn new(
        commit: &Hash,
        header: Option<Box<[u8]>>,
        inclusion: InclusionProof,
        checkpoint: SignedCheckpoint,
    ) -> Result<Self, TlogProofError> {
        let proof = Self { header, inclusion, checkpoint };
        proof.check_commit(commit)?;
        Ok(proof)
    }

    /// The position of the commit in the log, from 1.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.inclusion.index.saturating_add(1)
    }

    /// The header of the commit, if the file has one. Nobody should believe it before it is verified.
    #[must_use]
    pub fn header(&self) -> Option<&[u8]> {
        self.header.as_deref()
    }

    /// The checkpoint. Nobody should believe it before it is verified.
    #[must_use]
    pub const fn checkpoint(&self) -> &SignedCheckpoint {
        &self.checkpoint
    }

    /// Checks everything: the header in the file is that of a commit of the log that a trusted key speaks for.
    /// Answers the hash of the commit and what the log said.
    ///
    /// # Errors
    /// `NoHeader`, or as [`Self::verify_commit`].
    pub fn verify(&self, trusted: &[VerifierKey]) -> Result<(Hash, &Checkpoint), TlogProofError> {
        let header = self.header.as_ref().ok_or(TlogProofError::NoHeader)?;
        let commit = Hash::of(header);
        Ok((commit, self.verify_commit(&commit, trusted)?))
    }

    /// Checks that `commit` is the hash of a commit of the log that a trusted key speaks for, at this index.
    ///
    /// # Errors
    /// `Checkpoint`, `Inclusion`, `HeaderMismatch` or `HeaderPosition`.
    pub fn verify_commit(
        &self,
        commit: &Hash,
        trusted: &[VerifierKey],
    ) -> Result<&Checkpoint, TlogProofError> {
        let checkpoint = self.checkpoint.verify(trusted)?;
        self.check_commit(commit)?;
        Ok(checkpoint)
    }

    /// Everything but the signature.
    fn check_commit(&self, commit: &Hash) -> Result<(), TlogProofError> {
        let (index, head) = (self.inclusion.index, &self.checkpoint.unverified().head);
        self.inclusion
            .verify(&LeafHash::of_commit(commit), head)
            .map_err(|cause| TlogProofError::Inclusion { commit: *commit, index, cause })?;
        let Some(header) = &self.header else { return Ok(()) };
        let found = Hash::of(header);
        if found != *commit {
            return Err(TlogProofError::HeaderMismatch { commit: *commit, found });
        }
        match serde_json::from_slice::<Placed>(header) {
            Ok(placed) if placed.position == self.position() => Ok(()),
            _ => Err(TlogProofError::HeaderPosition { index }),
        }
    }
}

/// What a proof needs of a header, whatever its version.
#[derive(Deserialize)]
struct Placed {
    position: u64,
}

impl fmt::Display for TlogProof {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{FIRST_LINE}")?;
        if let Some(header) = &self.header {
            writeln!(formatter, "extra {}", base64::encode(header))?;
        }
        writeln!(formatter, "index {}", self.inclusion.index)?;
        for hash in &self.inclusion.path {
            writeln!(formatter, "{}", base64::encode(hash.as_bytes()))?;
        }
        write!(formatter, "\n{}", self.checkpoint)
    }
}

impl FromStr for TlogProof {
    type Err = TlogProofError;

    fn from_str(text: &str) -> Result<Self, TlogProofError> {
        let (first, _) = text.split_once('\n').ok_or(TlogProofError::FirstLine)?;
        if first != FIRST_LINE {
            return Err(TlogProofError::FirstLine);
        }
        let (top, checkpoint) = text.split_once("\n\n").ok_or(TlogProofError::NoCheckpoint)?;
        let mut lines = top.split('\n').skip(1).peekable();
        let extra = lines.next_if(|line| line.starts_with("extra "));
        let header = extra.map(parse_extra).transpose()?;
        let index = parse_index(lines.next().unwrap_or_default())?;
        let path = lines.take(PATH_MAX + 1).map(parse_hash).collect::<Result<Vec<_>, _>>()?;
        if path.len() > PATH_MAX {
            return Err(TlogProofError::PathTooLong);
        }
        let checkpoint: SignedCheckpoint = checkpoint.parse()?;
        // The file does not say for which size the path is: it is the checkpoint's, or it proves nothing.
        let size = checkpoint.unverified().head.size;
        Ok(Self { header, inclusion: InclusionProof { index, size, path }, checkpoint })
    }
}

fn parse_extra(line: &str) -> Result<Box<[u8]>, TlogProofError> {
    line.strip_prefix("extra ")
        .and_then(base64::decode)
        .filter(|header| !header.is_empty())
        .map(Vec::into_boxed_slice)
        .ok_or(TlogProofError::Extra)
}

fn parse_index(line: &str) -> Result<u64, TlogProofError> {
    line.strip_prefix("index ")
        .and_then(decimal::parse)
        .ok_or_else(|| TlogProofError::Index { line: line.to_owned() })
}

fn parse_hash(text: &str) -> Result<Hash, TlogProofError> {
    base64::decode(text)
        .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
        .map(Hash::from_bytes)
        .ok_or_else(|| TlogProofError::PathHash { text: text.to_owned() })
}
