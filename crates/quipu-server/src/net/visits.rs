//! Connections on which no key was proven yet: how many there may be from one address and in all, and how long one may
//! be idle. For a new one the oldest leaves, of the address that has most of them, so that no address keeps out others.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::sleep};

use crate::{
    clock::Stopwatch,
    limits::{STRANGER_IDLE, STRANGERS_ADDRESS_MAX, STRANGERS_MAX},
};

tokio::task_local! {
    static CURRENT: Arc<Visit>;
}

/// How many strangers there may be, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitLimits {
    pub(crate) per_address: usize,
    pub(crate) in_all: usize,
    pub(crate) idle: Duration,
}

impl VisitLimits {
    /// Those of a server that has so many connections: half of them are for those who have proven a key.
    pub(crate) fn among(connections: usize) -> Self {
        let in_all = STRANGERS_MAX.min(connections / 2).max(1);
        let per_address = STRANGERS_ADDRESS_MAX.min(in_all / 2).max(1);
        Self { per_address, in_all, idle: STRANGER_IDLE }
    }
}

/// All connections on which no key was proven yet.
#[derive(Debug)]
pub(crate) struct Visits {
    limits: VisitLimits,
    strangers: Mutex<Strangers>,
}

#[derive(Debug, Default)]
struct Strangers {
    /// The oldest of an address has the smallest number.
    by_address: HashMap<IpAddr, BTreeMap<u64, Arc<Standing>>>,
    count: usize,
    next: u64,
}

#[derive(Debug)]
struct Standing {
    turned_out: Notify,
    is_proven: AtomicBool,
    at_work: AtomicUsize,
    last: Mutex<Stopwatch>,
}

#[derive(Debug)]
pub(crate) struct Visit {
    visits: Arc<Visits>,
    pub(crate) address: IpAddr,
    number: u64,
    standing: Arc<Standing>,
}

impl Visits {
    pub(crate) fn new(limits: VisitLimits) -> Arc<Self> {
        Arc::new(Self { limits, strangers: Mutex::default() })
    }

    /// Lets a connection in. Where there are too many strangers already, another one has to leave.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Arc<Visit> {
        let address = group(address);
        let standing = Arc::new(Standing {
            turned_out: Notify::new(),
            is_proven: AtomicBool::new(false),
            at_work: AtomicUsize::new(0),
            last: Mutex::new(Stopwatch::start()),
        });
        let mut strangers = self.strangers();
        if strangers.of(address) >= self.limits.per_address {
            strangers.turn_out_oldest(address);
        } else if strangers.count >= self.limits.in_all
            && let Some(crowd) = strangers.largest()
        {
            strangers.turn_out_oldest(crowd);
        }
        let number = strangers.add(address, Arc::clone(&standing));
        Arc::new(Visit { visits: Arc::clone(self), address, number, standing })
    }

    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Strangers {
    fn of(&self, address: IpAddr) -> usize {
        self.by_address.get(&address).map_or(0, BTreeMap::len)
    }

    fn largest(&self) -> Option<IpAddr> {
        let crowd = self.by_address.iter().max_by_key(|(_, visits)| visits.len());
        crowd.map(|(address, _)| *address)
    }

    fn add(&mut self, address: IpAddr, standing: Arc<Standing>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.count += 1;
        self.by_address.entry(address).or_default().insert(number, standing);
        number
    }

    fn remove(&mut self, address: IpAddr, number: u64) {
        let Some(visits) = self.by_address.get_mut(&address) else { return };
        if visits.remove(&number).is_some() {
            self.count -= 1;
        }
        if visits.is_empty() {
            self.by_address.remove(&address);
        }
    }

    fn turn_out_oldest(&mut self, address: IpAddr) {
        let oldest = self.by_address.get(&address).and_then(BTreeMap::first_key_value);
        let Some((number, standing)) = oldest.map(|(number, it)| (*number, Arc::clone(it))) else {
            return;
        };
        standing.turned_out.notify_one();
        self.remove(address, number);
    }
}

impl Visit {
    /// A key was proven: from now on it is nobody's to turn out.
    fn prove(&self) {
        if !self.standing.is_proven.swap(true, Ordering::Relaxed) {
            self.visits.strangers().remove(self.address, self.number);
        }
    }

    /// A request is worked on as long as what comes back is held.
    pub(crate) fn at_work(&self) -> AtWork<'_> {
        self.standing.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(&self.standing)
    }

    /// Resolves when it has to make room, or was idle for too long. Never for one that has proven a key.
    pub(crate) async fn must_leave(&self) {
        tokio::select! {
            () = self.standing.turned_out.notified() => {}
            () = self.idle_too_long() => {}
        }
    }

    async fn idle_too_long(&self) {
        let standing = &self.standing;
        loop {
            let limit = self.visits.limits.idle;
            let idle = match standing.at_work.load(Ordering::Relaxed) {
                0 => standing.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed(),
                _ => Duration::ZERO,
            };
            let Some(rest) = limit.checked_sub(idle).filter(|rest| !rest.is_zero()) else { return };
            sleep(rest).await;
            if standing.is_proven.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visits.strangers().remove(self.address, self.number);
    }
}

/// See [`Visit::at_work`].
#[derive(Debug)]
pub(crate) struct AtWork<'v>(&'v Standing);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Stopwatch::start();
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) async fn during<F: Future>(visit: &Arc<Visit>, work: F) -> F::Output {
    CURRENT.scope(Arc::clone(visit), work).await
}

/// A key was proven on the connection whose request is worked on.
pub(crate) fn prove() {
    // There is none where the program around us asks.
    CURRENT.try_with(|visit| visit.prove()).ok();
}

/// From where the request comes that is worked on; none where the program around us asks.
pub(crate) fn address() -> Option<IpAddr> {
    CURRENT.try_with(|visit| visit.address).ok()
}

/// The addresses that count as one: whoever has one of IPv6 has a whole network of them.
fn group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    const FIRST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const SECOND: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn visits(per_address: usize, in_all: usize, idle: Duration) -> Arc<Visits> {
        Visits::new(VisitLimits { per_address, in_all, idle })
    }

    const LONG: Duration = Duration::from_secs(600);

    async fn leaves(visit: &Visit) -> bool {
        timeout(Duration::from_millis(20), visit.must_leave()).await.is_ok()
    }

    #[tokio::test]
    async fn for_a_new_one_the_oldest_of_its_address_leaves() {
        let visits = visits(2, 100, LONG);
        let [first, second, third] = [(); 3].map(|()| visits.enter(FIRST));
        assert!(leaves(&first).await);
        assert!(!leaves(&second).await && !leaves(&third).await);
    }

    #[tokio::test]
    async fn in_all_the_address_with_most_of_them_makes_room_for_others() {
        let visits = visits(10, 4, LONG);
        let crowd = [(); 3].map(|()| visits.enter(FIRST));
        let other = visits.enter(SECOND);
        let another = visits.enter(SECOND);
        assert!(leaves(&crowd[0]).await);
        assert!(!leaves(&crowd[1]).await && !leaves(&other).await && !leaves(&another).await);
    }

    #[tokio::test]
    async fn whoever_has_proven_a_key_stays_and_takes_no_strangers_place() {
        let visits = visits(1, 1, Duration::from_millis(5));
        let proven = visits.enter(FIRST);
        during(&proven, async { prove() }).await;
        let stranger = visits.enter(FIRST);
        assert!(!leaves(&proven).await);
        assert!(leaves(&stranger).await, "it does nothing for too long");
        drop((proven, stranger));
        assert!(visits.strangers().by_address.is_empty());
        assert_eq!(visits.strangers().count, 0);
    }

    #[tokio::test]
    async fn one_whose_request_is_worked_on_is_not_idle() {
        let visits = visits(1, 1, Duration::from_millis(5));
        let visit = visits.enter(FIRST);
        let work = visit.at_work();
        assert!(!leaves(&visit).await);
        drop(work);
        assert!(leaves(&visit).await);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let at = |text: &str| group(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), FIRST);
    }
}
