//! Tasks as they are submitted, read, listed and canceled.

use quipu_harness::{Harness, Page, SESSION_DEFAULT, TaskFilter, WORKSPACE_DEFAULT, WriteRequest};
use quipu_wire::harn::{
    CancelTaskRequest, HarnError, HarnErrorCode, HarnTask, IdempotencyKey, ResourceKind,
    SubmitTaskRequest, TaskState,
};
use serde_json::{Value, json};

use crate::support::{
    asked, caller, claim, complete, coordinate, harness, persona, private_session, submit,
};

async fn try_submit(
    harness: &Harness,
    asked: &WriteRequest,
    body: Value,
) -> Result<HarnTask, HarnError> {
    let request = SubmitTaskRequest::parse(body, None).unwrap();
    harness.submit_task(asked, request).await.map(|submitted| submitted.task)
}

fn keyed(agent: &str, key: &str) -> WriteRequest {
    WriteRequest { key: Some(IdempotencyKey::parse(key.as_bytes()).unwrap()), ..asked(agent) }
}

fn waiting(persona: &str) -> Value {
    json!({"session_id": SESSION_DEFAULT, "persona_id": persona, "input": "price it"})
}

#[tokio::test]
async fn a_task_of_another_persona_waits_for_a_worker() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let task = try_submit(&harness, &asked("alice"), waiting(&persona)).await.unwrap();
    assert_eq!(task.status, TaskState::Submitted);
    assert_eq!((task.created_by.as_str(), task.persona_id.as_ref()), ("alice", Some(&persona)));
    assert_eq!(
        (task.session_id.as_str(), task.workspace_id.as_str()),
        (SESSION_DEFAULT, WORKSPACE_DEFAULT)
    );
    assert_eq!(harness.task(&caller("bob"), &task.envelope.id).await.unwrap(), task);
    let none = [&task.started_at, &task.completed_at, &task.canceled_at, &task.receipt_id];
    assert!(none.into_iter().all(Option::is_none));
}

#[tokio::test]
async fn a_key_makes_one_task_whichever_path_it_comes_by_and_never_another() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let (alice, body) = (keyed("alice", "k"), waiting(&persona));
    let first = try_submit(&harness, &alice, body.clone()).await.unwrap();
    let mut bare = body.clone();
    bare.as_object_mut().unwrap().remove("session_id");
    let request = SubmitTaskRequest::parse(bare, Some(SESSION_DEFAULT)).unwrap();
    let again = harness.submit_task(&alice, request).await.unwrap();
    assert_eq!((again.task.envelope.id, again.reused), (first.envelope.id.clone(), true));
    let mut other = body.clone();
    other["input"] = json!("something else");
    let refused = try_submit(&harness, &alice, other).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::IdempotencyKeyReused);
    let of_bob = try_submit(&harness, &keyed("bob", "k"), body).await.unwrap();
    assert_ne!(of_bob.envelope.id, first.envelope.id, "a key is its actor's");
}

#[tokio::test]
async fn what_a_submission_names_must_be_known_to_who_submits() {
    let harness = harness();
    private_session(&harness, "carol", "secret-plans").await;
    let of = |member: &str, value: &str| {
        let mut body = json!({"session_id": SESSION_DEFAULT, "input": "x"});
        body[member] = json!(value);
        body
    };
    for (member, value, status) in [
        ("session_id", "session_nowhere", 404),
        ("session_id", "secret-plans", 404),
        ("persona_id", "persona_nobody", 404),
        ("branch_id", "branch_none", 404),
        ("parent_task_id", "task_none", 404),
        ("workspace_id", "workspace_other", 400),
    ] {
        let refused = try_submit(&harness, &asked("alice"), of(member, value)).await.unwrap_err();
        assert_eq!((refused.code.http_status(), refused.param.as_deref()), (status, Some(member)));
    }
    let page = Page::first(ResourceKind::Task);
    let none = harness.tasks(&caller("alice"), page, TaskFilter::default()).await.unwrap();
    assert!(none.data.is_empty(), "nothing was made");
}

#[tokio::test]
async fn tasks_are_listed_in_the_order_of_their_making_page_by_page_also_those_of_coordinate() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let mut made = Vec::new();
    for number in 0..5 {
        if number == 2 {
            let create = json!({"action": "create",
                "task": {"id": "a-task", "title": "T", "intent": {"purpose": "P"}}});
            coordinate(&harness, "c-1", "alice", create).await;
            made.push("a-task".to_owned());
        } else {
            made.push(submit(&harness, json!({"persona_id": persona, "input": "x"})).await);
        }
    }
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = Page::read(ResourceKind::Task, Some("2"), cursor.as_deref()).unwrap();
        let list = harness.tasks(&caller("bob"), page, TaskFilter::default()).await.unwrap();
        seen.extend(list.data.iter().map(|task| task.envelope.id.clone()));
        cursor = list.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, made);
    let task = harness.task(&caller("bob"), "a-task").await.unwrap();
    assert_eq!((task.status, task.session_id.as_str()), (TaskState::Submitted, SESSION_DEFAULT));
    let filter = TaskFilter { session: Some("elsewhere".to_owned()), ..TaskFilter::default() };
    let page = Page::first(ResourceKind::Task);
    assert!(harness.tasks(&caller("bob"), page, filter).await.unwrap().data.is_empty());
}

#[tokio::test]
async fn the_tasks_of_a_hidden_session_are_nowhere() {
    let harness = harness();
    private_session(&harness, "carol", "secret-plans").await;
    let body = json!({"session_id": "secret-plans", "input": "x"});
    let id = try_submit(&harness, &asked("carol"), body).await.unwrap().envelope.id;
    let refused = harness.task(&caller("alice"), &id).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::ResourceNotFound);
    let cancel = CancelTaskRequest::default();
    let refused = harness.cancel_task(&asked("alice"), &id, cancel).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::ResourceNotFound);
    let page = Page::first(ResourceKind::Task);
    let listed = harness.tasks(&caller("alice"), page, TaskFilter::default()).await.unwrap();
    assert!(listed.data.is_empty());
    assert_eq!(harness.task(&caller("carol"), &id).await.unwrap().envelope.id, id);
}

#[tokio::test]
async fn what_is_not_for_everybody_is_shown_to_nobody_else() {
    let harness = harness();
    let part = |text: &str, seen: &str| json!({"type": "text", "text": text, "visibility": seen});
    let parts = [part("open", "public"), part("inner", "internal"), part("proof", "receipt_only")];
    let input = json!({"role": "user", "parts": parts});
    let persona = persona(&harness, "required").await;
    let id = submit(&harness, json!({"persona_id": persona, "input": input})).await;
    let shown = async |authority| {
        let reader = quipu_harness::Caller::new("r", authority);
        let task = harness.task(&reader, &id).await.unwrap();
        serde_json::to_string(&task.input).unwrap()
    };
    let (anybody, operator) = (shown(7).await, shown(8).await);
    assert!(anybody.contains("open") && !anybody.contains("inner") && !anybody.contains("proof"));
    assert!(anybody.contains(r#""redacted":"receipt_only""#), "{anybody}");
    assert!(operator.contains("inner") && !operator.contains("proof"));
}

#[tokio::test]
async fn canceling_twice_is_canceling_once_and_what_ended_otherwise_stays() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let body = json!({"persona_id": persona, "input": "x"});
    let id = submit(&harness, body.clone()).await;
    let cancel = |agent, id: String| {
        let request = CancelTaskRequest { reason: Some("no longer needed".to_owned()) };
        let harness = harness.clone();
        async move { harness.cancel_task(&asked(agent), &id, request).await }
    };
    let refused = cancel("mallory", id.clone()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied, "it is another's");
    let first = cancel("alice", id.clone()).await.unwrap();
    assert_eq!(first.status, TaskState::Canceled);
    assert!(first.canceled_at.is_some() && first.completed_at.is_none());
    assert_eq!(cancel("alice", id.clone()).await.unwrap(), first);
    let done = submit(&harness, body).await;
    claim(&harness, &done).await;
    complete(&harness, &done).await;
    assert_eq!(cancel("alice", done).await.unwrap_err().code, HarnErrorCode::Conflict);
    let refused = cancel("alice", "task_nowhere".to_owned()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn a_key_that_canceled_one_way_does_not_cancel_another() {
    let harness = harness();
    let persona = persona(&harness, "required").await;
    let id = submit(&harness, json!({"persona_id": persona, "input": "x"})).await;
    let mut alice = keyed("alice", "c");
    harness.cancel_task(&alice, &id, CancelTaskRequest::default()).await.unwrap();
    harness.cancel_task(&alice, &id, CancelTaskRequest::default()).await.unwrap();
    alice.digest = quipu_wire::harn::Sha256::of(b"another body");
    let refused = harness.cancel_task(&alice, &id, CancelTaskRequest::default()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::IdempotencyKeyReused);
}

#[tokio::test]
async fn of_submissions_at_one_moment_a_hard_quota_lets_as_many_through_as_it_has_places() {
    let harness = harness();
    let mut operator = asked("alice");
    operator.caller.authority = 8;
    let body = json!({"scope": "tenant", "limits": {"tasks": 2}});
    let request = quipu_wire::harn::CreateQuotaRequest::parse(body).unwrap();
    harness.create_quota(&operator, request).await.unwrap();
    let persona = persona(&harness, "required").await;
    let submit = || {
        let body = json!({"persona_id": persona, "input": "count"});
        let request = SubmitTaskRequest::parse(body, Some("session_default")).unwrap();
        let harness = harness.clone();
        tokio::spawn(async move { harness.submit_task(&asked("alice"), request).await })
    };
    let submitted: Vec<_> = (0..12).map(|_| submit()).collect();
    let mut taken = 0;
    for submitted in submitted {
        match submitted.await.unwrap() {
            Ok(_) => taken += 1,
            Err(error) => assert_eq!(error.code, HarnErrorCode::RateLimited),
        }
    }
    assert_eq!(taken, 2);
}
