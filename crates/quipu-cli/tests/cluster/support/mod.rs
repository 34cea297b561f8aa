//! What the tests of clusters share: nodes, what must hold of them in the end, writers that try again.

mod load;
mod nodes;
mod pushes;

pub(crate) use load::Load;
pub(crate) use nodes::{
    QUIPU, agree, at_once, finding, record, register, settle, speak, start, units, verify,
};
pub(crate) use pushes::Pushes;
