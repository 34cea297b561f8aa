//! The transcript of a Session: what was said in it, in order, behind what it shares with the Session that it
//! was forked from, without what was cut off. Nothing is copied: a fork reads its parent's Messages.

use quipu_core::{DocumentKind, State, state::DocumentEntry};
use quipu_wire::harn::{
    EventKind, HarnError, HarnErrorCode, JsonObject, TruncateObject, TruncateSessionRequest,
    TruncateSessionResponse,
};

use crate::{
    EventPosition, Harness, WriteRequest,
    handle::retry::{WriteError, retry_until_unchanged},
    session::view::SessionView,
    stored::session_facts::{ChangeEvent, Cut, SessionFacts},
};

/// How often a Session is cut: its document names every cut.
const CUTS_MAX: usize = 256;

/// A Session and those that it was forked from, itself last.
pub(crate) struct Lineage(Vec<Segment>);

/// One of them, with the number of the last Event that is shared.
struct Segment {
    session: String,
    until: u64,
    cuts: Vec<Cut>,
}

/// A Message of a transcript: its ordinal, and the number of the Event that brought it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TranscriptMessage {
    pub(crate) ordinal: usize,
    pub(crate) sequence: u64,
}

impl Lineage {
    /// The Messages, in the order in which they were said.
    pub(crate) fn transcript(&self, state: &State) -> Vec<TranscriptMessage> {
        let mut said: Vec<TranscriptMessage> = Vec::new();
        for segment in &self.0 {
            let own = state.documents.of_session(DocumentKind::Message, &segment.session);
            let sequence = |entry: &DocumentEntry| EventPosition(entry.at).sequence();
            said.extend(
                own.map(|(ordinal, entry)| TranscriptMessage {
                    ordinal,
                    sequence: sequence(entry),
                }),
            );
            let cut =
                |each: &TranscriptMessage| segment.cuts.iter().any(|cut| cut.takes(each.sequence));
            said.retain(|each| each.sequence <= segment.until && !cut(each));
        }
        said
    }

    pub(crate) fn has(&self, state: &State, place: EventPosition) -> bool {
        self.0.iter().any(|segment| {
            let commits = state.streams.session(&segment.session);
            place.sequence() <= segment.until && commits.binary_search(&place.0.0).is_ok()
        })
    }
}

/// The number behind every Event of a commit.
pub(crate) fn end_of(position: u64) -> u64 {
    EventPosition((position + 1, 0)).sequence().saturating_sub(1)
}

impl Harness {
    /// What a Session was forked from. Reads storage.
    pub(crate) fn lineage(&self, view: &SessionView) -> Result<Lineage, HarnError> {
        let facts = self.session_facts(view)?;
        let mut fork = facts.fork.clone();
        let mut segments = vec![segment(&view.id, u64::MAX, facts)];
        let mut shared_until = u64::MAX;
        while let Some(point) = fork {
            let id = point.session.as_str();
            let document = self
                .field
                .with_state(|state| state.documents.get(DocumentKind::Session, id).cloned());
            let facts = self.session_facts(&view.parent(id, document))?;
            fork = facts.fork.clone();
            shared_until = shared_until.min(point.at);
            let mut shared = segment(id, shared_until, facts);
            // What was cut off later was still there when it was shared.
            shared.cuts.retain(|cut| cut.until <= shared_until);
            segments.push(shared);
        }
        segments.reverse();
        Ok(Lineage(segments))
    }

    /// `POST /v1/sessions/{session_id}/truncate`.
    ///
    /// # Errors
    /// 403 for whoever did not open it and has less than authority 8; 404 where there is none, 409 where it is over, 422
    /// for the built-in one and one that was cut too often.
    pub async fn truncate_session(
        &self,
        write: &WriteRequest,
        id: &str,
        request: TruncateSessionRequest,
    ) -> Result<TruncateSessionResponse, HarnError> {
        retry_until_unchanged(|| self.truncate_once(write, id, request.clone())).await
    }

    async fn truncate_once(
        &self,
        write: &WriteRequest,
        id: &str,
        request: TruncateSessionRequest,
    ) -> Result<TruncateSessionResponse, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = self.field.head().position;
        let (view, mut facts) = self.session_to_change(&write.caller, id).await?;
        view.check_opener(&write.caller)?;
        let (said, head) = self.transcript_of(&view).await?;
        let keep = usize::try_from(request.keep_first).unwrap_or(usize::MAX).min(said.len());
        let (kept, removed) = said.split_at(keep);
        if !removed.is_empty() {
            if facts.cuts.len() >= CUTS_MAX {
                let message = format!("a Session is truncated at most {CUTS_MAX} times; fork it");
                return Err(HarnError::new(HarnErrorCode::PolicyViolation, message).into());
            }
            let after = kept.last().map_or(0, |said| said.sequence);
            facts.cuts.push(Cut { after, until: end_of(head) });
            facts.change_event = Some(truncated(kept.len(), removed.len(), request.reason));
            let path = format!("/v1/sessions/{id}/truncate");
            self.change_session(write, &view, ("POST", &path), &facts, read_at).await?;
        }
        let tip = kept.last().and_then(|said| self.message_at(said.ordinal));
        Ok(TruncateSessionResponse {
            object: TruncateObject::TruncateResult,
            session_id: id.to_owned(),
            kept_turn_count: kept.len() as u64,
            removed_turn_count: removed.len() as u64,
            new_tip_turn_id: tip.map(|entry| entry.id),
            session: self.session(&write.caller, id).await?,
        })
    }

    /// What was said in a Session, and how far the log was.
    async fn transcript_of(
        &self,
        view: &SessionView,
    ) -> Result<(Vec<TranscriptMessage>, u64), HarnError> {
        let view = view.clone();
        self.reading(move |harness| {
            let lineage = harness.lineage(&view)?;
            let head = harness.field.head().position;
            Ok((harness.field.with_state(|state| lineage.transcript(state)), head))
        })
        .await
    }

    /// The document of a Message, by its ordinal.
    pub(crate) fn message_at(&self, ordinal: usize) -> Option<DocumentEntry> {
        self.field.with_state(|state| {
            let mut from = state.documents.from(DocumentKind::Message, ordinal);
            from.next().filter(|(found, _)| *found == ordinal).map(|(_, entry)| entry.clone())
        })
    }
}

fn segment(session: &str, until: u64, facts: SessionFacts) -> Segment {
    Segment { session: session.to_owned(), until, cuts: facts.cuts }
}

fn truncated(kept: usize, removed: usize, reason: Option<String>) -> ChangeEvent {
    let mut payload = JsonObject::with("kept_turn_count", kept);
    payload.insert("removed_turn_count".to_owned(), removed.into());
    payload.extend(reason.map(|reason| ("reason".to_owned(), reason.into())));
    ChangeEvent { event: EventKind::SessionTruncated, payload }
}
