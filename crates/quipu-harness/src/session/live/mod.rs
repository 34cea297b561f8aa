//! Live clients of a Session: the programs through which people look at it now, and the one that controls it. One document of
//! a Session has them all, so that two that take control at once do not both get it. Their leases are by the Field's time.

mod attach;
mod claim;
mod depart;
mod view;

pub(crate) use claim::no_live_claim;
pub(crate) use view::clients_of;
