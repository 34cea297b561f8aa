//! The examples of `docs/protocol` and `docs/proofs.md`, run in order against a server of their own, each page for itself.
//! An `http` block is a request; the `json` or `text` block after it is the answer. A block inside of
//! a comment is run too: it prepares what the page takes for granted.

mod blocks;
mod likeness;
mod run;
mod walkthrough;
