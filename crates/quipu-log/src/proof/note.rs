//! Signed notes as C2SP defines them: a text, an empty line, and lines with signatures. Knows nothing of what
//! the text says; nobody should believe it before [`Note::verify`].

use std::{fmt, str::FromStr};

use quipu_wire::json::base64;

use super::{
    key_name::{KeyName, KeyNameError},
    signing_key::SigningKey,
    verifier_key::VerifierKey,
};

pub const NOTE_BYTES_MAX: usize = 1024 * 1024;

/// How many signatures a note may have. The specification demands at least 16.
pub const SIGNATURES_MAX: usize = 64;

const SIGNATURE_PREFIX: &str = "\u{2014} ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// One signature, by a key that may be unknown here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSignature {
    name: KeyName,
    key_id: u32,
    bytes: Vec<u8>,
}

/// Why a note is none, or is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("note has {found} bytes, at most {NOTE_BYTES_MAX} are read")]
    TooLarge { found: usize },
    #[error("note has the control character {character:?}")]
    ControlCharacter { character: char },
    #[error("note text does not end its last line")]
    OpenLine,
    #[error("note has no signatures after an empty line")]
    NoSignatures,
    #[error("note has more than {SIGNATURES_MAX} signatures")]
    TooManySignatures,
    #[error("{line:?} is not a line with a dash, a name and a signature in base64")]
    SignatureLine { line: String },
    #[error("signature has no valid key name")]
    SignatureName(#[source] KeyNameError),
    /// A trusted key signed something else, or another key signed in its name.
    #[error("signature of {name} does not fit the text")]
    BadSignature { name: KeyName },
    #[error("note is signed twice by {name}")]
    SignedTwice { name: KeyName },
    #[error("note is not signed by any of the {trusted} trusted keys")]
    NotTrusted { trusted: usize },
}

impl Note {
    /// Signs a text, which must be made of whole lines.
    ///
    /// # Errors
    /// `TooLarge`, `ControlCharacter` or `OpenLine` if the text cannot be a note's.
    pub fn sign(text: String, key: &SigningKey) -> Result<Self, NoteError> {
        check_characters(&text)?;
        if !text.ends_with('\n') {
            return Err(NoteError::OpenLine);
        }
        let signature = NoteSignature {
            name: key.verifier().name().clone(),
            key_id: key.verifier().id(),
            bytes: key.sign(&text).to_vec(),
        };
        let note = Self { text, signatures: vec![signature] };
        let found = note.to_string().len();
        if found > NOTE_BYTES_MAX { Err(NoteError::TooLarge { found }) } else { Ok(note) }
    }

    /// What is signed, with the end of its last line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All signatures, also those of unknown keys.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Checks the signatures of all `trusted` keys that signed, and answers which did. Others are passed over:
    /// a note may carry signatures of keys that come or go, and of witnesses.
    ///
    /// # Errors
    /// `NotTrusted` if none did; `BadSignature` or `SignedTwice` if one of them is wrong, whatever the others say.
    pub fn verify<'k>(
        &self,
        trusted: &'k [VerifierKey],
    ) -> Result<Vec<&'k VerifierKey>, NoteError> {
        let mut signers: Vec<&VerifierKey> = Vec::new();
        for signature in &self.signatures {
            let Some(key) = trusted.iter().find(|key| signature.is_named_for(key)) else {
                continue;
            };
            let name = || key.name().clone();
            if !key.accepts(&self.text, &signature.bytes) {
                return Err(NoteError::BadSignature { name: name() });
            }
            if signers.contains(&key) {
                return Err(NoteError::SignedTwice { name: name() });
            }
            signers.push(key);
        }
        if signers.is_empty() {
            return Err(NoteError::NotTrusted { trusted: trusted.len() });
        }
        Ok(signers)
    }
}

impl NoteSignature {
    /// The name of the key that is said to have signed.
    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    #[must_use]
    pub const fn key_id(&self) -> u32 {
        self.key_id
    }

    fn is_named_for(&self, key: &VerifierKey) -> bool {
        self.name == *key.name() && self.key_id == key.id()
    }

    fn parse(line: &str) -> Result<Self, NoteError> {
        let refused = || NoteError::SignatureLine { line: line.to_owned() };
        let (name, signature) = line
            .strip_prefix(SIGNATURE_PREFIX)
            .and_then(|rest| rest.split_once(' '))
            .ok_or_else(refused)?;
        let name = name.parse().map_err(NoteError::SignatureName)?;
        let decoded = base64::decode(signature).ok_or_else(refused)?;
        match decoded.split_first_chunk::<4>() {
            Some((id, bytes)) if !bytes.is_empty() => {
                Ok(Self { name, key_id: u32::from_be_bytes(*id), bytes: bytes.to_vec() })
            }
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.text)?;
        for signature in &self.signatures {
            let mut bytes = signature.key_id.to_be_bytes().to_vec();
            bytes.extend(&signature.bytes);
            let encoded = base64::encode(&bytes);
            writeln!(formatter, "{SIGNATURE_PREFIX}{} {encoded}", signature.name)?;
        }
        Ok(())
    }
}

impl FromStr for Note {
    type Err = NoteError;

    fn from_str(note: &str) -> Result<Self, NoteError> {
        if note.len() > NOTE_BYTES_MAX {
            return Err(NoteError::TooLarge { found: note.len() });
        }
        check_characters(note)?;
        // The last empty line divides: the text may have empty lines of its own.
        let (text, lines) = note.rsplit_once("\n\n").ok_or(NoteError::NoSignatures)?;
        if lines.is_empty() {
            return Err(NoteError::NoSignatures);
        }
        let lines = lines.strip_suffix('\n').ok_or(NoteError::OpenLine)?;
        if lines.split('\n').count() > SIGNATURES_MAX {
            return Err(NoteError::TooManySignatures);
        }
        let signatures = lines.split('\n').map(NoteSignature::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: format!("{text}\n"), signatures })
    }
}

fn check_characters(text: &str) -> Result<(), NoteError> {
    match text.chars().find(|character| *character < ' ' && *character != '\n') {
        Some(character) => Err(NoteError::ControlCharacter { character }),
        None => Ok(()),
    }
}
