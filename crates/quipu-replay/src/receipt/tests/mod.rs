//! Receipts made, sealed, signed, carried in every form, altered and checked.

mod facts;
mod forms;
mod issuing;
mod published_fixture;
mod verifying;
