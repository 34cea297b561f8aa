//! A model's answer as a module sees it. The kernel hands out nothing but a complete record of a call, with its
//! costs and its transcript; recordings and overrides hold what the provider said, or just its words. Both are
//! completed here, always in the same way, so that "what if the model had said X" can be asked with X alone.

use serde_json::{Value, json};

/// Whether a capability answers with the record of a call.
pub(super) fn answers_with_record(capability: &str) -> bool {
    matches!(capability, "llm.call" | "llm.completion")
}

/// Completes an answer that is plain words, an object with `text`, or a provider's chat completion. Anything else
/// is left as it is, and the kernel judges it.
pub(super) fn complete(answer: Value) -> Value {
    let is_record = answer.get("transcript").is_some();
    match words_of(&answer) {
        Some(words) if !is_record => record(words, &answer),
        _ => answer,
    }
}

fn words_of(answer: &Value) -> Option<&str> {
    let completion = || answer.pointer("/choices/0/message/content")?.as_str();
    answer.as_str().or_else(|| answer.get("text")?.as_str()).or_else(completion)
}

fn record(words: &str, answer: &Value) -> Value {
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = |ours: &str, theirs: &str| {
        let usage = || answer.get("usage")?.get(theirs)?.as_u64();
        answer.get(ours).and_then(Value::as_u64).or_else(usage).unwrap_or_default()
    };
    let input_tokens = count("input_tokens", "prompt_tokens");
    let output_tokens = count("output_tokens", "completion_tokens");
    json!({
        "effective_reasoning_effort": {"status": "not_reported"},
        "text": words,
        "prose": words,
        "visible_text": words,
        "model": text("model"),
        "provider": text("provider"),
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_hit_ratio": 0,
        "cache_savings_usd": 0,
        "usage": usage(input_tokens, output_tokens),
        "native_tool_calls": [],
        "tool_calls": [],
        "blocks": [],
        "transcript": {
            "_type": "transcript", "version": 1, "id": "", "messages": [], "events": [], "assets": [],
        },
    })
}

fn usage(input_tokens: u64, output_tokens: u64) -> Value {
    let attempts =
        json!({"total": 1, "retries": 0, "rate_limited": 0, "empty_completion": 0, "other": 0});
    json!({
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cost_usd": null,
        "known_cost_usd": 0,
        "projected_cost_usd": null,
        "provider_call_count": 1,
        "unpriced_calls": 1,
        "unpriced_tokens": input_tokens + output_tokens,
        "unpriced_reason": null,
        "usage_unknown_calls": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_supported": false,
        "cache_hit_ratio": null,
        "cache_visibility": null,
        "cache_savings_usd": 0,
        "provider_attempts": attempts,
        "served_fast": false,
        "accounting_status": "unknown",
    })
}
