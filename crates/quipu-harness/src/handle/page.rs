//! One page of a list: from where, how much, and the cursor behind it.

use quipu_wire::{
    harn::{Cursor, HarnError, LIST_LIMIT_DEFAULT, List, ResourceKind, read_limit},
    json::page_room::PageRoom,
};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    pub kind: ResourceKind,
    /// The first place that is shown: behind the cursor.
    pub from: u64,
    pub limit: usize,
}

impl Page {
    /// The first page of a list.
    #[must_use]
    pub const fn first(kind: ResourceKind) -> Self {
        Self { kind, from: 0, limit: LIST_LIMIT_DEFAULT }
    }

    /// Reads `limit` and `cursor` of a query.
    ///
    /// # Errors
    /// 400 where either is malformed; the error names it.
    pub fn read(
        kind: ResourceKind,
        limit: Option<&str>,
        cursor: Option<&str>,
    ) -> Result<Self, HarnError> {
        let from = Cursor::read(cursor, kind)?.map_or(0, |cursor| cursor.after.saturating_add(1));
        Ok(Self { kind, from, limit: read_limit(limit)? })
    }

    /// Takes the page from entries in the order of their places, which grow; entries before the page may be
    /// among them.
    pub(crate) fn take<T>(&self, entries: impl IntoIterator<Item = (u64, T)>) -> Taken<T> {
        let mut entries = entries.into_iter().filter(|(place, _)| *place >= self.from).peekable();
        let data: Vec<_> = entries.by_ref().take(self.limit).collect();
        Taken { kind: self.kind, data, has_more: entries.peek().is_some() }
    }
}

/// The entries of a page with their places, before it is known how large they are.
#[derive(Debug)]
pub(crate) struct Taken<T> {
    kind: ResourceKind,
    pub(crate) data: Vec<(u64, T)>,
    has_more: bool,
}

impl<T> Taken<T> {
    /// Makes each entry what the list shows, until the page is full.
    pub(crate) fn list<U: Serialize>(
        self,
        mut show: impl FnMut(T) -> Result<U, HarnError>,
    ) -> Result<List<U>, HarnError> {
        let mut shown = PageBuilder::new(self.kind);
        for (place, entry) in self.data {
            if !shown.add(place, show(entry)?) {
                return Ok(shown.page(true));
            }
        }
        Ok(shown.page(self.has_more))
    }

    /// The entries, and what becomes the page of them.
    pub(crate) fn into_parts<U>(self) -> (Vec<(u64, T)>, PageBuilder<U>, bool) {
        (self.data, PageBuilder::new(self.kind), self.has_more)
    }
}

/// What a page shows so far.
#[derive(Debug)]
pub(crate) struct PageBuilder<U> {
    kind: ResourceKind,
    data: Vec<U>,
    last: Option<u64>,
    room: PageRoom,
}

impl<U> PageBuilder<U> {
    pub(crate) fn new(kind: ResourceKind) -> Self {
        Self { kind, data: Vec::new(), last: None, room: PageRoom::default() }
    }

    /// Adds an entry, if there is room for it.
    pub(crate) fn add(&mut self, place: u64, entry: U) -> bool
    where
        U: Serialize,
    {
        let fits = self.room.takes(&entry);
        if fits {
            self.data.push(entry);
            self.last = Some(place);
        }
        fits
    }

    pub(crate) const fn count(&self) -> usize {
        self.data.len()
    }

    /// There was nothing to show at a place.
    pub(crate) const fn pass(&mut self, place: u64) {
        self.last = Some(place);
    }

    pub(crate) fn page(self, has_more: bool) -> List<U> {
        let last = self.last.filter(|_| has_more);
        let next = last.map(|after| Cursor { kind: self.kind, after }.to_string());
        List::page(self.data, next)
    }
}
