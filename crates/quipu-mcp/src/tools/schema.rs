//! The JSON Schemas of the tools, made from those of the wire's types. References are replaced by what they refer to,
//! because not every host resolves them.

use serde_json::{Map, Value, json};
use utoipa::{
    ToSchema,
    openapi::{RefOr, schema::Schema},
};

const REFERENCE: &str = "#/components/schemas/";

/// Whether a schema describes what a model sends or what it receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The model sends it, and never has to send null.
    In,
    /// The model receives it.
    Out,
}

/// The schema of a type without any reference.
pub(crate) fn of<T: ToSchema>(way: Way) -> Map<String, Value> {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let whole = Inliner { parts: &parts, way, within: Vec::new() }.inline(json_of(&T::schema()));
    if let Value::Object(object) = whole { object } else { Map::new() }
}

fn json_of(schema: &RefOr<Schema>) -> Value {
    // A schema consists of strings and numbers, which always have a JSON form.
    serde_json::to_value(schema).unwrap_or_default()
}

struct Inliner<'a> {
    parts: &'a [(String, RefOr<Schema>)],
    way: Way,
    /// The references that are being resolved. One that leads back to itself is cut.
    within: Vec<String>,
}

impl Inliner<'_> {
    fn inline(&mut self, schema: Value) -> Value {
        match schema {
            Value::Array(entries) => entries.into_iter().map(|entry| self.inline(entry)).collect(),
            Value::Object(object) => self.inline_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema,
        }
    }

    fn inline_object(&mut self, mut object: Map<String, Value>) -> Value {
        if let Some(target) = object.remove("$ref") {
            return self.follow(&target, object);
        }
        // Removes formats such as int64, which only OpenAPI defines: hosts that check formats refuse unknown ones. If
        // the value is an object, `format` is the name of a property instead.
        object.retain(|key, value| key != "format" || !value.is_string());
        let mut inlined: Map<String, Value> =
            object.into_iter().map(|(key, value)| (key, self.inline(value))).collect();
        // An untagged enum is valid if any of its variants is.
        if let Some(Value::Array(variants)) = inlined.remove("oneOf") {
            return self.variants(variants, inlined);
        }
        if self.way == Way::In {
            without_null(&mut inlined);
        }
        plainer(&mut inlined);
        Value::Object(inlined)
    }

    fn follow(&mut self, target: &Value, beside: Map<String, Value>) -> Value {
        let name = target.as_str().and_then(|target| target.strip_prefix(REFERENCE));
        let found = name.and_then(|name| self.parts.iter().find(|(part, _)| part == name));
        let Some((name, part)) = found else { return json!({}) };
        if self.within.contains(name) {
            return json!({"type": "object"});
        }
        self.within.push(name.clone());
        let mut whole = self.inline(json_of(part));
        self.within.pop();
        if let Some(object) = whole.as_object_mut() {
            // The description at the reference is more specific than that of the type.
            object.extend(beside);
            plainer(object);
        }
        whole
    }

    fn variants(&self, mut variants: Vec<Value>, mut beside: Map<String, Value>) -> Value {
        if self.way == Way::In {
            variants.retain(|variant| variant != &json!({"type": "null"}));
            if let [Value::Object(only)] = variants.as_mut_slice() {
                only.extend(beside);
                return Value::Object(std::mem::take(only));
            }
        }
        beside.insert("anyOf".to_owned(), Value::Array(variants));
        Value::Object(beside)
    }
}

/// Turns `["string", "null"]` into `"string"`.
fn without_null(object: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = object.get_mut("type") else { return };
    types.retain(|kind| kind != "null");
    if let [only] = types.as_mut_slice() {
        let only = only.take();
        object.insert("type".to_owned(), only);
    }
}

/// Removes the prefix `Ours: `: whether a part is in the protocol or added by Quipu is of no use to a model.
fn plainer(object: &mut Map<String, Value>) {
    let Some(Value::String(text)) = object.get_mut("description") else { return };
    if let Some(rest) = text.strip_prefix("Ours: ") {
        let mut letters = rest.chars();
        *text = letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect())
            .unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::akashik::{AttunePayload, AttuneResponse, RecordPayload};

    #[test]
    fn references_are_replaced_by_what_they_lead_to() {
        for way in [Way::In, Way::Out] {
            let text = serde_json::to_string(&of::<AttuneResponse>(way)).unwrap();
            assert!(!text.contains("$ref"), "{text}");
            assert!(text.contains("relevance_score") && text.contains("human_directive"));
        }
    }

    #[test]
    fn what_is_said_of_a_use_stands_where_the_type_says_something_else() {
        let schema = of::<RecordPayload>(Way::In);
        assert_eq!(schema["properties"]["intent"]["description"], "Why it is recorded.");
        assert_eq!(schema["required"], json!(["type", "content", "intent"]));
    }

    #[test]
    fn formats_of_openapi_are_left_out_and_a_property_of_that_name_is_not() {
        let schema = of::<AttunePayload>(Way::In);
        assert_eq!(schema["properties"]["format"]["enum"], json!(["full", "summary", "ids_only"]));
        assert_eq!(schema["properties"]["since_epoch"].get("format"), None);
    }

    #[test]
    fn null_is_left_out_of_what_a_model_sends_and_stays_in_what_it_is_sent() {
        let way_in = of::<RecordPayload>(Way::In);
        assert_eq!(way_in["properties"]["confidence"]["type"], "object");
        assert_eq!(way_in["properties"]["intent"]["properties"]["task_id"]["type"], "string");
        let out = of::<RecordPayload>(Way::Out);
        let variants = out["properties"]["confidence"]["anyOf"].as_array().unwrap();
        assert!(variants.contains(&json!({"type": "null"})));
    }
}
