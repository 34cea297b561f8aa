//! Who sees what and writes where: the one place that every rule and every read asks.

mod hidden;
mod sight;

pub use hidden::Hidden;
pub use sight::{
    CREATOR_AUTHORITY, Error, Reader, Sight, Speaker, authority_in, is_active, may_enter, may_know,
    may_reach, may_read, may_see, may_write,
};
