//! All tools. One match over all operations: a new one does not compile until it is a tool, or it is
//! said why it is none.

use quipu_wire::akashik::Operation;
use rmcp::model::Tool;

use super::{
    attune, compact, coordinate, deregister, detect, handoff, merge, record, register, replay,
    session, tool::OwnTool,
};

/// All tools, in the order of the protocol.
#[derive(Debug)]
pub(crate) struct Table(Vec<OwnTool>);

impl Table {
    pub(crate) fn new() -> Self {
        Self(Operation::ALL.iter().filter_map(|operation| of(*operation)).collect())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&OwnTool> {
        self.0.iter().find(|tool| tool.shown().name == name)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|tool| tool.shown().name.as_ref()).collect()
    }

    pub(crate) fn shown(&self) -> Vec<Tool> {
        self.0.iter().map(|tool| tool.shown().clone()).collect()
    }
}

fn of(operation: Operation) -> Option<OwnTool> {
    match operation {
        Operation::Register => Some(register::tool()),
        Operation::Deregister => Some(deregister::tool()),
        Operation::Record => Some(record::tool()),
        Operation::Attune => Some(attune::tool()),
        Operation::Detect => Some(detect::tool()),
        Operation::Merge => Some(merge::tool()),
        Operation::Replay => Some(replay::tool()),
        Operation::Compact => Some(compact::tool()),
        Operation::Coordinate => Some(coordinate::tool()),
        Operation::Handoff => Some(handoff::tool()),
        Operation::Session => Some(session::tool()),
        // MCP has subscriptions of its own, to resources.
        Operation::Subscribe => None,
    }
}
