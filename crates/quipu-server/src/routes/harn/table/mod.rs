//! The table of the Harn protocol: every route of it, once. Sessions, Tasks, and what the server has beside them.

mod row;
mod server;
mod sessions;
mod tasks;

pub(crate) use row::routes;
