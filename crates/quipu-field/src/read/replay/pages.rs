//! Walks over the headers of a log from its end to its beginning. The next pages are read and decoded by threads
//! of their own while the caller looks at this one; a walk that ends within the newest page needs none.

use std::{iter, num::NonZero, ops::ControlFlow, sync::mpsc, thread};

use quipu_log::{Engine, EngineError, FieldName, Header, StoredHeader};

use crate::base::{asker::check_waited_for, limits::READ_PAGE};
use quipu_core::Event;

/// Threads that read pages at most. Reading one is more work than looking at it.
const READERS_MAX: usize = 4;
/// Pages of each reader that wait for the caller at most.
const PAGES_AHEAD: usize = 2;

/// A header as it is stored and as it reads, for each commit of a page, oldest first.
type Page = Vec<(StoredHeader, Header<Event>)>;

/// Shows every commit to `visit`, newest first, until it breaks off.
pub(super) fn newest_first<T>(
    engine: &dyn Engine,
    field: &FieldName,
    mut visit: impl FnMut(&StoredHeader, Header<Event>) -> ControlFlow<T>,
) -> Result<ControlFlow<T>, EngineError> {
    let mut show = |page: Page| -> ControlFlow<T> {
        page.into_iter().rev().try_for_each(|(stored, header)| visit(&stored, header))
    };
    let head = engine.head(field)?.position;
    let broken_off = show(read(engine, field, head)?);
    let rest = before(head);
    if broken_off.is_break() || rest == 0 {
        return Ok(broken_off);
    }
    let readers = thread::available_parallelism().map_or(1, NonZero::get).min(READERS_MAX);
    thread::scope(|scope| {
        // Each reads every so manieth page, so the next one always comes from the next reader.
        let pages: Vec<_> = (0..readers)
            .map(|first| {
                let (sender, pages) = mpsc::sync_channel(PAGES_AHEAD);
                let ends = ends(rest).skip(first).step_by(readers);
                scope.spawn(move || read_all(engine, field, ends, &sender));
                pages
            })
            .collect();
        for pages in (0..readers).cycle().map_while(|reader| pages.get(reader)) {
            check_waited_for()?;
            let Ok(page) = pages.recv() else { break };
            let broken_off = show(page?);
            if broken_off.is_break() {
                return Ok(broken_off);
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Reads the pages that end here, until one fails or the walk was broken off and nobody waits for more.
fn read_all(
    engine: &dyn Engine,
    field: &FieldName,
    ends: impl Iterator<Item = u64>,
    sender: &mpsc::SyncSender<Result<Page, EngineError>>,
) {
    for end in ends {
        let page = read(engine, field, end);
        let failed = page.is_err();
        if sender.send(page).is_err() || failed {
            return;
        }
    }
}

/// Where pages end, the newest first.
fn ends(last: u64) -> impl Iterator<Item = u64> {
    iter::successors(Some(last), |end| Some(before(*end))).take_while(|end| *end > 0)
}

/// The last position before the page that ends here.
fn before(end: u64) -> u64 {
    end.saturating_sub(u64::try_from(READ_PAGE).unwrap_or(u64::MAX))
}

/// The page that ends here; an engine may answer with less than a page at a time.
fn read(engine: &dyn Engine, field: &FieldName, end: u64) -> Result<Page, EngineError> {
    let mut page = Page::with_capacity(READ_PAGE);
    let mut next = before(end) + 1;
    while next <= end {
        let limit = usize::try_from(end + 1 - next).unwrap_or(usize::MAX);
        let more = engine.read_headers(field, next, limit)?;
        let Some(last) = more.last() else { break };
        next = last.position + 1;
        for stored in more {
            let header = stored.decode()?;
            page.push((stored, header));
        }
    }
    Ok(page)
}
