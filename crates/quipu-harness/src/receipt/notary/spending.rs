//! What a Task spent, counted from what it recorded, and which models it asked.

use std::collections::BTreeMap;

use quipu_wire::harn::{
    BudgetAmount, Cost, DependencyKind, EventKind, EventName, JsonObject, ModelRef, ModelRoute,
    ProviderCost,
};
use serde_json::Value;

use super::{model_usage::ModelUsage, story::Noted};

const UNKNOWN: &str = "unknown";

#[derive(Debug, Default)]
pub(super) struct Spending {
    /// Calls that the worker reported.
    tool_uses: u64,
    /// Answers of tools that it recorded.
    tool_answers: u64,
    /// The model that was asked first, of those that are known.
    first: Option<ModelName>,
    models: BTreeMap<ModelName, Spent>,
    /// Answers whose content is in an Artifact, with what is said of them beside it.
    pub(super) in_artifacts: Vec<(String, ModelUsage)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ModelName {
    provider: String,
    model: String,
}

#[derive(Debug, Default)]
struct Spent {
    calls: u64,
    /// Calls whose answers do not say what they used.
    unknown: u64,
    input: Option<u64>,
    output: Option<u64>,
}

impl Spending {
    pub(super) fn count(&mut self, noted: &Noted<'_>) {
        if is_tool_use(&noted.note.event) {
            self.tool_uses += 1;
        }
        let Some(dependency) = &noted.note.dependency else { return };
        if is_tool_answer(dependency.kind) {
            self.tool_answers += 1;
        }
        if dependency.kind != DependencyKind::LlmProviderResponse {
            return;
        }
        let payload = &noted.body.payload;
        let said = |name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
        let beside = ModelUsage {
            model: said("model"),
            provider: said("provider"),
            ..ModelUsage::default()
        };
        match (&noted.body.value, &noted.body.artifact_id) {
            (None, Some(artifact)) => self.in_artifacts.push((artifact.clone(), beside)),
            (Some(answer), _) => self.answered(beside, &ModelUsage::of(answer)),
            (None, None) => self.answered(beside, &ModelUsage::default()),
        }
    }

    /// Counts an answer of a model.
    pub(super) fn answered(&mut self, beside: ModelUsage, answer: &ModelUsage) {
        let word = |one: Option<String>, other: &Option<String>| {
            let word = one.filter(|word| !word.is_empty()).or_else(|| other.clone());
            word.unwrap_or_else(|| UNKNOWN.to_owned())
        };
        let model = word(beside.model, &answer.model);
        let name = ModelName { provider: word(beside.provider, &answer.provider), model };
        if name.model != UNKNOWN {
            self.first.get_or_insert_with(|| name.clone());
        }
        let spent = self.models.entry(name).or_default();
        spent.calls += 1;
        if answer.input.is_none() && answer.output.is_none() {
            spent.unknown += 1;
        }
        let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
            (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
            (sum, more) => sum.or(more),
        };
        spent.input = add(spent.input, answer.input);
        spent.output = add(spent.output, answer.output);
    }

    pub(super) fn consumed(&self, wall_time_ms: u64) -> BudgetAmount {
        let calls = self.tool_uses.max(self.tool_answers);
        let sum = |of: fn(&Spent) -> Option<u64>| {
            self.models.values().filter_map(of).fold(0u64, u64::saturating_add)
        };
        BudgetAmount {
            usd: Some(0.0),
            input_tokens: Some(sum(|spent| spent.input)),
            output_tokens: Some(sum(|spent| spent.output)),
            tool_calls: Some(calls),
            wall_time_ms: Some(wall_time_ms),
        }
    }

    /// The model that was asked first; one that is unknown where no answer says which it was, none where none was asked.
    pub(super) fn route(&self) -> Option<ModelRoute> {
        let first = self.first.as_ref();
        let any = first.or_else(|| self.models.keys().next())?.clone();
        let reason = match first {
            Some(_) => "chosen by the worker",
            None => "chosen by the worker; no answer says which model gave it",
        };
        let ModelName { provider, model } = any;
        Some(ModelRoute {
            chosen_model: ModelRef { provider, model, version: None, reason: None },
            alternatives_considered: Vec::new(),
            route_policy_reason: reason.to_owned(),
        })
    }

    /// What each model used. Money is not known.
    pub(super) fn cost(&self) -> Option<Cost> {
        let breakdown = self.models.iter().map(|(name, spent)| {
            let mut metadata = JsonObject::with("calls", spent.calls);
            if spent.unknown > 0 {
                metadata.insert("calls_of_unknown_usage".to_owned(), spent.unknown.into());
            }
            ProviderCost {
                provider: name.provider.clone(),
                model: Some(name.model.clone()),
                amount: 0.0,
                input_tokens: spent.input,
                output_tokens: spent.output,
                metadata: Some(metadata),
            }
        });
        let provider_breakdown: Vec<_> = breakdown.collect();
        let cost = Cost { currency: "USD".to_owned(), total: 0.0, provider_breakdown };
        Some(cost).filter(|cost| !cost.provider_breakdown.is_empty())
    }
}

pub(super) const fn is_tool_answer(kind: DependencyKind) -> bool {
    matches!(kind, DependencyKind::McpToolReturn | DependencyKind::ToolResult)
}

pub(super) fn is_tool_use(event: &str) -> bool {
    let kind = EventName::parse(event);
    let uses = [EventKind::AgentToolUse, EventKind::AgentMcpToolUse];
    matches!(kind, Some(EventName::Known(kind)) if uses.contains(&kind))
}
