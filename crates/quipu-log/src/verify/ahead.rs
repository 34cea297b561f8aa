//! Reads and checks a log ahead of the code that processes it. One or several threads read ranges of positions and
//! check each commit as far as that is possible without the previous one. The caller checks order and links.

use std::{
    num::NonZero,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
};

use serde::de::DeserializeOwned;

use crate::{
    commit::{CheckedHeader, Commit, Damage, Head, StoredHeader},
    engine::{Engine, EngineError},
    field_name::FieldName,
};

/// How many commits a thread reads before the range of the next thread begins.
const RANGE: u64 = 512;
/// The most threads that read and check.
const THREADS_MAX: usize = 8;

/// How many threads reading a log may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As many threads as there are cores: nothing else is served until the log is read.
    Alone,
    /// One thread, because requests are served at the same time.
    Beside,
}

impl Pace {
    fn threads(self) -> usize {
        match self {
            Self::Alone => thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX),
            Self::Beside => 1,
        }
    }
}

/// What the caller computes from each commit, in the threads that read.
pub type Prepare<'a, T> = &'a (dyn Fn(&Commit) -> Result<T, Damage> + Sync);

/// A commit that was checked alone, and what was computed from it.
#[derive(Debug)]
pub struct Checked<T> {
    commit: Commit,
    found: Result<T, Damage>,
}

impl<T> Checked<T> {
    /// Checks a commit alone, and computes what the caller wants from it.
    pub fn new(commit: Commit, prepare: Prepare<'_, T>) -> Self {
        let found = commit.verify_intact().and_then(|()| prepare(&commit));
        Self { commit, found }
    }

    /// The commit and what was prepared, if it is intact and follows `after`.
    ///
    /// # Errors
    /// As [`Commit::verify`], and what preparing it found.
    pub fn follow(self, after: &Head) -> Result<(Commit, T), Damage> {
        self.commit.verify_link(after)?;
        let found = self.found?;
        self.commit.verify_epoch(after)?;
        Ok((self.commit, found))
    }
}

/// Reads a page from a position on, with a limit, and checks each item alone.
type ReadPage<'a, C> = &'a (dyn Fn(u64, usize) -> Result<Vec<C>, EngineError> + Sync);

/// An item that was read from the log and has a position.
pub(crate) trait Placed: Send {
    fn position(&self) -> u64;
}

impl<T: Send> Placed for Checked<T> {
    fn position(&self) -> u64 {
        self.commit.position
    }
}

impl<E: Send> Placed for CheckedHeader<E> {
    fn position(&self) -> u64 {
        self.position
    }
}

/// Reads the commits after `range.0` and hands them to `take` in order, page by page, until the log ends. `take`
/// returns the position that it has reached. Positions up to `range.1` are read ahead, if there are many.
///
/// # Errors
/// Whatever the engine or `take` answers.
pub fn read_ahead<T: Send>(
    engine: &dyn Engine,
    field: &FieldName,
    range: (u64, u64),
    pace: Pace,
    prepare: Prepare<'_, T>,
    take: &mut dyn FnMut(Vec<Checked<T>>) -> Result<u64, EngineError>,
) -> Result<(), EngineError> {
    let read = |from: u64, limit: usize| {
        let page = engine.read(field, from, limit)?;
        Ok(page.into_iter().map(|commit| Checked::new(commit, prepare)).collect())
    };
    read_pages_ahead(&read, range, pace, take)
}

/// As [`read_ahead`], the headers alone.
///
/// # Errors
/// As there.
pub(crate) fn read_headers_ahead<E: DeserializeOwned + Send>(
    engine: &dyn Engine,
    field: &FieldName,
    range: (u64, u64),
    pace: Pace,
    take: &mut dyn FnMut(Vec<CheckedHeader<E>>) -> Result<u64, EngineError>,
) -> Result<(), EngineError> {
    let read = |from: u64, limit: usize| {
        let page = engine.read_headers(field, from, limit)?;
        Ok(page.iter().map(StoredHeader::check).collect())
    };
    read_pages_ahead(&read, range, pace, take)
}

fn read_pages_ahead<C: Placed>(
    read: ReadPage<'_, C>,
    (after, end): (u64, u64),
    pace: Pace,
    take: &mut dyn FnMut(Vec<C>) -> Result<u64, EngineError>,
) -> Result<(), EngineError> {
    let mut reached = after;
    let ranges = end.saturating_sub(after) / RANGE;
    if ranges > 1 {
        let reader = Reader { read, after, ranges };
        reached = thread::scope(|scope| {
            let pages = reader.start(scope, pace);
            take_ranges(&pages, after, ranges, take)
        })?;
    }
    loop {
        let page = read(reached.saturating_add(1), limit())?;
        if page.is_empty() {
            return Ok(());
        }
        let now = take(page)?;
        // A page that goes back is damage, which `take` reports.
        if now <= reached {
            return Ok(());
        }
        reached = now;
    }
}

fn limit() -> usize {
    usize::try_from(RANGE).unwrap_or(usize::MAX)
}

type Page<C> = Result<Vec<C>, EngineError>;

/// Takes the ranges in order, each from its thread. Returns the position that was reached.
fn take_ranges<C>(
    pages: &[Receiver<Page<C>>],
    after: u64,
    ranges: u64,
    take: &mut dyn FnMut(Vec<C>) -> Result<u64, EngineError>,
) -> Result<u64, EngineError> {
    let mut reached = after;
    for (range, pages) in (1..=ranges).zip(pages.iter().cycle()) {
        while reached < after + range * RANGE {
            // A thread ends early if it finds no more commits.
            let Ok(page) = pages.recv() else { return Ok(reached) };
            reached = take(page?)?;
        }
    }
    Ok(reached)
}

struct Reader<'a, C> {
    read: ReadPage<'a, C>,
    after: u64,
    ranges: u64,
}

impl<C> Clone for Reader<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Reader<'_, C> {}

impl<'a, C: Placed + 'a> Reader<'a, C> {
    /// Starts the threads. Each thread reads every n-th range and waits while two of its pages have not been taken.
    fn start<'scope>(
        self,
        scope: &'scope thread::Scope<'scope, '_>,
        pace: Pace,
    ) -> Vec<Receiver<Page<C>>>
    where
        'a: 'scope,
    {
        let threads = pace.threads().min(usize::try_from(self.ranges).unwrap_or(usize::MAX));
        let start = |first: usize| {
            let (sender, pages) = mpsc::sync_channel(1);
            scope.spawn(move || {
                for range in (0..self.ranges).skip(first).step_by(threads) {
                    if !self.read_range(range, &sender) {
                        return;
                    }
                }
            });
            pages
        };
        (0..threads).map(start).collect()
    }

    /// Reads a range, in several pages if it is large. Returns whether to go on.
    fn read_range(&self, range: u64, pages: &SyncSender<Page<C>>) -> bool {
        let mut next = self.after + range * RANGE + 1;
        let end = next + RANGE;
        while next < end {
            let wanted = usize::try_from(end - next).unwrap_or_else(|_| limit());
            let page = match (self.read)(next, wanted) {
                Ok(page) => page,
                Err(error) => {
                    pages.send(Err(error)).ok();
                    return false;
                }
            };
            let last = page.last().map(Placed::position).filter(|last| *last >= next);
            if pages.send(Ok(page)).is_err() {
                return false;
            }
            let Some(last) = last else { return false };
            next = last.saturating_add(1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{conformance::Chain, memory::MemoryEngine, verify::verify_prepared};

    /// More than a few threads have at once, and not a whole number of ranges.
    const COMMITS: u64 = 11 * RANGE + 7;

    const PACES: [Pace; 2] = [Pace::Alone, Pace::Beside];

    fn log() -> (MemoryEngine, FieldName, Head) {
        let (engine, field) = (MemoryEngine::new(), FieldName::try_from("f").unwrap());
        let mut chain = Chain::new(1);
        let commits = chain.take(usize::try_from(COMMITS).unwrap());
        engine.append(&field, &Head::EMPTY, &commits).unwrap();
        (engine, field, chain.head())
    }

    #[test]
    fn commits_come_in_order_with_what_was_prepared() {
        let (engine, field, head) = log();
        for pace in PACES {
            let mut seen = Vec::new();
            let prepare = |commit: &Commit| Ok(commit.position * 2);
            let reached = verify_prepared(
                &engine,
                &field,
                Head::EMPTY,
                pace,
                &prepare,
                &mut |commit, twice| {
                    assert_eq!(twice, commit.position * 2);
                    seen.push(commit.position);
                    Ok(())
                },
            );
            assert_eq!(reached.unwrap(), head);
            assert_eq!(seen, (1..=COMMITS).collect::<Vec<_>>());
        }
    }

    #[test]
    fn of_several_damages_the_first_is_told_and_nothing_behind_it() {
        let (engine, field, _) = log();
        for pace in PACES {
            for first in [1, RANGE, 3 * RANGE + 1, COMMITS] {
                let prepare = |commit: &Commit| match commit.position {
                    at if at >= first => Err(Damage::new(at, crate::DamageKind::HashMismatch)),
                    at => Ok(at),
                };
                let mut last = 0;
                let read =
                    verify_prepared(&engine, &field, Head::EMPTY, pace, &prepare, &mut |_, at| {
                        last = at;
                        Ok(())
                    });
                assert!(
                    matches!(read, Err(EngineError::Damaged(damage)) if damage.position == first)
                );
                assert_eq!(last, first - 1);
            }
        }
    }

    #[test]
    fn whoever_has_enough_can_stop() {
        let (engine, field, _) = log();
        for pace in PACES {
            let enough = || Damage::storage("enough");
            let read = verify_prepared(
                &engine,
                &field,
                Head::EMPTY,
                pace,
                &|_| Ok(()),
                &mut |commit, ()| {
                    if commit.position < 2 * RANGE { Ok(()) } else { Err(enough()) }
                },
            );
            assert!(matches!(read, Err(EngineError::Damaged(damage)) if damage == enough()));
        }
    }

    #[test]
    fn a_log_that_ends_before_what_was_known_is_read_to_its_end() {
        let (engine, field, head) = log();
        for pace in PACES {
            let mut reached = 0;
            let known = COMMITS + 5 * RANGE;
            read_ahead(&engine, &field, (0, known), pace, &|_| Ok(()), &mut |page: Vec<
                Checked<()>,
            >| {
                reached = page.last().map_or(reached, Placed::position);
                Ok(reached)
            })
            .unwrap();
            assert_eq!(reached, head.position);
        }
    }
}
