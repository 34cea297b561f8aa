//! Who sees what and writes where: the one place that every rule and every read asks.

mod access;
mod copies;
mod hidden;
mod reader;
mod sight;

pub use access::{
    CREATOR_AUTHORITY, Error, READ_AUTHORITY, Speaker, authority_in, is_active, is_drawn,
    may_change, may_enter, may_know, may_put_away, may_reach, may_read, may_see, may_write,
    may_write_within,
};
pub use copies::join_rule;
pub(crate) use copies::{is_out, originals};
pub use hidden::Hidden;
pub use reader::Reader;
pub(crate) use sight::let_by;
pub use sight::{Sight, Viewpoint};
