//! Doors that were found open, each with what was done through it: nobody gets more than they were given.

mod bytes;
mod clock;
mod compaction;
mod foreign_pages;
mod handles;
mod harn_actor;
mod imports;
mod kept_in_runs;
mod keyed;
mod long_work;
mod modules;
mod one_visibility;
mod policy_objects;
mod reading;
mod receipt_names;
mod roles;
mod saying;
mod secrets;
mod signals_crash;
mod summaries;
mod superseding;
mod taking_over;
mod team;
mod telling;
mod unknown_sessions;
mod without_a_key;
