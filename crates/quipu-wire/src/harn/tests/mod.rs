//! Golden JSON of every shape, and what each request refuses. All data is of our own making.

mod refusals;
mod requests;
mod resources;
mod written;
