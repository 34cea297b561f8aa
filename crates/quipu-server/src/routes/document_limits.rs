//! What derived schemas do not say: how much each property of a payload may hold, from the constants that the
//! checks use, and which words are an object too.

use quipu_wire::{
    akashik::TemporalLayer,
    limits::{
        ATTUNE_UNITS_MAX, AUTHORITY_MAX, COMPACT_REASON_BYTES_MAX, COMPACT_UNITS_MAX,
        CONTENT_BYTES_MAX, ID_BYTES_MAX, LEAST_AUTHORITY_ROWS_MAX, LIST_ENTRIES_MAX, PRIORITY_MAX,
        RECORD_UNITS_MAX, RELATIONS_MAX, REPLAY_WITHOUT_MAX, RESTORE_UNITS_MAX, TEXT_BYTES_MAX,
    },
};
use utoipa::openapi::{
    Object, RefOr, Schema, Type,
    schema::{AnyOfBuilder, ArrayItems, SchemaType},
};

use crate::{limits::KEY_LABEL_BYTES_MAX, pipeline::route::Schemas};

/// The most that a property holds: characters of a text, entries of a list, or the largest number. What ends in `[]` is
/// each entry of the list.
const LIMITS: [(&str, &str, usize); 103] = [
    ("AttunePayload", "context_hint", TEXT_BYTES_MAX),
    ("CompactFilter", "agent", ID_BYTES_MAX),
    ("CompactFilter", "key", ID_BYTES_MAX),
    ("CompactFilter", "older_than", ID_BYTES_MAX),
    ("CompactFilter", "session_id", ID_BYTES_MAX),
    ("CompactFilter", "status", LIST_ENTRIES_MAX),
    ("CompactFilter", "types", LIST_ENTRIES_MAX),
    ("CompactFilter", "unit_ids", COMPACT_UNITS_MAX),
    ("CompactFilter", "unit_ids[]", ID_BYTES_MAX),
    ("CompactPayload", "reason", COMPACT_REASON_BYTES_MAX),
    ("Confidence", "assumptions", LIST_ENTRIES_MAX),
    ("Confidence", "assumptions[]", TEXT_BYTES_MAX),
    ("Confidence", "evidence", LIST_ENTRIES_MAX),
    ("Confidence", "evidence[]", TEXT_BYTES_MAX),
    ("Confidence", "reasoning", TEXT_BYTES_MAX),
    ("CoordinatePayload", "assignee", ID_BYTES_MAX),
    ("CoordinatePayload", "reason", TEXT_BYTES_MAX),
    ("CoordinatePayload", "task_id", ID_BYTES_MAX),
    ("CreateKey", "agent", ID_BYTES_MAX),
    ("CreateKey", "authority", AUTHORITY_MAX as usize),
    ("CreateKey", "field", ID_BYTES_MAX),
    ("CreateKey", "label", KEY_LABEL_BYTES_MAX),
    ("CreateKey", "roles", LIST_ENTRIES_MAX),
    ("CreateKey", "roles[]", ID_BYTES_MAX),
    ("DeregisterPayload", "agent_id", ID_BYTES_MAX),
    ("DetectFilter", "involving_agents", LIST_ENTRIES_MAX),
    ("DetectFilter", "involving_agents[]", TEXT_BYTES_MAX),
    ("DetectFilter", "status", LIST_ENTRIES_MAX),
    ("DetectFilter", "types", LIST_ENTRIES_MAX),
    ("DetectPayload", "cursor", ID_BYTES_MAX),
    ("DetectPayload", "target_id", ID_BYTES_MAX),
    ("HandoffContext", "assumptions", LIST_ENTRIES_MAX),
    ("HandoffContext", "assumptions[]", TEXT_BYTES_MAX),
    ("HandoffContext", "conflict_ids", LIST_ENTRIES_MAX),
    ("HandoffContext", "conflict_ids[]", ID_BYTES_MAX),
    ("HandoffContext", "decisions", LIST_ENTRIES_MAX),
    ("HandoffContext", "decisions[]", TEXT_BYTES_MAX),
    ("HandoffContext", "memory_unit_ids", LIST_ENTRIES_MAX),
    ("HandoffContext", "memory_unit_ids[]", ID_BYTES_MAX),
    ("HandoffContext", "next_steps", LIST_ENTRIES_MAX),
    ("HandoffContext", "next_steps[]", TEXT_BYTES_MAX),
    ("HandoffContext", "open_questions", LIST_ENTRIES_MAX),
    ("HandoffContext", "open_questions[]", TEXT_BYTES_MAX),
    ("HandoffContext", "summary", TEXT_BYTES_MAX),
    ("HandoffPayload", "handoff_id", ID_BYTES_MAX),
    ("HandoffPayload", "reason", TEXT_BYTES_MAX),
    ("HandoffPayload", "task_id", ID_BYTES_MAX),
    ("HandoffPayload", "to_agent", ID_BYTES_MAX),
    ("Intent", "purpose", TEXT_BYTES_MAX),
    ("Intent", "question", TEXT_BYTES_MAX),
    ("Intent", "task_id", ID_BYTES_MAX),
    ("LeastAuthorityChange", "authority", AUTHORITY_MAX as usize),
    ("LeastAuthorityPayload", "least", LEAST_AUTHORITY_ROWS_MAX),
    ("MergePayload", "conflict_id", ID_BYTES_MAX),
    ("MergeResolution", "rationale", TEXT_BYTES_MAX),
    ("MergeResolution", "synthesis", CONTENT_BYTES_MAX),
    ("MergeResolution", "winner_id", ID_BYTES_MAX),
    ("RecordPayload", "content", CONTENT_BYTES_MAX),
    ("RecordPayload", "relations", RELATIONS_MAX),
    ("RecordsPayload", "units", RECORD_UNITS_MAX),
    ("RegisterPayload", "authority_level", AUTHORITY_MAX as usize),
    ("RegisterPayload", "id", ID_BYTES_MAX),
    ("RegisterPayload", "interests", LIST_ENTRIES_MAX),
    ("RegisterPayload", "interests[]", TEXT_BYTES_MAX),
    ("RegisterPayload", "required_operations", LIST_ENTRIES_MAX),
    ("RegisterPayload", "required_operations[]", TEXT_BYTES_MAX),
    ("RegisterPayload", "role", ID_BYTES_MAX),
    ("Relation", "description", TEXT_BYTES_MAX),
    ("Relation", "target_id", ID_BYTES_MAX),
    ("ReplayPayload", "target_id", ID_BYTES_MAX),
    ("ReplayPayload", "without", REPLAY_WITHOUT_MAX),
    ("ReplayPayload", "without[]", ID_BYTES_MAX),
    ("RestorePayload", "unit_ids", RESTORE_UNITS_MAX),
    ("RestorePayload", "unit_ids[]", ID_BYTES_MAX),
    ("RetractIntent", "purpose", TEXT_BYTES_MAX),
    ("RetractPayload", "unit_id", ID_BYTES_MAX),
    ("Scope", "active_task_id", ID_BYTES_MAX),
    ("Scope", "interests", LIST_ENTRIES_MAX),
    ("Scope", "interests[]", TEXT_BYTES_MAX),
    ("Scope", "max_units", ATTUNE_UNITS_MAX),
    ("Scope", "role", ID_BYTES_MAX),
    ("Scope", "temporal_layers", TemporalLayer::ALL.len()),
    ("SessionDraft", "goal", TEXT_BYTES_MAX),
    ("SessionPayload", "agent_id", ID_BYTES_MAX),
    ("SessionPayload", "session_id", ID_BYTES_MAX),
    ("SessionPolicy", "visibility_rules", LIST_ENTRIES_MAX),
    ("SubscriptionRequest", "events", LIST_ENTRIES_MAX),
    ("SubscriptionRequest", "id", ID_BYTES_MAX),
    ("TaskDraft", "depends_on", LIST_ENTRIES_MAX),
    ("TaskDraft", "depends_on[]", ID_BYTES_MAX),
    ("TaskDraft", "id", ID_BYTES_MAX),
    ("TaskDraft", "priority", PRIORITY_MAX as usize),
    ("TaskDraft", "result_unit_ids", LIST_ENTRIES_MAX),
    ("TaskDraft", "result_unit_ids[]", ID_BYTES_MAX),
    ("TaskDraft", "title", TEXT_BYTES_MAX),
    ("TaskFilter", "assigned_to", ID_BYTES_MAX),
    ("TaskFilter", "created_by", ID_BYTES_MAX),
    ("TaskFilter", "status", LIST_ENTRIES_MAX),
    ("TaskIntent", "purpose", TEXT_BYTES_MAX),
    ("TaskIntent", "question", TEXT_BYTES_MAX),
    ("VisibilityRule", "allow_types", LIST_ENTRIES_MAX),
    ("VisibilityRule", "deny_types", LIST_ENTRIES_MAX),
    ("VisibilityRule", "role", ID_BYTES_MAX),
];

pub(super) fn complete(schemas: &mut Schemas) {
    for (name, property, most) in LIMITS {
        if let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(name)
            && let Some(RefOr::T(schema)) = named(object, property)
        {
            limit(schema, most);
        }
    }
    if let Some(RefOr::T(input)) = schemas.get_mut("TaskInput")
        && let Schema::OneOf(one) = input
    {
        // Words are an object too, so that both may hold.
        let any = AnyOfBuilder::new().description(one.description.take());
        *input = one.items.drain(..).fold(any, AnyOfBuilder::item).into();
    }
}

/// A property, or what is in the list that it is.
fn named<'o>(object: &'o mut Object, property: &str) -> Option<&'o mut RefOr<Schema>> {
    let Some(list) = property.strip_suffix("[]") else {
        return object.properties.get_mut(property);
    };
    let RefOr::T(Schema::Array(list)) = object.properties.get_mut(list)? else { return None };
    match &mut list.items {
        ArrayItems::RefOrSchema(items) => Some(items),
        ArrayItems::False => None,
    }
}

fn limit(schema: &mut Schema, most: usize) {
    if let Schema::Array(list) = schema {
        list.max_items = Some(most);
    } else if let Schema::Object(object) = schema {
        if is_text(object) {
            object.max_length = Some(most);
        } else {
            object.maximum = Some(most.into());
        }
    }
}

fn is_text(object: &Object) -> bool {
    match &object.schema_type {
        SchemaType::Type(kind) => *kind == Type::String,
        SchemaType::Array(kinds) => kinds.contains(&Type::String),
        SchemaType::AnyValue => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn every_limit_is_one_of_a_property_that_exists() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        for (name, property, most) in LIMITS {
            let of = property.strip_suffix("[]");
            let property =
                &document["components"]["schemas"][name]["properties"][of.unwrap_or(property)];
            let schema = if of.is_some() { &property["items"] } else { property };
            let words = ["maxItems", "maxLength", "maximum"];
            let limits: Vec<_> = words.iter().filter_map(|word| schema[word].as_u64()).collect();
            assert_eq!(limits, [most as u64], "{name}.{property}: {schema}");
        }
    }

    /// Where a schema has texts and lists of any length, also in what it refers to.
    fn unlimited(document: &Value, schema: &Value, path: &str, found: &mut BTreeSet<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            return unlimited(document, &document["components"]["schemas"][name], name, found);
        }
        let is = |kind: &str| {
            let types = &schema["type"];
            types == kind || types.as_array().is_some_and(|types| types.contains(&kind.into()))
        };
        let is_open = is("string") && schema["enum"].is_null() && schema["maxLength"].is_null();
        if is_open || (is("array") && schema["maxItems"].is_null()) {
            found.insert(path.to_owned());
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            unlimited(document, property, &format!("{path}.{name}"), found);
        }
        for one in
            ["oneOf", "anyOf", "allOf"].iter().filter_map(|of| schema[of].as_array()).flatten()
        {
            unlimited(document, one, path, found);
        }
        if !schema["items"].is_null() {
            unlimited(document, &schema["items"], &format!("{path}[]"), found);
        }
    }

    #[test]
    fn every_text_and_list_of_a_message_has_its_limit() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        let (mut found, mut messages) = (BTreeSet::new(), 0);
        for operation in
            document["paths"].as_object().unwrap().values().filter_map(|it| it.get("post"))
        {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            if operation["tags"][0] != "harn" && !body.is_null() {
                messages += 1;
                unlimited(&document, body, "", &mut found);
            }
        }
        assert!(messages >= 16, "{messages}");
        assert_eq!(found, BTreeSet::new());
    }
}
