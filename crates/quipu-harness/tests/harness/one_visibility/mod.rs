//! Who sees what by both protocols: a random Field, what an agent reads of it by each, and that it is the same.

mod reading;
mod same_or_neither;
mod world;
