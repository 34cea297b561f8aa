//! Doors that were found open, each with what was done through it: nobody gets more than they were given.

mod clock;
mod compaction;
mod long_work;
mod modules;
mod reading;
mod signals_crash;
