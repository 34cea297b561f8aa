//! What a client finds: tools, their schemas and hints, resources, prompts.

use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};

use crate::support::{BOTH, Generation, TinyField, connect};

#[tokio::test]
async fn the_tools_are_these_and_are_described_so() {
    let connected = connect(&TinyField::default(), Generation::WithSessions).await;
    let tools = connected.client.list_all_tools().await.unwrap();
    insta::assert_json_snapshot!(tools);
}

#[tokio::test]
async fn a_tool_that_may_hide_end_or_remove_something_says_so_and_no_other_does() {
    let connected = connect(&TinyField::default(), Generation::WithSessions).await;
    let destroys = [
        "akashik_deregister",
        "akashik_record",
        "akashik_merge",
        "akashik_compact",
        "akashik_coordinate",
        "akashik_handoff",
        "akashik_session",
    ];
    for tool in connected.client.list_all_tools().await.unwrap() {
        let says = tool.annotations.and_then(|hints| hints.destructive_hint);
        assert_eq!(says, Some(destroys.contains(&&*tool.name)), "{}", tool.name);
    }
}

#[tokio::test]
async fn both_generations_list_the_same() {
    let mut lists = Vec::new();
    for generation in BOTH {
        let connected = connect(&TinyField::default(), generation).await;
        let client = &connected.client;
        lists.push((
            client.list_all_tools().await.unwrap(),
            client.list_all_prompts().await.unwrap(),
            client.list_all_resource_templates().await.unwrap(),
        ));
    }
    assert_eq!(lists[0], lists[1]);
}

/// Every example that a description gives must fit the schema that stands beside it: its keys, at least.
#[tokio::test]
async fn the_examples_use_only_arguments_that_exist_and_all_that_are_required() {
    let connected = connect(&TinyField::default(), Generation::WithSessions).await;
    for tool in connected.client.list_all_tools().await.unwrap() {
        let description = tool.description.clone().unwrap();
        let examples: Vec<Value> = description
            .lines()
            .filter_map(|line| line.strip_prefix("Example: "))
            .map(|example| serde_json::from_str(example).unwrap())
            .collect();
        assert!(!examples.is_empty(), "{} has no example", tool.name);
        let schema = Value::Object((*tool.input_schema).clone());
        examples.iter().for_each(|example| fits(&tool.name, example, &schema));
    }
}

fn fits(place: &str, value: &Value, schema: &Value) {
    if let Some(words) = schema.get("enum") {
        assert!(words.as_array().unwrap().contains(value), "{place}: {value}");
    }
    if let (Value::Array(entries), Some(items)) = (value, schema.get("items")) {
        entries.iter().for_each(|entry| fits(place, entry, items));
    }
    let (Value::Object(object), Some(properties)) = (value, schema.get("properties")) else {
        return;
    };
    for (key, value) in object {
        let property = properties.get(key).unwrap_or_else(|| panic!("{place} has no {key}"));
        fits(&format!("{place}.{key}"), value, property);
    }
    for required in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        assert!(object.contains_key(required.as_str().unwrap()), "{place} lacks {required}");
    }
}

#[tokio::test]
async fn prompts_are_filled_in_and_say_what_they_lack() {
    let connected = connect(&TinyField::default(), Generation::WithSessions).await;
    let mut ask = GetPromptRequestParams::new("attune-before-you-act");
    let error = connected.client.get_prompt(ask.clone()).await.unwrap_err();
    assert!(error.to_string().contains("task"), "{error}");
    ask.arguments = json!({"task": "cut the release"}).as_object().cloned();
    let prompt = connected.client.get_prompt(ask).await.unwrap();
    let text = &prompt.messages[0].content.as_text().unwrap().text;
    assert!(text.contains("cut the release") && text.contains("akashik_attune"), "{text}");
    let record = GetPromptRequestParams::new("record-what-you-learned");
    assert_eq!(connected.client.get_prompt(record).await.unwrap().messages.len(), 1);
    let unknown = connected.client.get_prompt(GetPromptRequestParams::new("x")).await;
    assert!(unknown.unwrap_err().to_string().contains("Unknown prompt"));
}
