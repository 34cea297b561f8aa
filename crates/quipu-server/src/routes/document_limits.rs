//! What derived schemas do not say: how much each property of a payload may hold, from the constants that the
//! checks use, and which words are an object too.

use quipu_wire::limits::{
    ATTUNE_UNITS_MAX, AUTHORITY_MAX, COMPACT_REASON_BYTES_MAX, CONTENT_BYTES_MAX, ID_BYTES_MAX,
    LIST_ENTRIES_MAX, RECORD_UNITS_MAX, RELATIONS_MAX, RESTORE_UNITS_MAX, TEXT_BYTES_MAX,
};
use utoipa::openapi::{
    RefOr, Schema, Type,
    schema::{AnyOfBuilder, SchemaType},
};

use crate::{limits::KEY_LABEL_BYTES_MAX, pipeline::route::Schemas};

/// The most that a property holds: characters of a text, entries of a list, or the largest number.
const LIMITS: [(&str, &str, usize); 26] = [
    ("AttunePayload", "context_hint", TEXT_BYTES_MAX),
    ("Scope", "max_units", ATTUNE_UNITS_MAX),
    ("CompactPayload", "reason", COMPACT_REASON_BYTES_MAX),
    ("CreateKey", "agent", ID_BYTES_MAX),
    ("CreateKey", "authority", AUTHORITY_MAX as usize),
    ("CreateKey", "label", KEY_LABEL_BYTES_MAX),
    ("DeregisterPayload", "agent_id", ID_BYTES_MAX),
    ("DetectPayload", "target_id", ID_BYTES_MAX),
    ("HandoffPayload", "handoff_id", ID_BYTES_MAX),
    ("HandoffPayload", "task_id", ID_BYTES_MAX),
    ("HandoffPayload", "to_agent", ID_BYTES_MAX),
    ("Intent", "purpose", TEXT_BYTES_MAX),
    ("Intent", "question", TEXT_BYTES_MAX),
    ("Intent", "task_id", ID_BYTES_MAX),
    ("MergePayload", "conflict_id", ID_BYTES_MAX),
    ("RecordPayload", "content", CONTENT_BYTES_MAX),
    ("RecordPayload", "relations", RELATIONS_MAX),
    ("RecordsPayload", "units", RECORD_UNITS_MAX),
    ("RegisterPayload", "authority_level", AUTHORITY_MAX as usize),
    ("RegisterPayload", "id", ID_BYTES_MAX),
    ("RegisterPayload", "interests", LIST_ENTRIES_MAX),
    ("RegisterPayload", "role", TEXT_BYTES_MAX),
    ("ReplayPayload", "target_id", ID_BYTES_MAX),
    ("LeastAuthorityChange", "authority", AUTHORITY_MAX as usize),
    ("RestorePayload", "unit_ids", RESTORE_UNITS_MAX),
    ("RetractPayload", "unit_id", ID_BYTES_MAX),
];

/// Adds it.
pub(super) fn complete(schemas: &mut Schemas) {
    for (name, property, most) in LIMITS {
        if let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(name)
            && let Some(RefOr::T(schema)) = object.properties.get_mut(property)
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

fn is_text(object: &utoipa::openapi::Object) -> bool {
    match &object.schema_type {
        SchemaType::Type(kind) => *kind == Type::String,
        SchemaType::Array(kinds) => kinds.contains(&Type::String),
        SchemaType::AnyValue => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_one_of_a_property_that_exists() {
        let document = serde_json::to_value(crate::openapi()).unwrap();
        for (name, property, most) in LIMITS {
            let schema = &document["components"]["schemas"][name]["properties"][property];
            let words = ["maxItems", "maxLength", "maximum"];
            let limits: Vec<_> = words.iter().filter_map(|word| schema[word].as_u64()).collect();
            assert_eq!(limits, [most as u64], "{name}.{property}: {schema}");
        }
    }
}
