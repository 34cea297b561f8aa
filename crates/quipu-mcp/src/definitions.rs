//! The tools as they are offered, for whoever lists them by another protocol.

use quipu_wire::akashik::Operation;
use serde_json::{Map, Value};

use crate::tools::Table;

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub operation: Operation,
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of its answer.
    pub output_schema: Map<String, Value>,
}

/// All tools, in the order in which `tools/list` has them.
#[must_use]
pub fn definitions() -> Vec<Definition> {
    Table::new()
        .all()
        .map(|tool| {
            let offered = tool.definition();
            Definition {
                operation: tool.operation,
                name: offered.name.to_string(),
                description: offered.description.as_deref().unwrap_or_default().to_owned(),
                input_schema: (*offered.input_schema).clone(),
                output_schema: offered.output_schema.as_deref().cloned().unwrap_or_default(),
            }
        })
        .collect()
}
