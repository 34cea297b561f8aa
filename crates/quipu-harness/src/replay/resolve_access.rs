//! Who may receive an answer over `resolve`. What the server fetched itself, nobody: a worker is given what workers
//! recorded, or what somebody substituted. Whoever has claimed a replay works on it, and that alone does not open what
//! a run kept for itself: that takes a part in the source. Nor does a session of one's own: a replay of another's
//! session is one.

use quipu_core::{rules::harn::AUTHORITY_OTHERS, state::TaskEntry};
use quipu_replay::{receipt::SecretHashing, task::RecordedDependency};
use quipu_wire::harn::{DependencyKind, HarnError, HarnErrorCode, Visibility};

use crate::{
    Caller, Harness,
    recording::document::{DEPTH_MAX, ReplayDocument},
};

#[derive(Debug, Clone, Copy)]
struct Part {
    made: bool,
    worked: bool,
}

impl Harness {
    /// Refuses an answer that is not for the caller. The replay goes on. Reads storage.
    pub(crate) fn check_may_receive(
        &self,
        caller: &Caller,
        document: &ReplayDocument,
        key: &str,
        recorded: Option<&RecordedDependency>,
    ) -> Result<(), HarnError> {
        let planned = document.plan.overrides.get(key);
        if planned.is_none() && recorded.is_some_and(|it| it.by_server) {
            let what = "the server fetched this answer itself, and gives it to no worker; \
                        substitute it, or replay in process";
            return Err(refusal(key, what));
        }
        let given = planned.map(|planned| (planned.kind, planned.visibility));
        let Some((kind, visibility)) =
            given.or_else(|| recorded.map(|it| (it.kind, it.visibility)))
        else {
            return Ok(());
        };
        let secret = kind == DependencyKind::SecretValue;
        if !secret && visibility == Visibility::Public {
            return Ok(());
        }
        let replay = self.part(caller, &document.plan.identity.replay_task_id);
        // Who gave the substitute knows it. Over what a run kept for itself nobody has the authority that opening a
        // session gives, and be it by forking or replaying another.
        let sees_others = !secret && self.authority_of(caller, None) >= AUTHORITY_OTHERS;
        if sees_others || planned.is_some() && replay.made {
            return Ok(());
        }
        let source = self.part_in_source(caller, &document.plan.identity.source_task_id)?;
        // Who submits a Task has no part in its secrets.
        let made = source.made && visibility == Visibility::Internal && !secret;
        if source.worked || made {
            return Ok(());
        }
        let what = if secret { "a secret" } else { visibility.as_str() };
        Err(refusal(key, &format!("the answer is {what} of a run that is not yours")))
    }

    /// The caller's part in the source and, where that is a replay, in all that is behind it: nobody comes by
    /// an answer through a replay of somebody else's Task. Reads storage.
    fn part_in_source(&self, caller: &Caller, source: &str) -> Result<Part, HarnError> {
        let mut source = source.to_owned();
        let mut part = self.part(caller, &source);
        for _ in 0..DEPTH_MAX {
            let Some(behind) = self.replay_document(&source)? else { break };
            source = behind.plan.identity.source_task_id;
            let before = self.part(caller, &source);
            let own = |part: Part| part.made || part.worked;
            part = Part { made: own(part) && before.made, worked: own(part) && before.worked };
        }
        Ok(part)
    }

    /// How the secrets that a caller substitutes in a replay are told apart. Only who worked on the source, and so
    /// knows its secrets, is told whether they are the same; for anybody else each substitute is another. Reads
    /// storage.
    pub(super) fn secrets_of_substitutes(
        &self,
        caller: &Caller,
        source: &str,
    ) -> Result<SecretHashing, HarnError> {
        let of_run = self.secrets_of_run(source)?;
        let worked = self.part_in_source(caller, source)?.worked;
        Ok(if worked { of_run } else { of_run.within(&caller.agent) })
    }

    fn part(&self, caller: &Caller, task: &str) -> Part {
        let agent = caller.agent.as_str();
        let of = |entry: &TaskEntry| Part {
            made: entry.created_by == agent,
            worked: entry.assigned_to.as_deref() == Some(agent),
        };
        let none = Part { made: false, worked: false };
        self.field.with_state(|state| state.tasks.get(task).map_or(none, of))
    }
}

fn refusal(key: &str, why: &str) -> HarnError {
    let message = format!("key: {key}: {why}");
    let mut error = HarnError::new(HarnErrorCode::PermissionDenied, message).at("key");
    error.details.insert("key".to_owned(), key.into());
    error
}
