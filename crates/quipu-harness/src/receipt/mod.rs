//! Receipts: how they are read, checked, and issued by the notary.

pub(crate) mod check;
pub(crate) mod exported;
pub(crate) mod notary;
pub(crate) mod receipts;
