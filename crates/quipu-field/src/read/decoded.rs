//! A commit decoded for whoever applies it: what its state needs, and the texts that the index needs.

use quipu_core::{Event, event::UnitBody};
use quipu_log::{Commit, Damage, DamageKind, Header};

use crate::read::{
    bodies::decode_body,
    unit_words::{CommitWords, UnitWords},
};

/// A commit that was verified to follow those before it, and what was decoded of it.
pub(crate) type Followed = (Commit, Decoded);

/// What a commit gives to the state and to the index.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) header: Header<Event>,
    pub(crate) words: CommitWords,
}

/// Decodes what the state needs, and the texts that the index needs. The words in those texts are found later.
pub(crate) fn decode(commit: &Commit) -> Result<Decoded, Damage> {
    let header = commit.decode_header::<Event>()?;
    let words = words_of(commit, &header)?;
    Ok(Decoded { header, words })
}

/// The same, with the words found already, so that whoever applies the commit need not wait for them.
pub(crate) fn prepare(commit: &Commit) -> Result<Decoded, Damage> {
    let decoded = decode(commit)?;
    decoded.words.iter().for_each(|words| {
        words.get();
    });
    Ok(decoded)
}

/// The words of the units that a commit recorded. An erased text has none.
fn words_of(commit: &Commit, header: &Header<Event>) -> Result<CommitWords, Damage> {
    let mut words = Vec::new();
    for (index, sealed) in (0u32..).zip(&header.events) {
        if !matches!(sealed.event, Event::UnitRecorded { .. }) {
            continue;
        }
        let body: Option<UnitBody> = commit
            .body(index)
            .map(|body| decode_body(commit.position, &body.json))
            .transpose()
            .map_err(|error| {
                Damage::new(commit.position, DamageKind::BodiesUnreadable(error.to_string()))
            })?;
        let text = body.map(|body| body.searchable()).unwrap_or_default();
        words.push(UnitWords::new(text));
    }
    Ok(words.into())
}
