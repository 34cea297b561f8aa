//! Proof that the conformance suite can fail: it is run against variants of our server that break one
//! rule each. `docs/conformance.md` says which cases catch which variant, and is held to it here.

mod past;
mod proxy;
mod table;
mod tamper;
mod trial;
mod variants;
mod wire;
