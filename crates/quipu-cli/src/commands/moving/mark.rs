//! What a log remembers of a move that takes it away: which Fields go where. So that a move that was cut off goes on to the
//! same target, and nobody takes a sealed log that is something else for one of ours.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write as _},
    path::PathBuf,
};

use quipu_log::{EngineError, FieldName};
use serde::{Deserialize, Serialize};

use super::open_log::OpenLog;
use crate::ui::failure::Failure;

const NOTE: &str = "move";
const FILE: &str = "move.json";
const FORMAT: u32 = 1;

/// Which Fields of a log are moved away, and where.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    format: u32,
    to: BTreeMap<FieldName, String>,
}

impl Mark {
    /// The mark of a log; an empty one where nothing was ever moved away.
    pub(super) fn read(place: &OpenLog) -> Result<Self, Failure> {
        let unreadable = |error: &dyn std::error::Error| {
            Failure::caused(format!("cannot read which fields of {place} were moved"), error)
        };
        let bytes = match place.engine.notes() {
            Some(notes) => notes.get(NOTE).map_err(|e| unreadable(&e))?.map(|note| note.bytes),
            None => match fs::read(path(place)) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(unreadable(&error)),
            },
        };
        let Some(bytes) = bytes else { return Ok(Self { format: FORMAT, to: BTreeMap::new() }) };
        let mark: Self = serde_json::from_slice(&bytes).map_err(|e| unreadable(&e))?;
        if mark.format == FORMAT {
            return Ok(mark);
        }
        Err(Failure::new(format!("{place} was moved by another version of quipu"))
            .advise("use that version, or a newer one"))
    }

    /// Refuses to move a field that somebody else sealed, or that is on its way elsewhere.
    pub(super) fn check(
        &self,
        source: &OpenLog,
        target: &OpenLog,
        field: &FieldName,
        instead: bool,
    ) -> Result<(), Failure> {
        let sealed = source.engine.is_sealed(field).map_err(|e| source.failure(field, &e))?;
        if !sealed {
            return Ok(());
        }
        match self.to.get(field) {
            Some(to) if *to == target.to_string() || instead => Ok(()),
            Some(to) => Err(Failure::new(format!("field {field} of {source} was moved to {to}"))
                .advise(
                    "go on with that target; or, if nothing was written there since, add --instead",
                )),
            None => Err(Failure::new(format!(
                "field {field} of {source} is sealed, and by no move of it"
            ))
            .advise("it may be a copy that was cut off: finish the move that made it")),
        }
    }

    pub(super) fn set<'a>(
        &mut self,
        source: &OpenLog,
        fields: impl Iterator<Item = &'a FieldName>,
        target: &OpenLog,
    ) -> Result<(), Failure> {
        for field in fields {
            self.to.insert(field.clone(), target.to_string());
        }
        self.write(source)
    }

    /// Forgets that fields were moved away: they are back.
    pub(super) fn clear(&mut self, place: &OpenLog, fields: &[&FieldName]) -> Result<(), Failure> {
        let before = self.to.len();
        self.to.retain(|field, _| !fields.contains(&field));
        if self.to.len() == before { Ok(()) } else { self.write(place) }
    }

    /// Whether the other place has the very mark that was just written: then it is the same place.
    pub(super) fn is_also_at(&self, other: &OpenLog) -> Result<bool, Failure> {
        Ok(!self.to.is_empty() && Self::read(other)? == *self)
    }

    fn write(&self, place: &OpenLog) -> Result<(), Failure> {
        let failed = |error: &dyn std::error::Error| {
            Failure::caused(format!("cannot note in {place} where it is moved"), error)
        };
        let bytes = serde_json::to_vec(self).map_err(|e| failed(&e))?;
        let Some(notes) = place.engine.notes() else {
            return write_file(place, &bytes).map_err(|e| failed(&e));
        };
        let version = notes.get(NOTE).map_err(|e| failed(&e))?.map_or(0, |note| note.version);
        match notes.put(NOTE, version, &bytes).map_err(|e| failed(&e))? {
            Some(_) => Ok(()),
            None => {
                let source = "another move does too".into();
                let action = "note it".to_owned();
                Err(failed(&EngineError::Unavailable { action, source }))
            }
        }
    }
}

fn path(place: &OpenLog) -> PathBuf {
    place.directory.join(FILE)
}

fn write_file(place: &OpenLog, bytes: &[u8]) -> io::Result<()> {
    let fresh = place.directory.join("move.json.new");
    let mut file = File::create(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&fresh, path(place))?;
    File::open(&place.directory)?.sync_all()
}
