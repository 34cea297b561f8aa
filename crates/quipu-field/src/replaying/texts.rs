//! Reads the texts of units for a timeline: in the order of the log and many at a time, past the cache of bodies, which
//! a long timeline would only wash out.

use std::borrow::Cow;

use quipu_log::{Commit, Engine, EngineError, FieldName, decode_body};
use serde::Deserialize;

/// Commits that are read at a time where they follow each other closely.
const CLOSE_PAGE: usize = 256;
/// How close that is.
const CLOSE: u64 = 8;

/// The texts of a log, asked for in the order of positions.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    engine: &'a dyn Engine,
    field: &'a FieldName,
    page: Vec<Commit>,
    last: u64,
}

/// What an ATTUNE asked for.
#[derive(Deserialize)]
struct Hint<'a> {
    #[serde(borrow)]
    hint: Cow<'a, str>,
}

/// Of a unit's texts, the one that is told.
#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
}

impl<'a> Texts<'a> {
    pub(crate) const fn new(engine: &'a dyn Engine, field: &'a FieldName) -> Self {
        Self { engine, field, page: Vec::new(), last: 0 }
    }

    /// What a unit says, or nothing where it was erased.
    pub(super) fn content(
        &mut self,
        position: u64,
        event: u32,
    ) -> Result<Option<Cow<'_, str>>, EngineError> {
        let content = self.body::<Content<'_>>(position, event)?;
        Ok(content.map(|found| found.content))
    }

    /// What an agent asked for, or nothing where it gave no hint or it was erased.
    pub(super) fn hint(
        &mut self,
        position: u64,
        event: u32,
    ) -> Result<Option<Cow<'_, str>>, EngineError> {
        let hint = self.body::<Hint<'_>>(position, event)?;
        Ok(hint.map(|found| found.hint))
    }

    fn body<'t, T: Deserialize<'t>>(
        &'t mut self,
        position: u64,
        event: u32,
    ) -> Result<Option<T>, EngineError> {
        let body = self.commit(position)?.and_then(|commit| commit.body(event));
        Ok(body.map(|body| decode_body::<T>(position, &body.json)).transpose()?)
    }

    fn commit(&mut self, position: u64) -> Result<Option<&Commit>, EngineError> {
        if self.at(position).is_none() {
            let close = position.saturating_sub(self.last) <= CLOSE;
            let limit = if close { CLOSE_PAGE } else { 1 };
            self.page = self.engine.read(self.field, position, limit)?;
        }
        self.last = position;
        Ok(self.at(position).and_then(|at| self.page.get(at)))
    }

    /// Where in the page a commit is.
    fn at(&self, position: u64) -> Option<usize> {
        let first = self.page.first()?.position;
        let at = usize::try_from(position.checked_sub(first)?).ok()?;
        self.page.get(at).filter(|commit| commit.position == position).map(|_| at)
    }
}
