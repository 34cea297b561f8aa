//! The one place that reads the wall clock and draws randomness.

use std::{
    cell::RefCell,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use quipu_core::Origin;
use quipu_log::Salt;

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemOrigin;

impl Origin for SystemOrigin {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
    fn now_ms(&self) -> u64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .ok()
            .and_then(|since| u64::try_from(since.as_millis()).ok())
            .unwrap_or(0)
    }

    fn elapsed(&self) -> Option<Duration> {
        let start = Start::get();
        // Without that, a machine that slept could not be told from one whose clock was set.
        start.uptime?;
        Some(start.at.elapsed() + Duration::from_millis(SLEPT_MS.load(Ordering::Relaxed)))
    }

    fn notice_sleep(&self) {
        let start = Start::get();
        let (Some(before), Some(now)) = (start.uptime, uptime()) else { return };
        let slept = now.saturating_sub(before).saturating_sub(start.at.elapsed());
        let slept_ms = u64::try_from(slept.as_millis()).unwrap_or(u64::MAX);
        SLEPT_MS.fetch_max(slept_ms, Ordering::Relaxed);
    }

    fn id_bits(&self) -> u128 {
        let random = u128::from_be_bytes(random_16()) >> 48;
        (u128::from(self.now_ms()) << 80) | random
    }

    fn salt(&self) -> Salt {
        Salt::from_bytes(random_16())
    }
}

/// When this process first asked for the time.
struct Start {
    at: Instant,
    /// How long the machine had run then, its sleep included, where it tells that.
    uptime: Option<Duration>,
}

static START: OnceLock<Start> = OnceLock::new();
/// How long the machine has slept since, as far as that was noticed.
static SLEPT_MS: AtomicU64 = AtomicU64::new(0);

impl Start {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads clocks")]
    fn get() -> &'static Self {
        START.get_or_init(|| Self { at: Instant::now(), uptime: uptime() })
    }
}

/// How long the machine has run, its sleep included, which the clock of [`Instant`] leaves out.
fn uptime() -> Option<Duration> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

thread_local! {
    static AHEAD: RefCell<Ahead> = const { RefCell::new(Ahead { bytes: [0; AHEAD_BYTES], used: AHEAD_BYTES }) };
}

/// How many random bytes a thread draws at a time.
const AHEAD_BYTES: usize = 512;

/// Random bytes that were drawn and not yet used: each unit needs two draws, and a call to the operating system
/// for each costs more than the hash of the unit's text.
struct Ahead {
    bytes: [u8; AHEAD_BYTES],
    used: usize,
}

impl Ahead {
    /// The next bytes. They are forgotten here, so that nobody is given them again.
    #[expect(clippy::disallowed_methods, reason = "the one place that draws randomness")]
    fn take(&mut self) -> [u8; 16] {
        if self.used + 16 > AHEAD_BYTES {
            getrandom::fill(&mut self.bytes).expect("the operating system gives randomness");
            self.used = 0;
        }
        let next = self.bytes.get_mut(self.used..).and_then(<[u8]>::first_chunk_mut::<16>);
        let next = next.expect("there are sixteen more bytes");
        self.used += 16;
        std::mem::take(next)
    }
}

fn random_16() -> [u8; 16] {
    AHEAD.with_borrow_mut(Ahead::take)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_machine_that_did_not_sleep_is_not_taken_for_one_that_did() {
        let Some(before) = SystemOrigin.elapsed() else { return };
        SystemOrigin.notice_sleep();
        let passed = SystemOrigin.elapsed().unwrap() - before;
        assert!(passed < Duration::from_secs(5), "{passed:?}");
    }

    #[test]
    fn nothing_is_drawn_twice_by_one_thread_or_by_two() {
        let draw = || (0..1000).map(|_| random_16()).collect::<Vec<_>>();
        let other = std::thread::spawn(draw);
        let mut all: Vec<_> = draw();
        all.extend(other.join().unwrap());
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 2000);
    }
}
