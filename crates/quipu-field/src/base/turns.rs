//! Who of those who ask has the processors: what reads the disk or thinks for long has a turn, a few of them at once. While
//! nobody else waits, one asker may have all of them; otherwise whoever has fewest goes first, so that an asker that
//! asks for much makes only itself wait. What nobody waits for any more is not begun. Knows nothing of what is asked.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use tokio::sync::oneshot;

use crate::base::{
    asker::{Asker, Wait},
    error::{FieldError, Overload},
    limits::{TURNS_GUESTS_MAX, TURNS_LEAST, TURNS_PER_PROCESSOR, TURNS_PER_PROCESSOR_REMOTE},
};

/// The turns of one process. All Fields of a server have the same.
#[derive(Debug)]
pub struct Turns {
    at_once: usize,
    lines: Mutex<Lines>,
}

/// Who has turns and who waits for one, by asker.
#[derive(Debug, Default)]
struct Lines {
    running: usize,
    by_asker: BTreeMap<Arc<str>, Line>,
    /// How many turns were given, by which it is known who had the last one longest ago.
    given: u64,
}

#[derive(Debug, Default)]
struct Line {
    running: usize,
    waiting: VecDeque<Work>,
    last: u64,
}

/// What is done in a turn.
struct Work {
    run: Box<dyn FnOnce() + Send>,
    wait: Wait,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("wait", &self.wait).finish_non_exhaustive()
    }
}

/// Whoever waits for the end of some work; once this is dropped, nobody does.
struct Waiting(Wait);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

impl Turns {
    /// As many as this machine has processors for. Where texts come over a network there are more, because most of them wait.
    pub(crate) fn of_machine(is_remote: bool) -> Arc<Self> {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let each = if is_remote { TURNS_PER_PROCESSOR_REMOTE } else { TURNS_PER_PROCESSOR };
        Self::new((processors * each).max(TURNS_LEAST))
    }

    pub(crate) fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self { at_once, lines: Mutex::default() })
    }

    /// Does something in a turn of whoever asks, away from the threads that serve sockets. What the process does by itself
    /// needs no turn.
    ///
    /// # Errors
    /// Where too much of the same asker waits already, unless it is under way with its request.
    pub(crate) async fn take<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, FieldError> {
        let (sender, result) = oneshot::channel();
        let wait = Wait::default();
        let _waiting = Waiting(wait.clone());
        let within = wait.clone();
        let run = Box::new(move || {
            // Where nobody waits any more, nobody is told.
            sender.send(within.during(work)).ok();
        });
        let work = Work { run, wait };
        match Asker::current_key() {
            Some((asker, key)) => {
                self.enter(&asker, key, work)?;
                asker.keep();
            }
            None => drop(tokio::task::spawn_blocking(move || work.carry_out())),
        }
        // A panic is in the log already, with its text.
        result.await.map_err(|_| FieldError::Internal("a read failed".to_owned()))
    }

    /// Begins the work, or puts it behind what waits of the same asker.
    fn enter(self: &Arc<Self>, asker: &Asker, key: Arc<str>, work: Work) -> Result<(), FieldError> {
        let mut lines = self.lines();
        let line = lines.by_asker.entry(Arc::clone(&key)).or_default();
        let (running, waiting) = (line.running, line.waiting.len());
        if waiting > 0 || !self.may_begin(lines.running, running) {
            if !asker.may_wait_behind(waiting) {
                return Err(Overload::TurnsTaken { waiting }.into());
            }
            if let Some(line) = lines.by_asker.get_mut(&key) {
                line.waiting.push_back(work);
            }
            return Ok(());
        }
        lines.begin(&key);
        drop(lines);
        let turns = Arc::clone(self);
        drop(tokio::task::spawn_blocking(move || turns.work_off(&key, work)));
        Ok(())
    }

    /// Whoever has no turn at all gets one also where others have all of them: the operating system shares the
    /// processors out among those that run.
    const fn may_begin(&self, running: usize, of_asker: usize) -> bool {
        running < self.at_once || (of_asker == 0 && running < self.at_once + TURNS_GUESTS_MAX)
    }

    /// Does a piece of work, and then what is next, for as long as there is something that may begin.
    fn work_off(&self, key: &Arc<str>, work: Work) {
        work.carry_out();
        let mut done = Arc::clone(key);
        while let Some((key, work)) = self.next_after(&done) {
            work.carry_out();
            done = key;
        }
    }

    /// Gives a turn back, and it goes to whoever has fewest; of those to the one whose last is longest ago.
    fn next_after(&self, done: &Arc<str>) -> Option<(Arc<str>, Work)> {
        let mut lines = self.lines();
        lines.end(done);
        let waiting = lines.by_asker.iter().filter(|(_, line)| !line.waiting.is_empty());
        let next = waiting.min_by_key(|(_, line)| (line.running, line.last));
        let (key, running) = next.map(|(key, line)| (Arc::clone(key), line.running))?;
        if !self.may_begin(lines.running, running) {
            return None;
        }
        let work = lines.by_asker.get_mut(&key)?.waiting.pop_front()?;
        lines.begin(&key);
        Some((key, work))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn begin(&mut self, key: &Arc<str>) {
        self.given += 1;
        self.running += 1;
        if let Some(line) = self.by_asker.get_mut(key) {
            line.running += 1;
            line.last = self.given;
        }
    }

    fn end(&mut self, key: &Arc<str>) {
        self.running -= 1;
        let Some(line) = self.by_asker.get_mut(key) else { return };
        line.running -= 1;
        while line.waiting.front().is_some_and(|work| work.wait.is_over()) {
            line.waiting.pop_front();
        }
        if line.running == 0 && line.waiting.is_empty() {
            self.by_asker.remove(key);
        }
    }
}

impl Work {
    /// Does it, if somebody waits for it. A panic is the end of this work alone.
    fn carry_out(self) {
        if !self.wait.is_over() {
            catch_unwind(AssertUnwindSafe(self.run)).ok();
        }
    }
}

/// Who gets a turn when, counted and not timed: work waits until the test lets it go.
#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    };

    use tokio::task::JoinHandle;

    use super::*;
    use crate::base::limits::TURNS_WAITING_MAX;

    /// Work that says that it has begun, and ends when it is told to.
    struct Held {
        release: mpsc::Sender<()>,
        done: JoinHandle<Result<(), FieldError>>,
    }

    /// Asks for a turn as this key.
    fn ask(
        turns: &Arc<Turns>,
        key: &'static str,
        work: impl FnOnce() + Send + 'static,
    ) -> JoinHandle<Result<(), FieldError>> {
        let turns = Arc::clone(turns);
        tokio::spawn(Asker::default().asks(async move {
            Asker::prove(key);
            turns.take(work).await
        }))
    }

    /// Takes a turn, and keeps it.
    async fn hold(turns: &Arc<Turns>, key: &'static str) -> Held {
        let ((begun, begins), (release, released)) = (oneshot::channel(), mpsc::channel());
        let done = ask(turns, key, move || {
            begun.send(()).ok();
            released.recv().ok();
        });
        begins.await.unwrap();
        Held { release, done }
    }

    /// Waits until so many of this key wait for a turn.
    async fn waiting(turns: &Arc<Turns>, key: &str, count: usize) {
        while turns.lines().by_asker.get(key).map_or(0, |line| line.waiting.len()) != count {
            tokio::task::yield_now().await;
        }
    }

    impl Held {
        async fn end(self) {
            self.release.send(()).unwrap();
            self.done.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn one_key_has_all_turns_while_nobody_else_asks() {
        let turns = Turns::new(3);
        let all = [hold(&turns, "a").await, hold(&turns, "a").await, hold(&turns, "a").await];
        for held in all {
            held.end().await;
        }
        // Nobody is remembered who asks for nothing.
        while !turns.lines().by_asker.is_empty() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn whoever_has_no_turn_gets_one_although_another_has_all_and_many_wait() {
        let turns = Turns::new(2);
        let flood = [hold(&turns, "flood").await, hold(&turns, "flood").await];
        let crowd: Vec<_> = (0..100).map(|_| ask(&turns, "flood", || ())).collect();
        waiting(&turns, "flood", 100).await;
        // None of what the other asked for has to end for that.
        ask(&turns, "other", || ()).await.unwrap().unwrap();
        for held in flood {
            held.end().await;
        }
        for done in crowd {
            done.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn a_turn_that_comes_free_goes_to_whoever_has_fewest() {
        let turns = Turns::new(4);
        let flood = [(); 3].map(|()| hold(&turns, "flood"));
        let [first, second, third] = flood;
        let (first, second, third) = (first.await, second.await, third.await);
        let other = hold(&turns, "other").await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str| {
            let order = Arc::clone(&order);
            move || order.lock().unwrap().push(name)
        };
        let mut all: Vec<_> = (0..3).map(|_| ask(&turns, "flood", note("flood"))).collect();
        waiting(&turns, "flood", 3).await;
        all.push(ask(&turns, "other", note("other")));
        waiting(&turns, "other", 1).await;
        first.end().await;
        for done in all {
            done.await.unwrap().unwrap();
        }
        for held in [second, third, other] {
            held.end().await;
        }
        assert_eq!(*order.lock().unwrap(), ["other", "flood", "flood", "flood"]);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_is_not_begun() {
        let turns = Turns::new(1);
        let held = hold(&turns, "a").await;
        let begun = Arc::new(AtomicUsize::new(0));
        let count = || {
            let begun = Arc::clone(&begun);
            move || _ = begun.fetch_add(1, Ordering::Relaxed)
        };
        let left: Vec<_> = (0..50).map(|_| ask(&turns, "a", count())).collect();
        let stays = ask(&turns, "a", count());
        waiting(&turns, "a", 51).await;
        for one in left {
            one.abort();
            assert!(one.await.unwrap_err().is_cancelled());
        }
        held.end().await;
        stays.await.unwrap().unwrap();
        assert_eq!(begun.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn work_under_way_is_told_that_nobody_waits_for_it() {
        let turns = Turns::new(1);
        let ((begun, begins), (end, ended)) = (oneshot::channel(), oneshot::channel());
        let asked = ask(&turns, "a", move || {
            begun.send(crate::nobody_waits()).ok();
            while !crate::nobody_waits() {
                std::thread::yield_now();
            }
            end.send(()).ok();
        });
        assert!(!begins.await.unwrap());
        asked.abort();
        ended.await.expect("it was told");
        hold(&turns, "a").await.end().await;
        assert!(!crate::nobody_waits(), "whoever waits for nothing has not left");
    }

    #[tokio::test]
    async fn one_more_than_may_wait_is_refused_and_who_is_under_way_is_not() {
        let turns = Turns::new(1);
        let held = hold(&turns, "a").await;
        let crowd: Vec<_> = (0..TURNS_WAITING_MAX).map(|_| ask(&turns, "a", || ())).collect();
        waiting(&turns, "a", TURNS_WAITING_MAX).await;
        let refused = ask(&turns, "a", || ()).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), quipu_wire::ErrorCode::RateLimited, "{refused}");
        let again = Arc::clone(&turns);
        let under_way = tokio::spawn(Asker::default().asks(async move {
            Asker::prove("a");
            Asker::current().keep();
            again.take(|| ()).await
        }));
        waiting(&turns, "a", TURNS_WAITING_MAX + 1).await;
        ask(&turns, "b", || ()).await.unwrap().unwrap();
        held.end().await;
        for done in crowd.into_iter().chain([under_way]) {
            done.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn work_that_panics_gives_its_turn_back() {
        let turns = Turns::new(1);
        let failed = ask(&turns, "a", || panic!("on purpose")).await.unwrap().unwrap_err();
        assert!(matches!(failed, FieldError::Internal(_)), "{failed:?}");
        ask(&turns, "a", || ()).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_the_process_does_by_itself_needs_no_turn() {
        let turns = Turns::new(1);
        let held = hold(&turns, "a").await;
        turns.take(|| ()).await.unwrap();
        held.end().await;
    }
}
