//! A tool: an operation, its definition for a model, and how its answer is written as text.

use std::{fmt, sync::Arc};

use quipu_wire::{akashik::Operation, quote::json_line};
use rmcp::model::{Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::schema::{self, Way};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    /// Adds something, and changes nothing when it is repeated.
    AddsOnce,
    /// May change, hide, end or remove something, whatever else it does.
    Changes,
    /// Removes something, and changes nothing when it is repeated.
    Removes,
}

/// What the argument `agent_id` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentArgument {
    /// The agent that speaks. It is removed from the payload.
    Speaks,
    /// The agent that the operation is about. It stays in the payload, and that agent also speaks unless the
    /// credential is bound to another one.
    IsMeant,
}

type Describe = Box<dyn Fn(&Value) -> String + Send + Sync>;
type Prepare = fn(&mut Map<String, Value>, for_host: bool);

pub(crate) struct OperationTool {
    pub(crate) operation: Operation,
    pub(crate) agent_argument: AgentArgument,
    definition: Tool,
    describe: Describe,
    prepare: Prepare,
}

impl fmt::Debug for OperationTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationTool").field("operation", &self.operation).finish_non_exhaustive()
    }
}

impl OperationTool {
    /// A tool whose schemas are those of the operation's payload and response.
    pub(super) fn new<P, R>(
        operation: Operation,
        title: &'static str,
        description: &'static str,
        effect: Effect,
        describe: fn(&R) -> String,
    ) -> Self
    where
        P: ToSchema,
        R: ToSchema + DeserializeOwned + 'static,
    {
        let name = format!("akashik_{}", operation.as_str().to_lowercase());
        let mut input = schema::of::<P>(Way::In);
        add_context(&mut input);
        let output = schema::of::<R>(Way::Out);
        let definition = Tool::new(name, description, Arc::new(input))
            .with_title(title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(annotations(title, effect));
        let describe: Describe = Box::new(move |answer| match R::deserialize(answer) {
            Ok(response) => describe(&response),
            // The answer of a newer server may not fit our type. Then its JSON is better than nothing.
            Err(_) => json_line(answer),
        });
        let agent_argument = AgentArgument::Speaks;
        Self { operation, agent_argument, definition, describe, prepare: |_, _| {} }
    }

    /// The same tool with a last change to the arguments before they become the payload.
    pub(super) fn preparing(mut self, prepare: Prepare) -> Self {
        self.prepare = prepare;
        self
    }

    /// The same tool, where `agent_id` is the agent that the operation is about.
    pub(super) const fn meaning_an_agent(mut self) -> Self {
        self.agent_argument = AgentArgument::IsMeant;
        self
    }

    /// The same tool with an optional argument of this description, in addition or instead of the payload's own.
    pub(super) fn with_argument(mut self, name: &str, description: &str) -> Self {
        let mut input = (*self.definition.input_schema).clone();
        if let Some(Value::Array(required)) = input.get_mut("required") {
            required.retain(|required| required != name);
        }
        if let Some(Value::Object(properties)) = input.get_mut("properties") {
            properties
                .insert(name.to_owned(), json!({"type": "string", "description": description}));
        }
        self.definition.input_schema = Arc::new(input);
        self
    }

    /// The definition that `tools/list` answers.
    pub(crate) const fn definition(&self) -> &Tool {
        &self.definition
    }

    /// Applies the tool's last change to the arguments, which then are the payload.
    pub(crate) fn prepare(&self, arguments: &mut Map<String, Value>, for_host: bool) {
        (self.prepare)(arguments, for_host);
    }

    /// Writes the operation's answer as text.
    pub(crate) fn describe(&self, answer: &Value) -> String {
        (self.describe)(answer)
    }
}

/// Adds the arguments that every tool has in addition to the payload's.
fn add_context(input: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = input.get_mut("properties") else { return };
    let agent = "Which agent you are, if you registered one with akashik_register. Leave it out to \
                 speak for this host.";
    let session = "The session that you work in. Leave it out if there is none.";
    for (name, description) in [("agent_id", agent), ("session_id", session)] {
        properties
            .entry(name)
            .or_insert_with(|| json!({"type": "string", "description": description}));
    }
}

fn annotations(title: &str, effect: Effect) -> ToolAnnotations {
    let annotations = ToolAnnotations::with_title(title).open_world(false);
    match effect {
        Effect::Reads => annotations.read_only(true).destructive(false).idempotent(true),
        Effect::AddsOnce => annotations.read_only(false).destructive(false).idempotent(true),
        Effect::Changes => annotations.read_only(false).destructive(true).idempotent(false),
        Effect::Removes => annotations.read_only(false).destructive(true).idempotent(true),
    }
}
