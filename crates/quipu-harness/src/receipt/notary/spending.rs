//! What a Task spent, counted from what it recorded, and which model it asked.

use quipu_wire::harn::{BudgetAmount, DependencyKind, EventKind, EventName, ModelRef, ModelRoute};
use serde_json::Value;

use super::story::Noted;

#[derive(Debug, Default)]
pub(super) struct Spending {
    input_tokens: u64,
    output_tokens: u64,
    /// Calls that the worker reported.
    tool_uses: u64,
    /// Answers of tools that it recorded.
    tool_answers: u64,
    route: Option<ModelRoute>,
}

impl Spending {
    pub(super) fn count(&mut self, noted: &Noted<'_>) {
        if is_tool_use(&noted.note.event) {
            self.tool_uses += 1;
        }
        let Some(dependency) = &noted.note.dependency else { return };
        if matches!(dependency.kind, DependencyKind::McpToolReturn | DependencyKind::ToolResult) {
            self.tool_answers += 1;
        }
        if dependency.kind == DependencyKind::LlmProviderResponse {
            self.note_requested_model(noted);
        }
    }

    fn note_requested_model(&mut self, noted: &Noted<'_>) {
        let answer = noted.body.value.as_ref();
        let usage = answer.and_then(|answer| answer.get("usage"));
        let tokens = |names: [&str; 2]| {
            let found = names.iter().find_map(|name| usage?.get(*name)?.as_u64());
            found.unwrap_or(0)
        };
        let read = tokens(["input_tokens", "prompt_tokens"]);
        let written = tokens(["output_tokens", "completion_tokens"]);
        self.input_tokens = self.input_tokens.saturating_add(read);
        self.output_tokens = self.output_tokens.saturating_add(written);
        let said = |name: &str| {
            let text = noted.body.payload.get(name).or_else(|| answer?.get(name));
            text.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let (None, Some(model)) = (&self.route, said("model")) {
            let provider = said("provider").unwrap_or_else(|| "unknown".to_owned());
            let chosen_model = ModelRef { provider, model, version: None, reason: None };
            self.route = Some(ModelRoute {
                chosen_model,
                alternatives_considered: Vec::new(),
                route_policy_reason: "chosen by the worker".to_owned(),
            });
        }
    }

    pub(super) const fn consumed(&self, wall_time_ms: u64) -> BudgetAmount {
        let calls =
            if self.tool_uses > self.tool_answers { self.tool_uses } else { self.tool_answers };
        BudgetAmount {
            usd: Some(0.0),
            input_tokens: Some(self.input_tokens),
            output_tokens: Some(self.output_tokens),
            tool_calls: Some(calls),
            wall_time_ms: Some(wall_time_ms),
        }
    }

    /// The model that was asked first; none if none is known.
    pub(super) fn route(&self) -> Option<ModelRoute> {
        self.route.clone()
    }
}

pub(super) fn is_tool_use(event: &str) -> bool {
    let kind = EventName::parse(event);
    let uses = [EventKind::AgentToolUse, EventKind::AgentMcpToolUse];
    matches!(kind, Some(EventName::Known(kind)) if uses.contains(&kind))
}
