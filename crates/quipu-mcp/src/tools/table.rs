//! All tools. One match over all operations: a new operation does not compile until it is a tool here, or is listed
//! with the reason why not.

use quipu_wire::akashik::Operation;
use rmcp::model::Tool;

use super::{
    attune, compact, coordinate, deregister, detect, handoff, merge, record, register, replay,
    session, tool::OperationTool,
};

#[derive(Debug)]
pub(crate) struct Table(Vec<OperationTool>);

impl Table {
    pub(crate) fn new() -> Self {
        Self(Operation::ALL.iter().filter_map(|operation| of(*operation)).collect())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&OperationTool> {
        self.0.iter().find(|tool| tool.definition().name == name)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &OperationTool> {
        self.0.iter()
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|tool| tool.definition().name.as_ref()).collect()
    }

    pub(crate) fn definitions(&self) -> Vec<Tool> {
        self.0.iter().map(|tool| tool.definition().clone()).collect()
    }
}

fn of(operation: Operation) -> Option<OperationTool> {
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
