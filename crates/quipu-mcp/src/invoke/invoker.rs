//! Carries out a tool call: chooses the agent that speaks, makes the payload, sends the call, and describes the
//! answer. A refusal is returned to the model as a result with advice, not as a protocol error.

use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::Operation,
    quote::{json_line, one_line},
};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::identity::{self, Speaker};
use crate::{
    caller::{Answer, Call, CallFailed, Caller, Presented, Verb},
    tools::{AgentArgument, OperationTool},
};

/// The role with which a host's agent is registered if none is configured.
const HOST_ROLE: &str = "agent";
/// The most units that a COMPACT takes without a model having said how many.
const UNASKED_UNITS_MAX: u64 = 5;

/// Everything about a request that is not in the arguments of the tool call.
#[derive(Debug)]
pub(crate) struct Invoker<'a, C> {
    pub(crate) caller: &'a C,
    pub(crate) presented: Presented,
    /// The agent that was configured for this process.
    pub(crate) configured: Option<&'a str>,
    /// The role with which that agent is registered.
    pub(crate) role: Option<&'a str>,
    /// The name that the client gave itself.
    pub(crate) client_name: Option<String>,
}

impl<C: Caller> Invoker<'_, C> {
    pub(crate) async fn invoke(
        &self,
        tool: &OperationTool,
        arguments: Map<String, Value>,
    ) -> CallToolResult {
        match self.try_invoke(tool, arguments).await {
            Ok(Answer { status: 200, body }) => {
                let mut result =
                    CallToolResult::success(vec![ContentBlock::text(tool.describe(&body))]);
                result.structured_content = Some(body);
                result
            }
            Ok(refusal) => refused(&refusal),
            Err(InvokeError::Argument(problem)) => {
                let error = ProtocolError::new(ErrorCode::InvalidPayload, problem);
                refused(&Answer { status: 400, body: json!(error.during(tool.operation)) })
            }
            Err(InvokeError::Call(failed)) => unreachable_field(&failed),
        }
    }

    async fn try_invoke(
        &self,
        tool: &OperationTool,
        mut arguments: Map<String, Value>,
    ) -> Result<Answer, InvokeError> {
        let speaker = self.speaker(tool, &mut arguments).await?;
        let mut session = self.presented.session.clone();
        if tool.operation != Operation::Session {
            let named = identity::text_argument(&mut arguments, "session_id");
            session = named.map_err(InvokeError::Argument)?.or(session);
        }
        tool.prepare(&mut arguments, matches!(speaker, Speaker::Host(_)));
        if tool.operation == Operation::Compact
            && let Some(refusal) =
                self.unconfirmed(&speaker, session.as_ref(), &mut arguments).await?
        {
            return Ok(refusal);
        }
        let role = arguments.get("scope").and_then(|scope| scope.get("role")).cloned();
        let verb = Verb::Operate(tool.operation, Value::Object(arguments));
        let call = self.call(&speaker, session, verb);
        self.as_registered(&speaker, role.as_ref().and_then(Value::as_str), call).await
    }

    /// What takes many units is only done where the model says how many, which it knows from having tried. What takes a
    /// few is bound to those few. Answers a refusal of the server.
    async fn unconfirmed(
        &self,
        speaker: &Speaker,
        session: Option<&String>,
        arguments: &mut Map<String, Value>,
    ) -> Result<Option<Answer>, InvokeError> {
        let is_confirmed = arguments.get("confirm").is_some_and(|count| !count.is_null());
        if is_confirmed || arguments.get("dry_run") == Some(&Value::Bool(true)) {
            return Ok(None);
        }
        let mut tried = arguments.clone();
        tried.insert("dry_run".to_owned(), Value::Bool(true));
        let verb = Verb::Operate(Operation::Compact, Value::Object(tried));
        let answer =
            self.as_registered(speaker, None, self.call(speaker, session.cloned(), verb)).await?;
        if answer.status != 200 {
            return Ok(Some(answer));
        }
        match answer.body.get("units_affected").and_then(Value::as_u64) {
            Some(count) if count <= UNASKED_UNITS_MAX => {
                arguments.insert("confirm".to_owned(), json!(count));
                Ok(None)
            }
            Some(count) => Err(InvokeError::Argument(format!(
                "confirm: is required, because {count} units would be affected; if the user wants that, call it again with \
                 \"confirm\": {count}"
            ))),
            None => Err(InvokeError::Argument(
                "filter: the server does not say how many units would be affected".to_owned(),
            )),
        }
    }

    async fn speaker(
        &self,
        tool: &OperationTool,
        arguments: &mut Map<String, Value>,
    ) -> Result<Speaker, InvokeError> {
        let Self { caller, presented, configured, .. } = self;
        let client = self.client_name.as_deref();
        // REGISTER is sent in the name of the agent that registers.
        if let (Operation::Register, None, Some(Value::String(id))) =
            (tool.operation, arguments.get("agent_id"), arguments.get("id"))
            && !id.trim().is_empty()
        {
            return Ok(Speaker::Named(id.clone()));
        }
        let speaker = identity::find(*caller, presented, *configured, arguments, client).await;
        let speaker = speaker.map_err(InvokeError::Argument)?;
        if tool.agent_argument == AgentArgument::Speaks {
            return Ok(speaker);
        }
        arguments.insert("agent_id".to_owned(), json!(speaker.name()));
        Ok(caller.bound_agent(presented).await.map_or(speaker, Speaker::Named))
    }

    pub(crate) fn call(&self, speaker: &Speaker, session: Option<String>, verb: Verb) -> Call {
        let agent = Some(speaker.name().to_owned());
        Call { presented: self.presented.clone(), agent, session, verb }
    }

    /// The agent that speaks for the host.
    pub(crate) async fn host(&self) -> Speaker {
        let client = self.client_name.as_deref();
        let name = identity::host(self.caller, &self.presented, self.configured, client).await;
        Speaker::Host(name)
    }

    /// Makes a call. If it is refused because the host's agent is not registered, registers the agent and makes the
    /// call again.
    pub(crate) async fn as_registered(
        &self,
        speaker: &Speaker,
        role: Option<&str>,
        call: Call,
    ) -> Result<Answer, InvokeError> {
        let answer = self.caller.call(call.clone()).await?;
        let Speaker::Host(name) = speaker else { return Ok(answer) };
        // A Field that does not exist yet is created when its first agent registers.
        let code = code_of(&answer);
        if !matches!(code, Some(ErrorCode::AgentNotRegistered | ErrorCode::FieldNotFound)) {
            return Ok(answer);
        }
        // DEREGISTER and REGISTER are about registration themselves, so the agent is not registered for them.
        if let Verb::Operate(Operation::Deregister | Operation::Register, _) = call.verb {
            return Ok(answer);
        }
        let role = self.role.or_else(|| role.filter(|role| !role.trim().is_empty()));
        let role = role.unwrap_or(HOST_ROLE);
        let payload = json!({"id": name, "role": role});
        let registering = self.call(speaker, None, Verb::Operate(Operation::Register, payload));
        let registered = self.caller.call(registering).await?;
        // AGENT_ID_TAKEN: another process of the same host registered the agent in between.
        match code_of(&registered) {
            None | Some(ErrorCode::AgentIdTaken) => Ok(self.caller.call(call).await?),
            Some(_) => Ok(registered),
        }
    }
}

#[derive(Debug)]
pub(crate) enum InvokeError {
    /// An argument has the wrong type or a value that is not allowed.
    Argument(String),
    /// The call could not be sent, or no answer came.
    Call(CallFailed),
}

impl From<CallFailed> for InvokeError {
    fn from(failed: CallFailed) -> Self {
        Self::Call(failed)
    }
}

/// The error code if the answer is a refusal.
pub(crate) fn code_of(answer: &Answer) -> Option<ErrorCode> {
    if answer.status == 200 {
        return None;
    }
    let error = ProtocolError::deserialize(&answer.body).ok();
    Some(error.map_or(ErrorCode::InternalError, |error| error.code))
}

/// The text of a refusal: its code, its message, and what to do next.
pub(crate) fn refusal_text(refusal: &Answer) -> String {
    let Ok(error) = ProtocolError::deserialize(&refusal.body) else {
        let body = json_line(&refusal.body);
        return format!("The server answered with status {}: {body}", refusal.status);
    };
    // The model sent flat arguments and does not know that they are inside of a payload.
    let message = error.message.strip_prefix("payload.").unwrap_or(&error.message);
    let next = if error.code == ErrorCode::AgentNotRegistered {
        "call akashik_register with this id first, or leave agent_id out to speak for the host"
    } else {
        error.suggested_action.as_deref().unwrap_or("read the message and change the call")
    };
    format!("{}: {}\nWhat to do: {next}.", error.code.as_str(), one_line(message))
}

fn refused(refusal: &Answer) -> CallToolResult {
    // Without structured content, because clients would check it against the schema of a success.
    let object = ContentBlock::text(json_line(&refusal.body));
    CallToolResult::error(vec![ContentBlock::text(refusal_text(refusal)), object])
}

fn unreachable_field(failed: &CallFailed) -> CallToolResult {
    let text = format!(
        "The shared memory does not answer: {failed}\nWhat to do: tell the user, go on without it, \
         and try again later."
    );
    CallToolResult::error(vec![ContentBlock::text(text)])
}
