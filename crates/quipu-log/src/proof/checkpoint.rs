//! Checkpoints: the head of a log's tree as a signed note (C2SP tlog-checkpoint). When to sign one, and never to
//! sign two that contradict each other, is the caller's business.

use std::{fmt, str::FromStr};

use quipu_wire::{hash::Hash, json::base64};

use super::{
    decimal,
    note::{Note, NoteError},
    signing_key::SigningKey,
    tree_head::TreeHead,
    verifier_key::VerifierKey,
};

/// What a log says of itself: who it is and what its tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log.
    pub origin: String,
    pub head: TreeHead,
    /// Lines of other logs that we keep and do not understand. Ours have none.
    pub extensions: Vec<String>,
}

/// A checkpoint with its signatures, which may not have been verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    note: Note,
    checkpoint: Checkpoint,
}

/// Why a checkpoint is none, or is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("checkpoint is not a valid signed note")]
    Note(#[from] NoteError),
    /// Fewer than three lines, or an empty one.
    #[error("checkpoint is not three lines of text or more, none of them empty")]
    Lines,
    #[error("checkpoint size {text:?} is not a decimal number")]
    Size { text: String },
    #[error("checkpoint root {text:?} is not base64 of 32 bytes")]
    Root { text: String },
    #[error("checkpoint of an empty tree has the root {root}")]
    EmptyRoot { root: Hash },
    #[error("checkpoint of {origin:?} is signed by no trusted key of that name")]
    Origin { origin: String },
}

impl Checkpoint {
    fn text(&self) -> String {
        let root = base64::encode(self.head.root.as_bytes());
        let mut text = format!("{}\n{}\n{root}\n", self.origin, self.head.size);
        for line in &self.extensions {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    fn parse(text: &str) -> Result<Self, CheckpointError> {
        let mut lines = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?.split('\n');
        if lines.clone().any(str::is_empty) {
            return Err(CheckpointError::Lines);
        }
        let mut line = || lines.next().ok_or(CheckpointError::Lines);
        let (origin, size, root) = (line()?, line()?, line()?);
        let size =
            decimal::parse(size).ok_or_else(|| CheckpointError::Size { text: size.to_owned() })?;
        let root = base64::decode(root)
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .map(Hash::from_bytes)
            .ok_or_else(|| CheckpointError::Root { text: root.to_owned() })?;
        let head = TreeHead { size, root };
        if size == 0 && head != TreeHead::empty() {
            return Err(CheckpointError::EmptyRoot { root });
        }
        let extensions = lines.map(str::to_owned).collect();
        Ok(Self { origin: origin.to_owned(), head, extensions })
    }
}

impl SignedCheckpoint {
    /// Signs the head of the log that has the key's name.
    #[must_use]
    pub fn sign(head: TreeHead, key: &SigningKey) -> Self {
        let origin = key.verifier().name().to_string();
        let checkpoint = Checkpoint { origin, head, extensions: Vec::new() };
        let note = Note::sign(checkpoint.text(), key)
            .expect("three lines with a valid key name are the text of a note");
        Self { note, checkpoint }
    }

    /// What it says, if a trusted key with the name of its log signed it.
    ///
    /// # Errors
    /// `Note` if a trusted key's signature is wrong or there is none; `Origin` if they are of keys of other logs.
    pub fn verify(&self, trusted: &[VerifierKey]) -> Result<&Checkpoint, CheckpointError> {
        let signers = self.note.verify(trusted)?;
        if signers.iter().any(|key| key.name().as_str() == self.checkpoint.origin) {
            return Ok(&self.checkpoint);
        }
        Err(CheckpointError::Origin { origin: self.checkpoint.origin.clone() })
    }

    /// What it says, believed or not. To find the key to verify with, and to show.
    #[must_use]
    pub const fn unverified(&self) -> &Checkpoint {
        &self.checkpoint
    }

    #[must_use]
    pub const fn note(&self) -> &Note {
        &self.note
    }
}

impl fmt::Display for SignedCheckpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.note.fmt(formatter)
    }
}

impl FromStr for SignedCheckpoint {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let note: Note = text.parse()?;
        let checkpoint = Checkpoint::parse(note.text())?;
        Ok(Self { note, checkpoint })
    }
}
