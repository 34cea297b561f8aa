//! Writes of the Harn protocol by their rules: one command is one commit, tasks and sessions are those of
//! COORDINATE and SESSION, a key is answered once.

use std::sync::{Arc, atomic::Ordering};

use quipu_core::{
    DocumentKind, DocumentOwner, Event, Message,
    event::{
        coordination::{ReasonBody, SessionBody, TaskBody},
        documents::{IdempotencyMark, Note, NotedDependency},
    },
    rules::harn::{DocumentDraft, Expect, HarnAct, HarnCommand, NoteDraft},
};
use quipu_field::{
    Field, FieldError, HarnOutcome,
    snapshot::format::{self, SnapshotDir},
};
use quipu_log::{Body, Engine, FieldName, MemoryEngine};
use quipu_wire::{
    ErrorCode, Hash,
    akashik::{CoordinatePayload, SessionPolicy, TaskStatus},
    harn::{DependencyKind, Visibility},
};
use serde_json::json;

use crate::{
    coordinate::with_clock,
    state_from_log::rebuilt,
    support::{message, open},
};

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::new())
}

fn within(agent: &str, session: &str, id: &str) -> Message {
    Message { session: Some(session.to_owned()), ..message(id, agent) }
}

fn weak(agent: &str, session: &str, id: &str) -> Message {
    Message { authority: 4, ..within(agent, session, id) }
}

fn body<T: serde::Serialize>(field: &Field, says: &T) -> Body {
    field.seal(says).unwrap()
}

fn act(act: HarnAct) -> HarnCommand {
    HarnCommand { act: Some(act), ..HarnCommand::default() }
}

async fn open_session(field: &Field) {
    let goal = body(field, &SessionBody { goal: "to test".to_owned() });
    let (session, policy) = ("s".to_owned(), SessionPolicy::default());
    let opened = HarnAct::OpenSession { session, policy, copy_of: None, body: goal };
    field.harn(message("open", "boss"), act(opened)).await.unwrap();
}

async fn submit(field: &Field, task: &str, by_field: bool) -> HarnOutcome {
    let says = TaskBody { title: "work".to_owned(), purpose: "to test".to_owned(), question: None };
    let (task, body) = (task.to_owned(), body(field, &says));
    let submitted = HarnAct::SubmitTask { task: task.clone(), by_field, terms: None, body };
    field.harn(within("boss", "s", &format!("submit-{task}")), act(submitted)).await.unwrap()
}

/// Who works on what is in a session is a member of it.
async fn join(field: &Field, agent: &str) {
    let entered = HarnAct::EnterSession { session: "s".to_owned() };
    let id = format!("join-{agent}-{}", field.head().position);
    field.harn(weak(agent, "s", &id), act(entered)).await.unwrap();
}

async fn claim(field: &Field, agent: &str, task: &str) -> Result<HarnOutcome, FieldError> {
    join(field, agent).await;
    let claimed = HarnAct::ClaimTask { task: task.to_owned(), lease_ms: 1000 };
    let id = format!("claim-{agent}-{}", field.head().position);
    field.harn(weak(agent, "s", &id), act(claimed)).await
}

fn status(field: &Field, task: &str) -> TaskStatus {
    field.with_state(|state| state.tasks.get(task).unwrap().status)
}

fn noted(field: &Field, key: &str) -> HarnCommand {
    let dependency = NotedDependency { key: key.to_owned(), kind: DependencyKind::HostFact };
    let note = Note {
        event: "vendor.dependency.recorded".to_owned(),
        visibility: Visibility::Internal,
        dependency: Some(dependency),
        checkpoint: None,
        imported: None,
    };
    let body = Some(body(field, &json!({"payload": {}, "value": 1})));
    let work = HarnAct::WorkOn { task: "t".to_owned() };
    HarnCommand { notes: vec![NoteDraft { task: "t".to_owned(), note, body }], ..act(work) }
}

#[tokio::test]
async fn who_never_registered_is_let_in_and_may_open_a_session() {
    let field = open(&engine(), None);
    open_session(&field).await;
    let (role, creator) = field.with_state(|state| {
        let agent = state.agents.live("boss").unwrap();
        (agent.role.clone(), state.sessions.get("s").unwrap().creator.clone())
    });
    assert_eq!((role.as_str(), creator.as_str()), ("actor", "boss"));
}

#[tokio::test]
async fn a_credential_that_may_not_write_is_refused_and_leaves_nothing() {
    let field = open(&engine(), None);
    let before = field.head();
    let says = HarnAct::ClaimTask { task: "t".to_owned(), lease_ms: 1000 };
    let weak = Message { authority: 3, ..message("1", "nobody") };
    let refused = field.harn(weak, act(says)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
    assert_eq!(field.head(), before);
}

#[tokio::test]
async fn a_worker_takes_a_task_joins_its_session_and_finishes_it() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    assert_eq!(status(&field, "t"), TaskStatus::Pending);
    claim(&field, "worker", "t").await.unwrap();
    assert_eq!(status(&field, "t"), TaskStatus::InProgress);
    assert!(field.with_state(|state| state.sessions.get("s").unwrap().members.contains("worker")));
    let done = HarnAct::Complete { task: "t".to_owned(), results: Vec::new() };
    field.harn(weak("worker", "s", "done"), act(done)).await.unwrap();
    assert_eq!(status(&field, "t"), TaskStatus::Completed);
    let again = HarnAct::Cancel { task: "t".to_owned(), body: None };
    let refused = field.harn(message("cancel", "boss"), act(again)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
}

#[tokio::test]
async fn of_two_claims_one_wins_and_the_winner_may_claim_again() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    let (one, other) = tokio::join!(claim(&field, "w1", "t"), claim(&field, "w2", "t"));
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let winner = if one.is_ok() { "w1" } else { "w2" };
    claim(&field, winner, "t").await.unwrap();
}

#[tokio::test]
async fn only_who_has_a_task_works_on_it() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    join(&field, "other").await;
    let refused = field.harn(weak("other", "s", "1"), noted(&field, "llm:1")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
    field.harn(weak("worker", "s", "2"), noted(&field, "llm:1")).await.unwrap();
    let fails = ReasonBody { reason: "no".to_owned() };
    let fails = HarnAct::Fail { task: "t".to_owned(), body: body(&field, &fails) };
    assert!(field.harn(weak("other", "s", "3"), act(fails)).await.is_err());
}

#[tokio::test]
async fn an_answer_is_recorded_under_its_key_once() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    field.harn(weak("worker", "s", "1"), noted(&field, "llm:1")).await.unwrap();
    let refused = field.harn(weak("worker", "s", "2"), noted(&field, "llm:1")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
    assert!(refused.to_string().contains("llm:1"), "{}", refused.to_string());
    let keys = field.with_state(|state| {
        let stream = state.streams.task("t").unwrap();
        stream.dependencies.keys().cloned().collect::<Vec<_>>()
    });
    assert_eq!(keys, ["llm:1"]);
}

#[tokio::test]
async fn the_field_begins_its_own_tasks_in_the_commit_that_submits_them() {
    let field = open(&engine(), None);
    open_session(&field).await;
    let outcome = submit(&field, "t", true).await;
    assert_eq!(status(&field, "t"), TaskStatus::InProgress);
    let position = outcome.position.unwrap();
    assert_eq!(field.with_state(|state| state.tasks.get("t").unwrap().changes.clone()), {
        vec![position; 3]
    });
}

#[tokio::test]
async fn what_the_field_waits_for_is_answered_by_whoever_may_write_there_and_nothing_else_is() {
    let field = open(&engine(), None);
    open_session(&field).await;
    let answer = |task: &str| act(HarnAct::Answer { task: task.to_owned() });
    let waits = |task: &str| {
        let body = body(&field, &ReasonBody { reason: "it asks".to_owned() });
        act(HarnAct::Await { task: task.to_owned(), auth: false, body })
    };
    submit(&field, "own", true).await;
    let outside = field.harn(weak("bob", "s", "outside"), answer("own")).await.unwrap_err();
    assert_eq!(outside.code(), ErrorCode::UnitNotFound, "it is for members");
    join(&field, "bob").await;
    let early = field.harn(weak("bob", "s", "early"), answer("own")).await.unwrap_err();
    assert_eq!(early.code(), ErrorCode::InvalidTransition, "it does not wait");
    field.harn(within("system", "s", "ask"), waits("own")).await.unwrap();
    field.harn(weak("bob", "s", "late"), answer("own")).await.unwrap();
    assert_eq!(status(&field, "own"), TaskStatus::InProgress);
    submit(&field, "foreign", false).await;
    claim(&field, "worker", "foreign").await.unwrap();
    field.harn(weak("worker", "s", "wait"), waits("foreign")).await.unwrap();
    let refused = field.harn(weak("bob", "s", "meddle"), answer("foreign")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition, "it is a worker's");
    assert_eq!(status(&field, "foreign"), TaskStatus::Blocked);
}

#[tokio::test]
async fn a_lost_worker_gives_its_task_back_and_time_says_when_it_was_first_begun() {
    let (clock, _, field) = with_clock(None).await;
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    let begun = field.with_state(|state| state.tasks.get("t").unwrap().started_ms);
    clock.now.fetch_add(2000, Ordering::Relaxed);
    claim(&field, "next", "t").await.unwrap();
    let entry = field.with_state(|state| state.tasks.get("t").unwrap().clone());
    assert_eq!(entry.assigned_to.as_deref(), Some("next"));
    assert!(begun.is_some() && entry.started_ms == begun);
}

fn keyed(field: &Field, id: &str, digest: &str, until_ms: u64) -> HarnCommand {
    let draft = DocumentDraft {
        kind: DocumentKind::Workspace,
        quotes: Vec::new(),
        id: id.to_owned(),
        owner: DocumentOwner::default(),
        expect: Expect::New,
        body: Some(body(field, &json!({"name": id}))),
    };
    let mark =
        IdempotencyMark { scope: Hash::of(b"key"), digest: Hash::of(digest.as_bytes()), until_ms };
    HarnCommand { mark: Some(mark), documents: vec![draft], ..HarnCommand::default() }
}

#[tokio::test]
async fn a_key_is_kept_also_where_nothing_else_changes() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    let bare = HarnCommand { documents: Vec::new(), ..keyed(&field, "w", "one", 1 << 50) };
    let before = field.head().position;
    field.harn(weak("worker", "s", "bare"), bare).await.unwrap();
    assert_eq!(field.head().position, before + 1);
}

#[tokio::test]
async fn a_key_is_answered_once_a_day_also_after_a_restart() {
    let (clock, engine, field) = with_clock(None).await;
    let until = clock.now.load(Ordering::Relaxed) + 1000;
    let first = field.harn(message("k", "a"), keyed(&field, "w1", "x", until)).await.unwrap();
    let again = field.harn(message("k", "a"), keyed(&field, "w2", "x", until)).await.unwrap();
    assert_eq!(first, again, "what happened then comes back");
    let other = field.harn(message("k", "a"), keyed(&field, "w2", "y", until)).await.unwrap_err();
    assert_eq!(other.code(), ErrorCode::MessageIdReused);
    let hash = field.state_hash();
    field.close().await;
    let field = open(&engine, None);
    let rebuilt = engine.head(&FieldName::default_field()).unwrap();
    assert_eq!(field.head(), rebuilt);
    assert_ne!(field.state_hash(), hash, "closing is noted in the log");
    assert!(
        field.with_state(|state| state.idempotency.find(&Hash::of(b"key"), until - 1).is_some())
    );
    assert!(field.with_state(|state| state.idempotency.find(&Hash::of(b"key"), until).is_none()));
}

#[tokio::test]
async fn an_id_of_a_document_is_never_used_again() {
    let field = open(&engine(), None);
    let put = |expect| {
        let draft = DocumentDraft {
            kind: DocumentKind::Persona,
            quotes: Vec::new(),
            id: "p".to_owned(),
            owner: DocumentOwner::default(),
            expect,
            body: (expect != Expect::Removal).then(|| body(&field, &json!({"name": "p"}))),
        };
        HarnCommand { documents: vec![draft], ..HarnCommand::default() }
    };
    let missing = field.harn(message("0", "a"), put(Expect::Known)).await.unwrap_err();
    assert_eq!(missing.code(), ErrorCode::UnitNotFound);
    field.harn(message("1", "a"), put(Expect::New)).await.unwrap();
    field.harn(message("2", "a"), put(Expect::Known)).await.unwrap();
    field.harn(message("3", "a"), put(Expect::Removal)).await.unwrap();
    for (id, expect) in [("4", Expect::New), ("5", Expect::Any)] {
        let taken = field.harn(message(id, "a"), put(expect)).await.unwrap_err();
        assert_eq!(taken.code(), ErrorCode::InvalidTransition);
    }
    let gone = field.harn(message("6", "a"), put(Expect::Removal)).await.unwrap_err();
    assert_eq!(gone.code(), ErrorCode::UnitNotFound);
}

#[tokio::test]
async fn who_may_not_know_of_a_session_cannot_put_anything_into_it() {
    let field = open(&engine(), None);
    open_session(&field).await;
    let draft = DocumentDraft {
        kind: DocumentKind::Message,
        quotes: Vec::new(),
        id: "m".to_owned(),
        owner: DocumentOwner { session: Some("s".to_owned()), ..DocumentOwner::default() },
        expect: Expect::New,
        body: Some(body(&field, &json!({"text": "hello"}))),
    };
    let command = HarnCommand { documents: vec![draft], ..HarnCommand::default() };
    let refused = field.harn(weak("stranger", "s", "1"), command).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InsufficientAuthority);
}

#[tokio::test]
async fn the_state_with_tasks_documents_and_keys_is_the_same_when_it_is_rebuilt() {
    let engine = engine();
    let field = open(&engine, None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    field.harn(weak("worker", "s", "1"), noted(&field, "llm:1")).await.unwrap();
    field.harn(message("k", "boss"), keyed(&field, "w1", "x", 1 << 52)).await.unwrap();
    let again = open(&engine, None);
    assert_eq!(again.state_hash(), field.state_hash());
    let told = field.commits(1, 100).unwrap();
    let kinds = told.iter().flat_map(|commit| commit.decode_header::<Event>().unwrap().events);
    assert!(kinds.into_iter().any(|sealed| matches!(sealed.event, Event::TaskNoted { .. })));
}

#[tokio::test]
async fn a_snapshot_of_a_state_with_documents_of_every_owner_is_read_again() {
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    let field = open(&engine, None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    field.harn(weak("worker", "s", "1"), noted(&field, "llm:1")).await.unwrap();
    let done = HarnAct::Complete { task: "t".to_owned(), results: Vec::new() };
    field.harn(weak("worker", "s", "done"), act(done)).await.unwrap();
    let some = |yes: bool, text: &str| yes.then(|| text.to_owned());
    for number in 0..16_u8 {
        let bit = |at: u8| number & (1 << at) != 0;
        let owner = DocumentOwner {
            workspace: some(bit(0), "w"),
            session: some(bit(1), "s"),
            task: some(bit(2), "t"),
            persona: some(bit(3), "p"),
        };
        let mut command = keyed(&field, &format!("w{number}"), "x", 1 << 52);
        command.mark = None;
        command.documents.iter_mut().for_each(|draft| draft.owner = owner.clone());
        field.harn(message(&format!("put-{number}"), "boss"), command).await.unwrap();
    }
    let saved = SnapshotDir::new(folder.path().to_owned()).save(&rebuilt(&engine)).unwrap();
    let read = format::load(&saved).unwrap();
    assert_eq!(read.state.hash(), field.state_hash());
}

#[tokio::test]
async fn nothing_is_noted_about_a_task_that_has_ended() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    claim(&field, "worker", "t").await.unwrap();
    let ending = HarnCommand {
        act: Some(HarnAct::Complete { task: "t".to_owned(), results: Vec::new() }),
        ..noted(&field, "host:last:1")
    };
    field.harn(weak("worker", "s", "done"), ending).await.unwrap();
    let before = field.head();
    for agent in ["worker", "boss", "system"] {
        let late = HarnCommand {
            act: Some(HarnAct::EnterSession { session: "s".to_owned() }),
            ..noted(&field, "host:late:1")
        };
        let refused = field.harn(within(agent, "s", &format!("late-{agent}")), late).await;
        assert_eq!(refused.unwrap_err().code(), ErrorCode::InvalidTransition, "{agent}");
    }
    assert_eq!(field.head(), before);
}

#[tokio::test]
async fn a_task_of_this_protocol_that_failed_is_not_tried_again() {
    let field = open(&engine(), None);
    open_session(&field).await;
    submit(&field, "t", false).await;
    let mut profile = keyed(&field, "t", "x", 1 << 52);
    profile.documents.iter_mut().for_each(|draft| draft.kind = DocumentKind::Task);
    field.harn(message("profile", "boss"), profile).await.unwrap();
    claim(&field, "worker", "t").await.unwrap();
    let reason = body(&field, &ReasonBody { reason: "no".to_owned() });
    let fails = HarnAct::Fail { task: "t".to_owned(), body: reason };
    field.harn(weak("worker", "s", "fails"), act(fails)).await.unwrap();
    let retry = json!({"action": "retry", "task_id": "t"});
    let (retry, _) = CoordinatePayload::parse(retry).unwrap();
    let refused = field.coordinate(within("boss", "s", "retry"), retry).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidTransition);
}
