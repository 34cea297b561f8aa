//! Up to which commit subscribers may read, and which of them wait for the next one. Every stream of pushes has a place
//! here and nothing else that waits, so a thousand of them are woken in one go, and an idle one costs a few words.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Waker},
};

/// Up to which commit subscribers may read, and whether there can be more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Announced {
    pub position: u64,
    pub closed: bool,
}

/// What was announced, and to whom.
#[derive(Debug)]
pub(super) struct Heads(Mutex<ListenerSlots>);

#[derive(Debug)]
struct ListenerSlots {
    announced: Announced,
    /// One for each listener, with its waker while it waits.
    places: Vec<Option<Waker>>,
    /// Places that nobody has.
    free: Vec<usize>,
}

/// A place among those who are woken.
#[derive(Debug)]
pub(crate) struct Listening {
    heads: Arc<Heads>,
    place: usize,
}

impl Heads {
    pub(super) const fn new(position: u64) -> Self {
        let announced = Announced { position, closed: false };
        Self(Mutex::new(ListenerSlots { announced, places: Vec::new(), free: Vec::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, ListenerSlots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn announced(&self) -> Announced {
        self.lock().announced
    }

    pub(super) fn has_listeners(&self) -> bool {
        let places = self.lock();
        places.free.len() < places.places.len()
    }

    pub(super) fn listen(self: &Arc<Self>) -> Listening {
        let mut places = self.lock();
        let place = places.free.pop().unwrap_or_else(|| {
            places.places.push(None);
            places.places.len() - 1
        });
        drop(places);
        Listening { heads: Arc::clone(self), place }
    }

    /// Announces a position to everybody. It never goes back.
    pub(super) fn announce(&self, position: u64) {
        self.change(|announced| announced.position = announced.position.max(position));
    }

    pub(super) fn close(&self) {
        self.change(|announced| announced.closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut Announced)) {
        let mut places = self.lock();
        change(&mut places.announced);
        let wakers: Vec<Waker> = places.places.iter_mut().filter_map(mem::take).collect();
        drop(places);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Listening {
    /// What was announced. Where that is not as far as `position` and there can be more, the task is woken when
    /// something changes.
    pub(super) fn poll(&self, cx: &Context<'_>, position: u64) -> Announced {
        let mut places = self.heads.lock();
        let announced = places.announced;
        let mut before = None;
        if position > announced.position
            && !announced.closed
            && let Some(place) = places.places.get_mut(self.place)
            && !place.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
        {
            before = place.replace(cx.waker().clone());
        }
        // A waker may be the last that holds a task, and a task may hold a place.
        drop(places);
        drop(before);
        announced
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut places = self.heads.lock();
        let waker = places.places.get_mut(self.place).and_then(Option::take);
        places.free.push(self.place);
        if places.free.len() == places.places.len() {
            (places.places, places.free) = Default::default();
        }
        drop(places);
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn times(woken: &Arc<Woken>) -> usize {
        woken.0.load(Ordering::Relaxed)
    }

    #[test]
    fn wakes_each_that_waits_once() {
        let heads = Arc::new(Heads::new(3));
        let woken: [Arc<Woken>; 3] = Default::default();
        let wakers = woken.each_ref().map(|woken| Waker::from(Arc::clone(woken)));
        let listening = [(); 3].map(|()| heads.listen());
        for (waker, listening) in wakers.iter().zip(&listening).take(2) {
            let cx = Context::from_waker(waker);
            assert_eq!(listening.poll(&cx, 4).position, 3);
            assert_eq!(listening.poll(&cx, 4).position, 3);
        }
        assert_eq!(listening[2].poll(&Context::from_waker(&wakers[2]), 3).position, 3);
        heads.announce(5);
        heads.announce(4);
        assert_eq!(woken.each_ref().map(times), [1, 1, 0], "the third did not wait");
        assert_eq!(heads.announced().position, 5);
    }

    #[test]
    fn whoever_left_is_not_woken_and_its_place_is_given_away() {
        let heads = Arc::new(Heads::new(0));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let (first, second) = (heads.listen(), heads.listen());
        first.poll(&Context::from_waker(&waker), 1);
        let place = first.place;
        drop(first);
        heads.announce(1);
        assert_eq!(times(&woken), 0);
        assert_eq!(heads.listen().place, place);
        assert!(heads.has_listeners());
        drop(second);
        assert!(!heads.has_listeners());
    }

    #[test]
    fn closing_wakes_and_lets_nobody_wait_again() {
        let heads = Arc::new(Heads::new(0));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let listening = heads.listen();
        listening.poll(&Context::from_waker(&waker), 1);
        heads.close();
        assert_eq!(times(&woken), 1);
        assert!(listening.poll(&Context::from_waker(&waker), 1).closed);
        heads.announce(1);
        assert_eq!(times(&woken), 1);
    }
}
