//! Reads the texts beside events for a timeline: in the order of the log and many at a time, past the cache of bodies, which
//! a long timeline would only wash out.

use std::borrow::Cow;

use quipu_log::{Engine, EngineError, FieldName, StoredBodies, decode_body};
use serde::{Deserialize, de::DeserializeOwned};

use super::chain::Found;
use crate::base::asker::check_waited_for;

/// Commits that are read at a time where they follow each other closely.
const CLOSE_PAGE: usize = 256;
/// How close that is.
const CLOSE: u64 = 8;

/// The texts of a log, asked for in the order of positions.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    engine: &'a dyn Engine,
    field: &'a FieldName,
    page: Vec<StoredBodies>,
    last: u64,
}

/// Which of a body's texts is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Content,
    /// What an ATTUNE asked for.
    Hint,
    Title,
    Reason,
    /// What disagrees with what.
    Description,
    /// Why somebody voted or settled so.
    Rationale,
}

/// Of a body's texts, those that a description can have; a body has one of them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    hint: Option<Text<'a>>,
    #[serde(borrow)]
    title: Option<Text<'a>>,
    #[serde(borrow)]
    reason: Option<Text<'a>>,
    #[serde(borrow)]
    description: Option<Text<'a>>,
    #[serde(borrow)]
    rationale: Option<Text<'a>>,
}

/// A text as it stands in the body, where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Body<'a> {
    fn part(self, part: Part) -> Option<Cow<'a, str>> {
        let text = match part {
            Part::Content => self.content,
            Part::Hint => self.hint,
            Part::Title => self.title,
            Part::Reason => self.reason,
            Part::Description => self.description,
            Part::Rationale => self.rationale,
        };
        text.map(|text| text.0)
    }
}

impl<'a> Texts<'a> {
    pub(crate) const fn new(engine: &'a dyn Engine, field: &'a FieldName) -> Self {
        Self { engine, field, page: Vec::new(), last: 0 }
    }

    /// The text beside an event, or nothing where there is none or it was erased.
    pub(super) fn of(
        &mut self,
        found: &Found,
        part: Part,
    ) -> Result<Option<Cow<'_, str>>, EngineError> {
        let position = found.position;
        let body = self.commit(position)?.and_then(|commit| commit.body(found.index));
        let body = body.map(|body| decode_body::<Body<'_>>(position, &body.json)).transpose()?;
        Ok(body.and_then(|body| body.part(part)))
    }

    /// The texts beside an event as something that borrows nothing of them.
    pub(super) fn read<T: DeserializeOwned>(
        &mut self,
        found: &Found,
    ) -> Result<Option<T>, EngineError> {
        let position = found.position;
        let body = self.commit(position)?.and_then(|commit| commit.body(found.index));
        Ok(body.map(|body| decode_body(position, &body.json)).transpose()?)
    }

    fn commit(&mut self, position: u64) -> Result<Option<&StoredBodies>, EngineError> {
        if self.at(position).is_none() {
            check_waited_for()?;
            let close = position.saturating_sub(self.last) <= CLOSE;
            let limit = if close { CLOSE_PAGE } else { 1 };
            self.page = self.engine.read_bodies(self.field, position, limit)?;
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
