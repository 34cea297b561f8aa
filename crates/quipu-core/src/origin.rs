//! Where times, ids and salts come from. The core only names the source; whoever runs it brings one.
//! Everything drawn is put into a command before it is decided, never later.

use std::time::Duration;

use quipu_log::Salt;

/// A source of times, ids and salts.
pub trait Origin: Send + Sync + std::fmt::Debug + 'static {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// The time that passed since some moment, whatever is done to the wall clock; none where that is not known.
    fn elapsed(&self) -> Option<Duration> {
        None
    }
    /// Called where the wall clock went another way than [`Self::elapsed`]: perhaps the machine slept.
    fn notice_sleep(&self) {}
    /// Called where a commit has this time: the present is not before it.
    fn not_before(&self, _time_ms: u64) {}
    /// 128 fresh bits whose order is roughly that of their making.
    fn id_bits(&self) -> u128;
    fn salt(&self) -> Salt;
}

/// Times, ids and salts that are the same on every run, for tests and fixtures.
#[derive(Debug, Default)]
pub struct ScriptedOrigin {
    drawn: std::sync::atomic::AtomicU64,
}

impl ScriptedOrigin {
    fn next(&self) -> u64 {
        self.drawn.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
}

impl Origin for ScriptedOrigin {
    fn now_ms(&self) -> u64 {
        1_772_361_000_000 + self.next()
    }

    fn id_bits(&self) -> u128 {
        u128::from(self.next())
    }

    fn salt(&self) -> Salt {
        Salt::from_bytes(u128::from(self.next()).to_be_bytes())
    }
}
