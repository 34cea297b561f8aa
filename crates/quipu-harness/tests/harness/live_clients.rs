//! Live clients of a Session: their leases by the Field's time, what is written of them, and control that only one has.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use quipu_core::Origin;
use quipu_field::{Field, FieldOptions};
use quipu_harness::{Caller, Harness, HarnessOptions, WriteRequest};
use quipu_log::{Engine, FieldName, Salt};
use quipu_wire::{
    akashik::SessionPayload,
    harn::{
        AttachClientRequest, CreateSessionRequest, HarnErrorCode, LiveClientChange,
        SessionClientRequest, Sha256,
    },
};
use serde_json::{Value, json};

use crate::support::{asked, caller, engine, message, private_session};

/// A clock that stands until it is moved.
#[derive(Debug)]
struct Clock {
    now_ms: AtomicU64,
    drawn: AtomicU64,
}

impl Clock {
    fn new() -> Arc<Self> {
        Arc::new(Self { now_ms: AtomicU64::new(1_772_361_000_000), drawn: AtomicU64::new(1) })
    }

    fn advance(&self, seconds: u64) {
        self.now_ms.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    fn next(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed)
    }
}

impl Origin for Clock {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    fn id_bits(&self) -> u128 {
        u128::from(self.next())
    }

    fn salt(&self) -> Salt {
        Salt::from_bytes(u128::from(self.next()).to_be_bytes())
    }
}

fn open(engine: &Arc<dyn Engine>, clock: &Arc<Clock>) -> Harness {
    let origin: Arc<dyn Origin> = Arc::<Clock>::clone(clock);
    let options = FieldOptions::new(origin);
    let field = Field::open(Arc::clone(engine), FieldName::default_field(), options).unwrap();
    Harness::with_options(field, Arc::new(HarnessOptions::default()))
}

fn with_authority(agent: &str, authority: u8) -> WriteRequest {
    WriteRequest { caller: Caller::new(agent, authority), key: None, digest: Sha256::of(b"") }
}

/// A Session of alice's.
async fn session(harness: &Harness) -> String {
    let body = json!({"workspace_id": "workspace_default"});
    let request = CreateSessionRequest::parse(body).unwrap();
    harness.create_session(&asked("alice"), request).await.unwrap().envelope.id
}

async fn enter(harness: &Harness, session: &str, asked: &WriteRequest) {
    harness.join_session(asked, session).await.unwrap();
}

fn attach(body: Value) -> AttachClientRequest {
    AttachClientRequest::parse(body).unwrap()
}

fn named(client: &str) -> SessionClientRequest {
    SessionClientRequest::parse(json!({"client_id": client})).unwrap()
}

async fn comes(
    harness: &Harness,
    asked: &WriteRequest,
    session: &str,
    body: Value,
) -> Result<LiveClientChange, HarnErrorCode> {
    let change = harness.attach_client(asked, session, attach(body)).await;
    change.map_err(|error| error.code)
}

async fn there(harness: &Harness, session: &str) -> Vec<String> {
    let clients = harness.live_clients(&caller("alice"), session).await.unwrap().data;
    clients.into_iter().map(|client| client.client_id).collect()
}

#[tokio::test]
async fn a_client_is_there_while_it_is_heard_of_and_few_signs_are_written() {
    let (engine, clock) = (engine(), Clock::new());
    let harness = open(&engine, &clock);
    let id = session(&harness).await;
    comes(&harness, &asked("alice"), &id, json!({"client_id": "tui"})).await.unwrap();
    let before = harness.field().head().position;
    for _ in 0..360 {
        clock.advance(10);
        harness.heartbeat_client(&asked("alice"), &id, named("tui")).await.unwrap();
    }
    let written = harness.field().head().position - before;
    assert!((60..=120).contains(&written), "an hour of signs every 10 s: {written} commits");
    let last = harness.session(&caller("alice"), &id).await.unwrap();
    assert!(last.last_event_id.is_some(), "signs push no Event out of sight");
    assert_eq!(last.live_clients.len(), 1);
    drop(harness);
    let harness = open(&engine, &clock);
    assert_eq!(there(&harness, &id).await, ["tui"], "the log has it");
    clock.advance(91);
    assert!(there(&harness, &id).await.is_empty(), "its lease is over");
    let gone = harness.heartbeat_client(&asked("alice"), &id, named("tui")).await;
    assert_eq!(gone.unwrap_err().code, HarnErrorCode::ResourceNotFound);
}

#[tokio::test]
async fn control_of_who_went_without_a_word_is_free() {
    let (engine, clock) = (engine(), Clock::new());
    let harness = open(&engine, &clock);
    let id = session(&harness).await;
    enter(&harness, &id, &asked("bob")).await;
    let controls =
        |client: &str| json!({"client_id": client, "mode": "controller", "lease_ms": 10_000});
    let first = comes(&harness, &asked("alice"), &id, controls("a")).await.unwrap();
    assert_eq!(first.active_controller_id.as_deref(), Some("a"));
    let refused = comes(&harness, &asked("bob"), &id, controls("b")).await;
    assert_eq!(refused.unwrap_err(), HarnErrorCode::Conflict);
    clock.advance(15);
    let second = comes(&harness, &asked("bob"), &id, controls("b")).await.unwrap();
    assert_eq!(second.previous_controller_id, None);
    assert_eq!(second.active_controller_id.as_deref(), Some("b"));
    let client = second.client.unwrap();
    assert!(client.prompt_injection && client.permission_routing);
    assert_eq!(there(&harness, &id).await, ["b"]);
}

#[tokio::test]
async fn a_weaker_one_turns_no_stronger_out_and_two_at_once_do_not_both_get_control() {
    let (engine, clock) = (engine(), Clock::new());
    let harness = open(&engine, &clock);
    let id = session(&harness).await;
    let (strong, weak, equal) =
        (with_authority("strong", 7), with_authority("weak", 5), with_authority("equal", 7));
    for asked in [&strong, &weak, &equal] {
        enter(&harness, &id, asked).await;
    }
    let controls = |client: &str| json!({"client_id": client, "mode": "controller"});
    comes(&harness, &strong, &id, controls("s")).await.unwrap();
    comes(&harness, &weak, &id, json!({"client_id": "w"})).await.unwrap();
    for refused in [
        harness.takeover_session(&weak, &id, named("w")).await,
        harness.takeover_session(&weak, &id, named("other")).await,
        harness.detach_client(&weak, &id, named("s")).await,
    ] {
        assert_eq!(refused.unwrap_err().code, HarnErrorCode::PermissionDenied);
    }
    let taken = harness.takeover_session(&weak, &id, named("s")).await.unwrap_err();
    assert_eq!(taken.code, HarnErrorCode::Conflict, "the id is another's");
    let alice = asked("alice");
    let both = tokio::join!(
        harness.takeover_session(&equal, &id, named("e")),
        harness.takeover_session(&alice, &id, named("a")),
    );
    let won = [both.0, both.1].into_iter().filter(Result::is_ok).count();
    assert!(won >= 1);
    let clients = harness.live_clients(&caller("alice"), &id).await.unwrap().data;
    let in_control = clients.iter().filter(|client| client.prompt_injection).count();
    assert_eq!(in_control, 1, "{clients:?}");
    // She opened it, and there she has authority 8.
    harness.takeover_session(&asked("alice"), &id, named("a")).await.unwrap();
    let refused = harness.takeover_session(&equal, &id, named("e")).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    harness.detach_client(&asked("alice"), &id, named("s")).await.unwrap();
    assert!(!there(&harness, &id).await.contains(&"s".to_owned()));
}

#[tokio::test]
async fn who_leaves_the_session_is_not_there_any_more() {
    let (engine, clock) = (engine(), Clock::new());
    let harness = open(&engine, &clock);
    let id = session(&harness).await;
    enter(&harness, &id, &asked("bob")).await;
    let controls = json!({"client_id": "b", "mode": "controller"});
    comes(&harness, &asked("bob"), &id, controls).await.unwrap();
    let leaves = json!({"action": "leave", "session_id": id});
    let (payload, _) = SessionPayload::parse(leaves).unwrap();
    harness.field().session(message("leave-1", "bob"), payload).await.unwrap();
    assert!(there(&harness, &id).await.is_empty());
    let shown = harness.session(&caller("alice"), &id).await.unwrap();
    assert_eq!((shown.live_clients.len(), shown.live_controller_id), (0, None));
}

#[tokio::test]
async fn a_session_has_room_for_so_many_and_one_agent_does_not_take_it_all() {
    let (engine, clock) = (engine(), Clock::new());
    let harness = open(&engine, &clock);
    let id = session(&harness).await;
    enter(&harness, &id, &asked("bob")).await;
    for number in 0..16 {
        let body = json!({"client_id": format!("c{number}")});
        comes(&harness, &asked("bob"), &id, body).await.unwrap();
    }
    let more = json!({"client_id": "c16"});
    let refused = comes(&harness, &asked("bob"), &id, more.clone()).await;
    assert_eq!(refused.unwrap_err(), HarnErrorCode::Conflict);
    comes(&harness, &asked("alice"), &id, more).await.unwrap();
}

#[tokio::test]
async fn a_session_for_the_invited_is_confirmed_to_nobody_else() {
    let (engine, clock) = (engine(), Clock::new());
    let harness = open(&engine, &clock);
    private_session(&harness, "alice", "closed").await;
    let eve = with_authority("eve", 5);
    for id in ["closed", "session_nowhere"] {
        let list = harness.live_clients(&eve.caller, id).await.unwrap_err();
        let comes = comes(&harness, &eve, id, json!({"client_id": "e"})).await.unwrap_err();
        let beats = harness.heartbeat_client(&eve, id, named("e")).await.unwrap_err();
        let takes = harness.takeover_session(&eve, id, named("e")).await.unwrap_err();
        let goes = harness.detach_client(&eve, id, named("e")).await.unwrap_err();
        for code in [list.code, comes, beats.code, takes.code, goes.code] {
            assert_eq!(code, HarnErrorCode::ResourceNotFound, "{id}");
        }
    }
}
