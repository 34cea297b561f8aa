//! Who speaks for whom: a key for any agent takes no name that is worth more than it.

mod nameless;
mod table;
mod taking;
