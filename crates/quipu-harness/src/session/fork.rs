//! Forks: Sessions that share what happened in another one up to an Event.

use quipu_core::{
    DocumentKind, State,
    rules::harn::{DocumentDraft, Expect},
};
use quipu_wire::harn::{
    Branch, BranchKind, CreateBranchRequest, ForkSessionRequest, HarnError, HarnErrorCode,
    HarnSession, JsonObject, ResourceKind,
};

use crate::{
    EventPosition, Harness, WriteRequest,
    handle::{
        retry::{WriteError, retry_until_unchanged},
        write::{Target, put_by},
    },
    not_found,
    session::{transcript::end_of, view::SessionView},
    stored::session_facts::{ForkPoint, SessionFacts},
};

/// How many forks there may be one behind the other: a transcript is read through all of them.
const FORK_DEPTH_MAX: u32 = 64;

impl Harness {
    /// `POST /v1/sessions/{session_id}/fork`.
    ///
    /// # Errors
    /// 404 where there is no such Session or Branch, 403 for a Branch of another's in a Session of another's, 400 where the Event is not one of it, 422 for the
    /// built-in Session and where there are too many forks one behind the other.
    pub async fn fork_session(
        &self,
        write: &WriteRequest,
        id: &str,
        request: ForkSessionRequest,
    ) -> Result<HarnSession, HarnError> {
        retry_until_unchanged(|| self.fork_once(write, id, request.clone())).await
    }

    async fn fork_once(
        &self,
        write: &WriteRequest,
        id: &str,
        request: ForkSessionRequest,
    ) -> Result<HarnSession, WriteError> {
        let _turn = self.changing.lock().await;
        let read_at = Some(self.field.head().position);
        let (view, facts) = self.session_to_change(&write.caller, id).await?;
        let at = self.fork_position(&view, request.at_event_id.as_deref()).await?;
        let fork = self.draw(ResourceKind::Session);
        let branch = match &request.branch_id {
            Some(branch) => self.branch_taken(write, &view, branch, &fork).await?,
            None => {
                let base = request.at_event_id.as_deref().unwrap_or(id);
                let branch = branch_at(base);
                self.branch_draft(&write.caller, &view, &fork, branch)?
            }
        };
        let facts = forked(id, at, facts, &branch.id, request.metadata)?;
        let policy = view.entry.as_ref().map(|entry| entry.policy.clone()).unwrap_or_default();
        let goal = facts.summary.clone().unwrap_or_else(|| format!("a fork of {id}"));
        let mut command =
            self.open_session(&fork, &view.workspace, (policy, Some(id)), goal, &facts)?;
        command.documents.push(branch);
        command.read_at = read_at;
        let path = format!("/v1/sessions/{id}/fork");
        let target = Target { workspace: &view.workspace, method: "POST", path: &path };
        let outcome = self.write(write, target, Some(&fork), command).await?;
        Ok(self
            .session(&write.caller, put_by(&outcome, DocumentKind::Session).unwrap_or(&fork))
            .await?)
    }

    /// The number of the last Event that a fork shares: the newest if none is named.
    async fn fork_position(&self, view: &SessionView, at: Option<&str>) -> Result<u64, HarnError> {
        let Some(id) = at else { return Ok(end_of(self.field.head().position)) };
        let (view, id) = (view.clone(), id.to_owned());
        self.reading(move |harness| {
            let lineage = harness.lineage(&view)?;
            let found = harness.field.with_state(|state| {
                event_position(state, &id).filter(|place| lineage.has(state, *place))
            });
            found.map(EventPosition::sequence).ok_or_else(|| {
                let message = "at_event_id: must be an Event of this Session";
                HarnError::new(HarnErrorCode::InvalidRequest, message).at("at_event_id")
            })
        })
        .await
    }

    /// A Branch of the Session that was there before becomes the fork's.
    async fn branch_taken(
        &self,
        write: &WriteRequest,
        view: &SessionView,
        id: &str,
        fork: &str,
    ) -> Result<DocumentDraft, HarnError> {
        let entry = self.entry(&write.caller, DocumentKind::Branch, id);
        let entry = entry.filter(|entry| entry.owner.session.as_deref() == Some(view.id.as_str()));
        let entry = entry.ok_or_else(|| not_found(ResourceKind::Branch, id).at("branch_id"))?;
        if entry.created_by != write.caller.agent {
            view.check_opener(&write.caller).map_err(|error| error.at("branch_id"))?;
        }
        let mut branch: Branch = self.get(&write.caller, id).await?;
        branch.session_id = Some(fork.to_owned());
        self.draft(DocumentKind::Branch, id, entry.owner, Expect::Known, &branch)
    }
}

fn branch_at(base: &str) -> CreateBranchRequest {
    CreateBranchRequest {
        kind: BranchKind::Session,
        base_ref: base.to_owned(),
        parent_branch_id: None,
        task_id: None,
        metadata: JsonObject::default(),
    }
}

fn event_position(state: &State, id: &str) -> Option<EventPosition> {
    EventPosition::parse(id).or_else(|| state.streams.imported(id).map(EventPosition))
}

/// What a fork knows: what its parent knew, but for what was cut off there and the Event of that.
fn forked(
    parent: &str,
    at: u64,
    facts: SessionFacts,
    branch: &str,
    metadata: JsonObject,
) -> Result<SessionFacts, HarnError> {
    let depth = facts.fork.as_ref().map_or(0, |fork| fork.depth).saturating_add(1);
    if depth > FORK_DEPTH_MAX {
        let message = format!("there are already {FORK_DEPTH_MAX} forks one behind the other");
        return Err(HarnError::new(HarnErrorCode::PolicyViolation, message));
    }
    let root = facts.fork.as_ref().map_or_else(|| parent.to_owned(), |fork| fork.root.clone());
    Ok(SessionFacts {
        fork: Some(ForkPoint { session: parent.to_owned(), root, at, depth }),
        branch_id: Some(branch.to_owned()),
        cuts: Vec::new(),
        change_event: None,
        metadata,
        ..facts
    })
}
