//! Tests of canonical JSON through its public surface: the RFC's vectors, what is written and
//! refused, what is parsed and refused, and properties that hold for every value.

mod parsing;
mod properties;
mod vectors;
mod writing;
