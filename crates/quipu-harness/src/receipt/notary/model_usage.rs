//! Which model gave an answer and what it read and wrote, where the answer says so: whole answers and streams of OpenAI's
//! chat completions, responses and embeddings, of Anthropic's messages, and of whoever speaks like them.

use serde_json::{Map, Value};

/// How deep an answer may be wrapped: in what a client recorded around it, in a stream, in an event.
const DEPTH_MAX: u8 = 7;
/// Members behind which an answer, or a part of it, may be.
const WRAPPERS: [&str; 7] = ["body", "response", "message", "value", "events", "chunks", "data"];

/// What an answer says of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelUsage {
    pub(super) model: Option<String>,
    pub(super) provider: Option<String>,
    /// Tokens read, those from a cache and those put into one included.
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
}

/// The counts of an answer. A stream repeats them as they grow.
#[derive(Default)]
struct Counts {
    read: Option<u64>,
    into_cache: Option<u64>,
    from_cache: Option<u64>,
    written: Option<u64>,
}

impl ModelUsage {
    pub(super) fn of(answer: &Value) -> Self {
        let (mut usage, mut counts) = (Self::default(), Counts::default());
        usage.take(answer, &mut counts, DEPTH_MAX);
        let parts = [counts.read, counts.into_cache, counts.from_cache];
        if parts.iter().any(Option::is_some) {
            usage.input = Some(parts.iter().flatten().fold(0, |sum, it| sum.saturating_add(*it)));
            // What only reads, such as embedding, writes nothing.
            usage.output = Some(counts.written.unwrap_or(0));
        } else {
            usage.output = counts.written;
        }
        usage
    }

    fn take(&mut self, part: &Value, counts: &mut Counts, depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match part {
            Value::Array(parts) => parts.iter().for_each(|part| self.take(part, counts, depth)),
            Value::Object(members) => {
                let said = |name: &str| text(members, name);
                self.model = self.model.take().or_else(|| said("model"));
                self.provider = self.provider.take().or_else(|| said("provider"));
                if let Some(Value::Object(usage)) = members.get("usage") {
                    counts.take(usage);
                }
                let inner = WRAPPERS.iter().filter_map(|name| members.get(*name));
                inner.for_each(|part| self.take(part, counts, depth));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

impl Counts {
    fn take(&mut self, usage: &Map<String, Value>) {
        let count = |names: &[&str]| names.iter().find_map(|name| usage.get(*name)?.as_u64());
        self.read = self.read.max(count(&["input_tokens", "prompt_tokens"]));
        self.into_cache = self.into_cache.max(count(&["cache_creation_input_tokens"]));
        self.from_cache = self.from_cache.max(count(&["cache_read_input_tokens"]));
        self.written = self.written.max(count(&["output_tokens", "completion_tokens"]));
    }
}

fn text(members: &Map<String, Value>, name: &str) -> Option<String> {
    let text = members.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn says(answer: &Value, model: &str, input: u64, output: u64) {
        let usage = ModelUsage::of(answer);
        assert_eq!(usage.model.as_deref(), Some(model), "{answer}");
        assert_eq!((usage.input, usage.output), (Some(input), Some(output)), "{answer}");
    }

    #[test]
    fn every_shape_of_an_answer_is_read() {
        let chat = json!({"object": "chat.completion", "model": "gpt-x", "choices": [{"message": {"content": "hi"}}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
                "prompt_tokens_details": {"cached_tokens": 4}}});
        let response = json!({"object": "response", "model": "gpt-y", "output": [],
            "usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 2}, "output_tokens": 3}});
        let embedding = json!({"object": "list", "data": [{"embedding": [0.5], "index": 0}],
            "model": "embed", "usage": {"prompt_tokens": 9, "total_tokens": 9}});
        let message = json!({"type": "message", "model": "claude-x", "content": [],
            "usage": {"input_tokens": 10, "cache_creation_input_tokens": 100,
                "cache_read_input_tokens": 1000, "output_tokens": 6}});
        for wrap in [|it: &Value| it.clone(), |it: &Value| json!({"status": 200, "body": it})] {
            says(&wrap(&chat), "gpt-x", 11, 7);
            says(&wrap(&response), "gpt-y", 5, 3);
            says(&wrap(&embedding), "embed", 9, 0);
            says(&wrap(&message), "claude-x", 1110, 6);
        }
    }

    #[test]
    fn streams_are_read_joined_or_not() {
        let chat = json!([{"model": "gpt-x", "choices": [], "usage": null},
            {"model": "gpt-x", "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}}]);
        says(&chat, "gpt-x", 11, 7);
        let events = json!({"status": 200, "events": [
            {"event": "message_start", "data": {"type": "message_start", "message": {"model": "claude-x",
                "usage": {"input_tokens": 10, "cache_read_input_tokens": 20, "output_tokens": 1}}}},
            {"event": "message_delta", "data": {"type": "message_delta", "usage": {"output_tokens": 15}}}]});
        says(&events, "claude-x", 30, 15);
        let response = json!({"events": [{"data": {"type": "response.created", "response": {"model": "gpt-y", "usage": null}}},
            {"data": {"type": "response.completed",
                "response": {"model": "gpt-y", "usage": {"input_tokens": 5, "output_tokens": 3}}}}]});
        says(&response, "gpt-y", 5, 3);
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        for answer in
            [json!("hi"), json!(null), json!({"usage": 7}), json!({"model": ""}), json!([[]])]
        {
            assert_eq!(ModelUsage::of(&answer), ModelUsage::default(), "{answer}");
        }
        let named = ModelUsage::of(&json!({"model": "m"}));
        assert_eq!((named.model.as_deref(), named.input), (Some("m"), None));
        let mut deep = json!({"model": "m"});
        for _ in 0..1000 {
            deep = json!({"body": deep});
        }
        assert_eq!(ModelUsage::of(&deep), ModelUsage::default());
    }
}
