//! Inputs that a member of a Session lends to the modules of its own Tasks there. Nothing of them is written down, so a
//! command has no idempotency key and tells no Event.

use quipu_core::State;
use quipu_wire::{
    akashik::SessionStatus,
    harn::{
        GivenInput, HarnError, HarnErrorCode, InputDescription, InputKind, InputsAnswer,
        InputsCommand, JsonObject,
    },
};
use serde_json::Value;

use crate::{
    Caller, Harness,
    handle::given_inputs::{Giver, NotTaken},
    task::tasks::TaskView,
};
use quipu_core::rules::harn::AUTHORITY_WRITE;

impl Harness {
    /// `POST /v1/sessions/{session_id}/inputs`.
    ///
    /// # Errors
    /// 404 where there is no such Session; 403 where the caller is no member, or has less than authority 4; 409 where the
    /// Session is not active or the name is taken; 413 and 503 where there is no room; 422 for the built-in Session.
    pub fn session_inputs(
        &self,
        caller: &Caller,
        session: &str,
        command: InputsCommand,
    ) -> Result<InputsAnswer, HarnError> {
        self.session_to_attend(caller, session)?;
        caller.require(AUTHORITY_WRITE)?;
        let giver = Giver { session: session.to_owned(), agent: caller.agent.clone() };
        let now = self.field.origin().now_ms();
        let may_lend = |giver: &Giver| self.field.with_state(|state| may_lend(state, giver));
        self.inputs.forget_old(now, may_lend);
        let refused = |why| refused(&why);
        let mut answer = InputsAnswer::default();
        match command {
            InputsCommand::List => {}
            InputsCommand::Put { input, replace } => {
                answer.input = Some(describe(&input));
                self.inputs.put(&giver, input, replace, now).map_err(refused)?;
                return Ok(answer);
            }
            InputsCommand::Remove { name } => {
                answer.removed = Some(self.inputs.remove(&giver, &name, now));
                return Ok(answer);
            }
            InputsCommand::Sync(snapshot) => {
                answer.applied = Some(self.inputs.sync(&giver, snapshot, now).map_err(refused)?);
            }
        }
        answer.inputs = Some(self.inputs.list(&giver, now).iter().map(describe).collect());
        Ok(answer)
    }

    /// What whoever submitted a Task lends its module under a name.
    pub(crate) fn lent_to(&self, task: &TaskView, name: &str) -> Option<Value> {
        let (session, agent) = (task.entry.session.clone()?, task.entry.created_by.clone());
        let giver = Giver { session, agent };
        if !self.field.with_state(|state| may_lend(state, &giver)) {
            return None;
        }
        let given = self.inputs.list(&giver, self.field.origin().now_ms());
        let input = given.into_iter().find(|input| input.spec.name == name)?;
        Some(Value::String(input.value.0))
    }
}

/// Whether somebody is still in a Session that is not over.
fn may_lend(state: &State, giver: &Giver) -> bool {
    let session = state.sessions.get(&giver.session);
    session.is_some_and(|session| {
        session.status != SessionStatus::Ended && session.members.contains(&giver.agent)
    })
}

fn describe(input: &GivenInput) -> InputDescription {
    let lifetime = match input.spec.until_ms {
        None => JsonObject::with("kind", "session"),
        Some(until) => {
            let mut lifetime = JsonObject::with("kind", "until");
            lifetime.insert("unix_ms".to_owned(), until.into());
            lifetime
        }
    };
    InputDescription {
        name: input.spec.name.clone(),
        kind: input.spec.kind,
        lifetime,
        usage: JsonObject::with("kind", "session_tools"),
        value: (input.spec.kind == InputKind::Variable).then(|| input.value.0.clone()),
    }
}

fn refused(why: &NotTaken) -> HarnError {
    let code = match why {
        NotTaken::Over => HarnErrorCode::InvalidRequest,
        NotTaken::Taken => HarnErrorCode::Conflict,
        NotTaken::TooMuch => HarnErrorCode::PayloadTooLarge,
        NotTaken::Full => HarnErrorCode::ServiceUnavailable,
    };
    HarnError::new(code, why.to_string())
}
