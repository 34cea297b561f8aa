//! Where times, ids and salts come from: the one place of this crate that observes the world.
//! Everything drawn here is put into a command before it is decided, never later.

use quipu_log::Salt;

/// A source of times, ids and salts.
pub trait Origin: Send + Sync + std::fmt::Debug + 'static {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// 128 fresh bits whose order is roughly that of their making.
    fn id_bits(&self) -> u128;
    /// A fresh salt.
    fn salt(&self) -> Salt;
}

/// The system's clock and randomness.
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

    fn id_bits(&self) -> u128 {
        let random = u128::from_be_bytes(random_16()) >> 48;
        (u128::from(self.now_ms()) << 80) | random
    }

    fn salt(&self) -> Salt {
        Salt::from_bytes(random_16())
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that draws randomness")]
fn random_16() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
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
