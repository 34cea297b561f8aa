//! Transcripts against a model: whatever is said, forked and cut off, each Session has the Messages that a list
//! of texts would have, and again after the log was read anew.

use proptest::prelude::*;
use quipu_harness::{Harness, Page};
use quipu_wire::harn::{
    AppendMessageRequest, CreateSessionRequest, ForkSessionRequest, MessageInput, Part,
    ResourceKind, TruncateSessionRequest,
};
use serde_json::json;

use crate::support::{asked, caller, engine, open};

#[derive(Debug, Clone)]
enum Step {
    Say(usize),
    Fork(usize),
    ForkBack(usize, usize),
    Truncate(usize, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..8usize).prop_map(Step::Say),
        1 => (0..8usize).prop_map(Step::Fork),
        2 => (0..8usize, 0..8usize).prop_map(|(at, back)| Step::ForkBack(at, back)),
        1 => (0..8usize, 0..6u64).prop_map(|(at, keep)| Step::Truncate(at, keep)),
    ];
    prop::collection::vec(step, 1..24)
}

/// A Session as it should be, with what it was after each thing that was said in it.
struct Modelled {
    id: String,
    texts: Vec<String>,
    past: Vec<(String, Vec<String>)>,
}

async fn create(harness: &Harness) -> Modelled {
    let body = json!({"workspace_id": "workspace_default"});
    let request = CreateSessionRequest::parse(body).unwrap();
    let session = harness.create_session(&asked("a"), request).await.unwrap();
    Modelled { id: session.envelope.id, texts: Vec::new(), past: Vec::new() }
}

async fn fork(harness: &Harness, of: &str, at: Option<String>, texts: Vec<String>) -> Modelled {
    let request = ForkSessionRequest { at_event_id: at, ..ForkSessionRequest::default() };
    let session = harness.fork_session(&asked("a"), of, request).await.unwrap();
    Modelled { id: session.envelope.id, texts, past: Vec::new() }
}

async fn play(harness: &Harness, sessions: &mut Vec<Modelled>, number: usize, step: &Step) {
    let count = sessions.len();
    match step {
        Step::Say(at) => {
            let session = &mut sessions[at % count];
            let text = format!("text {number}");
            let request = AppendMessageRequest { message: MessageInput::user(&text) };
            harness.append_message(&asked("a"), &session.id, request).await.unwrap();
            session.texts.push(text);
            let shown = harness.session(&caller("a"), &session.id).await.unwrap();
            session.past.push((shown.last_event_id.unwrap(), session.texts.clone()));
        }
        Step::Fork(at) => {
            let (id, texts) = (sessions[at % count].id.clone(), sessions[at % count].texts.clone());
            sessions.push(fork(harness, &id, None, texts).await);
        }
        Step::ForkBack(at, back) => {
            let session = &sessions[at % count];
            let Some(place) = back.checked_rem(session.past.len()) else { return };
            let (event, texts) = session.past[place].clone();
            let made = fork(harness, &session.id.clone(), Some(event), texts).await;
            sessions.push(made);
        }
        Step::Truncate(at, keep) => {
            let session = &mut sessions[at % count];
            let request = TruncateSessionRequest { keep_first: *keep, reason: None };
            let cut = harness.truncate_session(&asked("a"), &session.id, request).await.unwrap();
            session.texts.truncate(usize::try_from(*keep).unwrap());
            assert_eq!(cut.kept_turn_count, session.texts.len() as u64);
        }
    }
}

/// The transcript, read in pages of two.
async fn texts(harness: &Harness, session: &str) -> Vec<String> {
    let (mut texts, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = Page::read(ResourceKind::Message, Some("2"), cursor.as_deref()).unwrap();
        let list = harness.messages(&caller("a"), session, page).await.unwrap();
        for message in list.data {
            let Some(Part::Text { text, .. }) = message.parts.into_iter().next() else { panic!() };
            texts.push(text);
        }
        cursor = list.next_cursor;
        if cursor.is_none() {
            return texts;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_transcript_is_what_a_list_of_texts_would_be(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let engine = engine();
            let harness = open(&engine);
            let mut sessions = vec![create(&harness).await];
            for (number, step) in steps.iter().enumerate() {
                play(&harness, &mut sessions, number, step).await;
            }
            for session in &sessions {
                assert_eq!(texts(&harness, &session.id).await, session.texts);
            }
            harness.field().close().await;
            let harness = open(&engine);
            for session in &sessions {
                assert_eq!(texts(&harness, &session.id).await, session.texts, "read anew");
            }
        });
    }
}
