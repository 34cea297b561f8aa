//! What a key does not allow and did once: each rule of `docs/security.md`, from outside and with real keys.

mod keyed;
mod saying;
mod superseding;
