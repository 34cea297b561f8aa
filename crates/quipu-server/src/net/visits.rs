//! Connections: how many there may be on which no key was proven yet, from one address and in all, and how long one may be
//! idle; and how many on which one was, of one key, from one address and in all. For a new stranger the oldest leaves, of the
//! address that has most of them, so that no address keeps out others; a key or an address that has its part gets no more.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::sleep};

use quipu_wire::{ErrorCode, ProtocolError};

use crate::{
    clock::Stopwatch,
    limits::{
        ADDRESS_CONNECTIONS_SHARE, KEY_CONNECTIONS_SHARE, STRANGER_IDLE, STRANGERS_ADDRESS_MAX,
        STRANGERS_MAX,
    },
    secrets::keys::NO_KEY,
};

tokio::task_local! {
    static CURRENT: Arc<Visit>;
}

/// How many strangers there may be, and for how long; and how many others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitLimits {
    per_address: usize,
    in_all: usize,
    idle: Duration,
    proven: ProvenLimits,
}

/// How many connections there may be on which a key was proven.
#[derive(Debug, Clone, Copy)]
struct ProvenLimits {
    per_key: usize,
    per_address: usize,
    in_all: usize,
}

impl ProvenLimits {
    /// Shares out so many: no key and no address gets all of them.
    fn among(in_all: usize) -> Self {
        let per_key = in_all.div_ceil(KEY_CONNECTIONS_SHARE).max(1);
        let per_address = (in_all - in_all / ADDRESS_CONNECTIONS_SHARE).max(per_key);
        Self { per_key, per_address, in_all }
    }
}

impl VisitLimits {
    /// Those of a server that has so many connections: at least half of them are for those who have proven a key.
    pub(crate) fn among(connections: usize) -> Self {
        let in_all = STRANGERS_MAX.min(connections / 2).max(1);
        let per_address = STRANGERS_ADDRESS_MAX.min(in_all / 2).max(1);
        let proven = ProvenLimits::among(connections.saturating_sub(in_all).max(1));
        Self { per_address, in_all, idle: STRANGER_IDLE, proven }
    }
}

/// All connections.
#[derive(Debug)]
pub(crate) struct Visits {
    limits: VisitLimits,
    strangers: Mutex<Strangers>,
    proven: Mutex<Proven>,
}

/// Those on which a key was proven.
#[derive(Debug, Default)]
struct Proven {
    by_key: HashMap<String, usize>,
    by_address: HashMap<IpAddr, usize>,
    count: usize,
}

impl Proven {
    /// One more of a key and an address, if they have not their part already.
    fn add(
        &mut self,
        limits: &ProvenLimits,
        key: &str,
        address: IpAddr,
    ) -> Result<(), ProtocolError> {
        let own = self.by_key.get(key).copied().unwrap_or_default();
        let near = self.by_address.get(&address).copied().unwrap_or_default();
        let (code, who, most) = if own >= limits.per_key {
            (ErrorCode::RateLimited, format!("the key {key} has"), limits.per_key)
        } else if near >= limits.per_address {
            (ErrorCode::RateLimited, "this address has".to_owned(), limits.per_address)
        } else if self.count >= limits.in_all {
            (ErrorCode::Overloaded, "all keys together have".to_owned(), limits.in_all)
        } else {
            self.by_key.insert(key.to_owned(), own + 1);
            self.by_address.insert(address, near + 1);
            self.count += 1;
            return Ok(());
        };
        let message = format!("{who} {most} connections already, and no more may be had");
        Err(ProtocolError::new(code, message))
    }

    fn remove(&mut self, key: &str, address: IpAddr) {
        self.count -= 1;
        let own = self.by_key.get_mut(key).map(|count| {
            *count -= 1;
            *count
        });
        if own == Some(0) {
            self.by_key.remove(key);
        }
        let near = self.by_address.get_mut(&address).map(|count| {
            *count -= 1;
            *count
        });
        if near == Some(0) {
            self.by_address.remove(&address);
        }
    }
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
    /// The key that was proven first, if it counts.
    key: OnceLock<String>,
    /// Whether it ends with the answer that is given next.
    is_refused: AtomicBool,
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
        Arc::new(Self { limits, strangers: Mutex::default(), proven: Mutex::default() })
    }

    /// Lets a connection in. Where there are too many strangers already, another one has to leave.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Arc<Visit> {
        let address = group(address);
        let standing = Arc::new(Standing {
            turned_out: Notify::new(),
            is_proven: AtomicBool::new(false),
            key: OnceLock::new(),
            is_refused: AtomicBool::new(false),
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

    fn proven(&self) -> MutexGuard<'_, Proven> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// A key was proven: from now on it is nobody's to turn out. The first key has it, whatever is proven on it later.
    fn prove(&self, key: &str) -> Result<(), ProtocolError> {
        let standing = &self.standing;
        if standing.is_proven.load(Ordering::Relaxed) {
            return Ok(());
        }
        // Where there are no keys, nobody is told apart.
        if key != NO_KEY {
            let added = self.visits.proven().add(&self.visits.limits.proven, key, self.address);
            if added.is_err() {
                standing.is_refused.store(true, Ordering::Relaxed);
            }
            added?;
            standing.key.get_or_init(|| key.to_owned());
        }
        standing.is_proven.store(true, Ordering::Relaxed);
        self.visits.strangers().remove(self.address, self.number);
        Ok(())
    }

    /// Whether there is no place for it.
    pub(crate) fn is_refused(&self) -> bool {
        self.standing.is_refused.load(Ordering::Relaxed)
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
        if let Some(key) = self.standing.key.get() {
            self.visits.proven().remove(key, self.address);
        }
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
///
/// # Errors
/// Where that key, or its address, has its part of the connections already.
pub(crate) fn prove(key: &str) -> Result<(), ProtocolError> {
    // There is none where the program around us asks.
    CURRENT.try_with(|visit| visit.prove(key)).unwrap_or(Ok(()))
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
        let proven = ProvenLimits { per_key: 2, per_address: 3, in_all: 4 };
        Visits::new(VisitLimits { per_address, in_all, idle, proven })
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
        during(&proven, async { prove("k") }).await.unwrap();
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

    #[tokio::test]
    async fn a_key_and_an_address_have_their_part_of_the_connections_and_others_the_rest() {
        let visits = visits(100, 100, LONG);
        let proves = async |visit: &Arc<Visit>, key| {
            let proven = during(visit, async { prove(key) }).await;
            proven.map_err(|error| error.code)
        };
        let [first, second, third] = [(); 3].map(|()| visits.enter(FIRST));
        assert_eq!(proves(&first, "a").await, Ok(()));
        assert_eq!(proves(&first, "b").await, Ok(()), "it is the first key's, and counts once");
        assert_eq!(proves(&second, "a").await, Ok(()));
        assert_eq!(proves(&third, "a").await, Err(ErrorCode::RateLimited));
        assert!(third.is_refused() && !second.is_refused());
        let fourth = visits.enter(FIRST);
        assert_eq!(proves(&fourth, "b").await, Ok(()));
        let [near, far, last] = [FIRST, SECOND, SECOND].map(|address| visits.enter(address));
        assert_eq!(proves(&near, "c").await, Err(ErrorCode::RateLimited), "three are from there");
        assert_eq!(proves(&far, "c").await, Ok(()));
        assert_eq!(proves(&last, "d").await, Err(ErrorCode::Overloaded));
        assert_eq!(proves(&last, NO_KEY).await, Ok(()), "without keys nobody is told apart");
        drop((first, second, fourth));
        assert_eq!(proves(&third, "a").await, Ok(()));
        drop((third, near, far, last));
        let proven = visits.proven();
        assert!(proven.by_key.is_empty() && proven.by_address.is_empty() && proven.count == 0);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let at = |text: &str| group(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:2"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), FIRST);
    }
}
