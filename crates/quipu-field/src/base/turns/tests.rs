//! Who gets a turn when, counted and not timed: work waits until the test lets it go.

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
