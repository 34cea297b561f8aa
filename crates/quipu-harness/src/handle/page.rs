//! One page of a list: from where, how much, and the cursor behind it.

use quipu_wire::harn::{Cursor, HarnError, LIST_LIMIT_DEFAULT, List, ResourceKind, read_limit};

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
        let mut data = Vec::new();
        let mut last = None;
        while data.len() < self.limit
            && let Some((place, entry)) = entries.next()
        {
            data.push(entry);
            last = Some(place);
        }
        let more = entries.peek().is_some();
        let next = last.filter(|_| more).map(|after| Cursor { kind: self.kind, after }.to_string());
        Taken { data, next }
    }
}

#[derive(Debug)]
pub(crate) struct Taken<T> {
    pub(crate) data: Vec<T>,
    pub(crate) next: Option<String>,
}

impl<T> Taken<T> {
    /// Makes each entry what the list shows.
    pub(crate) fn list<U>(
        self,
        show: impl FnMut(T) -> Result<U, HarnError>,
    ) -> Result<List<U>, HarnError> {
        let data = self.data.into_iter().map(show).collect::<Result<_, _>>()?;
        Ok(List::page(data, self.next))
    }
}
