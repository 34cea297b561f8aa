//! What each key, and whoever has none, cannot do: one file for each door that was found open.

mod foreign_pages;
mod handles;
mod telling;
mod unknown_sessions;
mod without_a_key;
