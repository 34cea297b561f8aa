//! The Akashik Protocol over HTTP: one file per operation, each of which reads its payload, asks the
//! Field and answers. What they have in common is in `request`.

mod attune;
mod compact;
mod coordinate;
mod deregister;
mod detect;
mod document;
mod handoff;
mod least_authority;
mod log_follow;
mod merge;
mod own_reads;
mod push;
mod push_sse;
mod push_ws;
mod reads;
mod record;
mod register;
mod replay;
mod restore;
mod retract;
mod session;
mod subscribe;
mod table;

pub(crate) use push::stopped;
pub(crate) use table::routes;
