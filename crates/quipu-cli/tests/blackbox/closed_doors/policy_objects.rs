//! What others work under is written by who owns it, and a vault answers who was given it.

use serde_json::{Value, json};

use super::harn_actor::{Actor, World, persona};

/// Says which of two secrets it was told.
const TELLS: &str = r#"
pub fn review(harness: Harness, input: any) {
  const token = harness.secrets.read("token")
  return {of_operator: token == "canary-operator", of_lead: token == "canary-lead"}
}
"#;

fn limits(tasks: u64) -> Value {
    json!({"scope": "tenant", "limits": {"tasks": tasks}, "hard_limit": true})
}

/// What everybody who may make policy objects makes them with.
fn objects() -> Vec<(&'static str, Value)> {
    vec![
        ("/v1/workspaces", json!({"name": "w", "root": "x://w"})),
        ("/v1/personas", persona("suggest")),
        ("/v1/quotas", limits(1000)),
        ("/v1/vaults", json!({"provider": "quipu", "capabilities": []})),
    ]
}

/// How each object is changed.
fn changes(ids: &[String]) -> Vec<(&'static str, String, Value)> {
    let [workspace, persona, quota, vault] = ids else { panic!("four objects: {ids:?}") };
    let of = |kind: &str, id: &str| format!("/v1/{kind}/{id}");
    vec![
        ("PATCH", of("workspaces", workspace), json!({"name": "mine"})),
        ("PATCH", of("personas", persona), json!({"description": "does as I like"})),
        ("PATCH", of("personas", persona), json!({"metadata": {"by": "me"}})),
        ("PATCH", of("personas", persona), json!({"receipt_policy": "disabled"})),
        ("PATCH", of("quotas", quota), json!({"limits": {"tasks": 900}})),
        ("PUT", of("vaults", vault) + "/secrets/token", json!({"value": "mine"})),
    ]
}

fn made(actor: &mut Actor) -> Vec<String> {
    objects().iter().map(|(path, body)| actor.made(path, body)).collect()
}

#[test]
fn policy_objects_are_made_with_authority_eight() {
    let mut world = World::new();
    for authority in [4, 7] {
        let mut low = world.agent(&format!("low{authority}"), authority);
        for (path, body) in objects() {
            let error = low.refused("POST", path, &body, 403);
            assert_eq!(error["code"], "permission_denied", "{path}: {error}");
        }
    }
    let mut lead = world.agent("lead", 8);
    made(&mut lead);
}

#[test]
fn policy_objects_are_changed_by_their_owner_or_authority_ten_alone() {
    let mut world = World::new();
    let (mut lead, mut other) = (world.agent("lead", 8), world.agent("other", 9));
    let mut low = world.agent("low", 4);
    let (of_operator, of_lead) = (made(&mut world.operator), made(&mut lead));
    for (method, path, body) in changes(&of_operator) {
        for actor in [&mut low, &mut lead, &mut other] {
            let error = actor.refused(method, &path, &body, 403);
            assert_eq!(error["code"], "permission_denied", "{method} {path}: {error}");
        }
        world.operator.done(method, &path, &body);
    }
    for (method, path, body) in changes(&of_lead) {
        other.refused(method, &path, &body, 403);
        lead.done(method, &path, &body);
        world.operator.done(method, &path, &body);
    }
}

#[test]
fn a_limit_is_left_by_who_may_change_it() {
    let mut world = World::new();
    let mut lead = world.agent("lead", 8);
    let own = made(&mut lead);
    let mut body = limits(1);
    body["scope"] = json!("persona");
    let quota = world.operator.made("/v1/quotas", &body);
    for path in [format!("/v1/workspaces/{}", own[0]), format!("/v1/personas/{}", own[1])] {
        world.operator.done("PATCH", &path, &json!({"quota_id": quota}));
        for value in [Value::Null, json!(own[2])] {
            lead.refused("PATCH", &path, &json!({"quota_id": value}), 403);
        }
        lead.done("PATCH", &path, &json!({"metadata": {"still": "mine"}}));
        assert_eq!(lead.read(&path)["quota_id"], quota.as_str());
        world.operator.done("PATCH", &path, &json!({"quota_id": null}));
    }
}

#[test]
fn the_connector_the_policy_and_its_rules_belong_to_who_set_them_up() {
    let mut world = World::new();
    let mut lead = world.agent("lead", 8);
    let hook = "/v1/connectors/connector_webhook";
    let policy = json!({"read": ["src/*"]});
    let rule = json!({"scope": "always", "class": "net", "action_pattern": "*", "target_pattern": "*",
        "allow": false});
    world.operator.done("PATCH", hook, &json!({"secret": "a long random text"}));
    world.operator.done("PUT", "/v1/permissions/policy", &policy);
    let rule = world.operator.made("/v1/permissions/rules", &rule);
    for (method, path, body) in [
        ("PATCH", hook.to_owned(), json!({"secret": "another random text"})),
        ("PATCH", hook.to_owned(), json!({"status": "PAUSED"})),
        ("PUT", "/v1/permissions/policy".to_owned(), json!({"read": ["*"]})),
        ("DELETE", format!("/v1/permissions/rules/{rule}"), Value::Null),
    ] {
        let error = lead.refused(method, &path, &body, 403);
        assert_eq!(error["code"], "permission_denied", "{method} {path}: {error}");
    }
    assert_eq!(lead.read("/v1/permissions/policy")["policy"]["read"], json!(["src/*"]));
    world.operator.done("DELETE", &format!("/v1/permissions/rules/{rule}"), &Value::Null);
}

#[test]
fn a_vault_answers_the_modules_of_its_owner_alone() {
    let mut world = World::new();
    let mut lead = world.agent("lead", 8);
    // The oldest vault was asked first.
    lead.vault("token", "canary-lead");
    let of_operator = world.operator.module(TELLS, &["secrets.read"], &Value::Null);
    let task = lead.submit(&of_operator);
    let failed = lead.ended(&task);
    assert_eq!(failed["failure"]["code"], "secret_unavailable", "{failed}");
    world.operator.vault("token", "canary-operator");
    let told = |of_operator: bool| json!({"of_operator": of_operator, "of_lead": !of_operator});
    let task = lead.submit(&of_operator);
    assert_eq!(lead.output(&task), told(true));
    let replay = lead.made(&format!("/v1/tasks/{task}/replay"), &json!({}));
    assert_eq!(lead.output(&replay), told(true));
    let of_lead = lead.module(TELLS, &["secrets.read"], &Value::Null);
    let task = world.operator.submit(&of_lead);
    assert_eq!(world.operator.output(&task), told(false));
}

#[test]
fn a_module_names_vaults_of_others_where_their_owner_lets_it() {
    let mut world = World::new();
    let mut lead = world.agent("lead", 8);
    let of_lead = lead.vault("token", "canary-lead");
    let of_operator = world.operator.vault("token", "canary-operator");
    let wants = |vault: &str| json!({"vault_ids": [vault]});
    let source = json!({"kind": "file", "mime_type": "text/x-harn", "visibility": "public"});
    let source = lead.artifact(&source, TELLS.as_bytes());
    let mut body = persona("act_auto");
    body["module_ref"] = json!("harn://acme/review@1");
    body["metadata"] = json!({"module_artifact_id": source, "capabilities": ["secrets.read"],
        "vault_ids": [of_operator]});
    let error = lead.refused("POST", "/v1/personas", &body, 403);
    assert_eq!(error["param"], "metadata.vault_ids", "{error}");
    // Authority 10 may give any vault to its own module, and then only that one answers it.
    let persona = world.operator.module(TELLS, &["secrets.read"], &wants(&of_lead));
    let task = lead.submit(&persona);
    assert_eq!(lead.output(&task), json!({"of_operator": false, "of_lead": true}));
    // It may give a vault of its own to a module of another's, who cannot change the module then.
    let persona = lead.module(TELLS, &["secrets.read"], &Value::Null);
    let path = format!("/v1/personas/{persona}");
    let mut metadata = lead.read(&path)["metadata"].clone();
    metadata["vault_ids"] = json!([of_operator]);
    world.operator.done("PATCH", &path, &json!({"metadata": metadata}));
    let task = lead.submit(&persona);
    assert_eq!(lead.output(&task), json!({"of_operator": true, "of_lead": false}));
    lead.refused("PATCH", &path, &json!({"metadata": metadata}), 403);
}

#[test]
fn a_module_that_was_brought_here_reads_the_vaults_of_who_brought_it() {
    let mut world = World::new();
    let mut lead = world.agent("lead", 8);
    world.operator.vault("token", "canary-operator");
    let persona = world.operator.module(TELLS, &["secrets.read"], &Value::Null);
    let task = lead.submit(&persona);
    lead.output(&task);
    let export = lead.read(&format!("/v1/tasks/{task}/export"));
    let copied = export.to_string().replace(&task, "task_copied");
    let mut copied: Value = serde_json::from_str(&copied).unwrap();
    copied.as_object_mut().unwrap().remove("receipt");
    copied["task"].as_object_mut().unwrap().remove("receipt_id");
    for event in copied["events"].as_array_mut().unwrap() {
        event["id"] = json!(format!("{}_b", event["id"].as_str().unwrap()));
    }
    let mut renamed = copied.to_string();
    for artifact in copied["artifacts"].as_array().unwrap() {
        let id = artifact["artifact"]["id"].as_str().unwrap();
        renamed = renamed.replace(id, &format!("{id}_b"));
    }
    let copied: Value = serde_json::from_str(&renamed).unwrap();
    lead.done("POST", "/v1/tasks/import", &copied);
    let replay = lead.made("/v1/tasks/task_copied/replay", &json!({}));
    let failed = lead.ended(&replay);
    assert_eq!(failed["status"], "FAILED", "{failed}");
    let missing = &failed["failure"]["details"]["first_unavailable"];
    assert_eq!(missing["id"], "secret:token", "{failed}");
}
