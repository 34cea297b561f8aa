//! Whether a person who reads only the summary of a decision's REPLAY can say why it was taken: a project of several agents, with
//! tasks, handoffs, disputes and reversals (`heron.txt`), is recorded over HTTP (`load`), and ten of its decisions are asked for.

mod load;
mod reading;
