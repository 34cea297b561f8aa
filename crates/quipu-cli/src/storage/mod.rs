//! Where a Field is kept: a data directory, or a log on a server.

pub(crate) mod data_dir;
pub(crate) mod log_address;
pub(crate) mod pinned;
