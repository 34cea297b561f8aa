//! The documents of the Harn protocol: where each is in the log, and to what it belongs. What they say is in
//! their bodies.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    event::documents::{DocumentKind, DocumentOwner},
    ids::UnitId,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentEntry {
    pub id: String,
    pub owner: DocumentOwner,
    pub created_by: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    pub updated_ms: u64,
    /// The commit and event whose body it is now.
    pub at: (u64, u32),
    /// Whether it is gone. Its id stays taken.
    pub removed: bool,
    /// Of content and files, the commits and events whose bodies it was before. Those of content are erased when it is removed.
    pub earlier: Vec<(u64, u32)>,
    /// The units whose words its bodies repeat, also those of before.
    pub quotes: Vec<UnitId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentTable {
    /// In the order of their making; the place is a document's ordinal.
    by_kind: BTreeMap<DocumentKind, Vec<DocumentEntry>>,
    by_id: BTreeMap<(DocumentKind, String), usize>,
    by_task: BTreeMap<(DocumentKind, String), Vec<usize>>,
    by_session: BTreeMap<(DocumentKind, String), Vec<usize>>,
}

impl DocumentTable {
    /// The document of that id, unless it is gone.
    #[must_use]
    pub fn get(&self, kind: DocumentKind, id: &str) -> Option<&DocumentEntry> {
        self.taken(kind, id).filter(|entry| !entry.removed)
    }

    /// The same, also where it is gone.
    #[must_use]
    pub fn taken(&self, kind: DocumentKind, id: &str) -> Option<&DocumentEntry> {
        let at = self.by_id.get(&(kind, id.to_owned()))?;
        self.by_kind.get(&kind)?.get(*at)
    }

    /// The documents of a kind from an ordinal on, with their ordinals.
    pub fn from(
        &self,
        kind: DocumentKind,
        ordinal: usize,
    ) -> impl DoubleEndedIterator<Item = (usize, &DocumentEntry)> {
        let all = self.by_kind.get(&kind).map_or(&[][..], Vec::as_slice);
        let first = ordinal.min(all.len());
        let entries = all.iter().enumerate().skip(first);
        entries.filter(|(_, entry)| !entry.removed)
    }

    /// The documents of a kind whose ids begin so, in the order of their ids, also those that are gone.
    pub fn beginning<'s>(
        &'s self,
        kind: DocumentKind,
        prefix: &'s str,
    ) -> impl Iterator<Item = &'s DocumentEntry> {
        let from = self.by_id.range((kind, prefix.to_owned())..);
        let found = from.take_while(move |((of, id), _)| *of == kind && id.starts_with(prefix));
        let all = self.by_kind.get(&kind).map_or(&[][..], Vec::as_slice);
        found.filter_map(move |(_, at)| all.get(*at))
    }

    /// The first document of a kind from an id on, in the order of the ids, that is not gone.
    #[must_use]
    pub fn first_from(&self, kind: DocumentKind, id: &str) -> Option<&DocumentEntry> {
        let all = self.by_kind.get(&kind)?;
        let behind = self.by_id.range((kind, id.to_owned())..);
        let mut of_kind = behind.take_while(|((of, _), _)| *of == kind);
        of_kind.find_map(|(_, at)| all.get(*at).filter(|entry| !entry.removed))
    }

    /// The documents of a task, oldest first, with their ordinals.
    pub fn of_task(
        &self,
        kind: DocumentKind,
        task: &str,
    ) -> impl DoubleEndedIterator<Item = (usize, &DocumentEntry)> {
        self.owned(kind, self.by_task.get(&(kind, task.to_owned())))
    }

    /// The documents of a session, oldest first, with their ordinals.
    pub fn of_session(
        &self,
        kind: DocumentKind,
        session: &str,
    ) -> impl DoubleEndedIterator<Item = (usize, &DocumentEntry)> {
        self.owned(kind, self.by_session.get(&(kind, session.to_owned())))
    }

    fn owned<'s>(
        &'s self,
        kind: DocumentKind,
        places: Option<&'s Vec<usize>>,
    ) -> impl DoubleEndedIterator<Item = (usize, &'s DocumentEntry)> {
        let all = self.by_kind.get(&kind).map_or(&[][..], Vec::as_slice);
        let places = places.map_or(&[][..], Vec::as_slice).iter();
        places
            .filter_map(move |at| all.get(*at).map(|entry| (*at, entry)))
            .filter(|(_, entry)| !entry.removed)
    }

    /// Puts a new document behind all others of its kind.
    pub fn push(&mut self, kind: DocumentKind, entry: DocumentEntry) {
        let all = self.by_kind.entry(kind).or_default();
        let ordinal = all.len();
        self.by_id.insert((kind, entry.id.clone()), ordinal);
        if let Some(task) = &entry.owner.task {
            self.by_task.entry((kind, task.clone())).or_default().push(ordinal);
        }
        if let Some(session) = &entry.owner.session {
            self.by_session.entry((kind, session.clone())).or_default().push(ordinal);
        }
        all.push(entry);
    }

    /// Notes whose words a document repeats. A later body says no less than the one before.
    pub fn quote(&mut self, kind: DocumentKind, id: &str, units: &[UnitId]) {
        let Some(entry) = self.get_mut(kind, id) else { return };
        for unit in units {
            if !entry.quotes.contains(unit) {
                entry.quotes.push(*unit);
            }
        }
    }

    /// Where the content was that is removed, and so erased.
    pub fn erased(&self) -> impl Iterator<Item = (u64, u32)> {
        let contents = self.by_kind.get(&DocumentKind::Content).into_iter().flatten();
        contents.filter(|entry| entry.removed).flat_map(|entry| entry.earlier.iter().copied())
    }

    pub fn get_mut(&mut self, kind: DocumentKind, id: &str) -> Option<&mut DocumentEntry> {
        let at = self.by_id.get(&(kind, id.to_owned()))?;
        self.by_kind.get_mut(&kind)?.get_mut(*at)
    }
}

impl Serialize for DocumentTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.by_kind.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DocumentTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Self::default();
        let by_kind = BTreeMap::<DocumentKind, Vec<DocumentEntry>>::deserialize(deserializer)?;
        for (kind, entries) in by_kind {
            for entry in entries {
                table.push(kind, entry);
            }
        }
        Ok(table)
    }
}
