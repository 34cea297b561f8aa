//! Cases on section 7 of the catalogue: who may speak, who may do what, who may see what.

pub(crate) mod authority;
pub(crate) mod credentials;
pub(crate) mod visibility;
