//! Carries the calls of an MCP host out by `quipu-client`: over HTTP, or by a Field inside this process.
//! The key and the Field are the command's; a host brings none.

use quipu_client::{Agent, ClientError, Field};
use quipu_field::with_causes;
use quipu_mcp::{Answer, Call, CallFailed, Caller, Presented, PushPosition, Verb};
use quipu_wire::akashik::PushNotification;
use serde_json::Value;
use tokio::sync::{OnceCell, mpsc};

/// How many pushes wait for the host before the stream does.
const PUSHES_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct ClientCaller {
    field: Field,
    /// The agent that the key is bound to, once it was asked for.
    bound: OnceCell<Option<String>>,
}

impl ClientCaller {
    pub(crate) fn new(field: Field) -> Self {
        Self { field, bound: OnceCell::new() }
    }

    fn agent(&self, id: Option<&str>, session: Option<&str>) -> Result<Agent, CallFailed> {
        let agent = match id {
            Some(id) => self.field.agent(id, "").map_err(|error| failed(&error))?,
            None => self.field.key_agent(""),
        };
        match session {
            Some(session) => agent.in_session(session).map_err(|error| failed(&error)),
            None => Ok(agent),
        }
    }
}

fn failed(error: &ClientError) -> CallFailed {
    CallFailed(with_causes(error))
}

impl Caller for ClientCaller {
    async fn call(&self, call: Call) -> Result<Answer, CallFailed> {
        let agent = self.agent(call.agent.as_deref(), call.session.as_deref())?;
        let answer = match call.verb {
            Verb::Operate(operation, payload) => agent.call_raw(operation, &payload, None).await,
            Verb::Read(path) => agent.read_raw(&path).await,
        };
        let (status, body) = match answer {
            Ok(body) => (200, body),
            Err(ClientError::Refused(refusal)) => (refusal.status, refusal.body),
            Err(error) => return Err(failed(&error)),
        };
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
    }

    async fn follow(
        &self,
        _: &Presented,
        agent: &str,
        from: PushPosition<'_>,
    ) -> Result<mpsc::Receiver<PushNotification>, CallFailed> {
        let agent = self.agent(Some(agent), None)?;
        let mut pushes = agent.pushes_after(from.subscription, from.cursor);
        let (sender, receiver) = mpsc::channel(PUSHES_MAX);
        tokio::spawn(async move {
            loop {
                let push = tokio::select! {
                    push = pushes.next() => push,
                    () = sender.closed() => return,
                };
                let push = match push {
                    Some(Ok(push)) => push,
                    Some(Err(error)) => {
                        tracing::warn!(error = with_causes(&error), "a stream of pushes ended");
                        return;
                    }
                    None => return,
                };
                if sender.send(push).await.is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }

    async fn bound_agent(&self, _: &Presented) -> Option<String> {
        let ask = || async {
            let status = self.field.key_agent("").read_raw("/v1/field/status").await?;
            let status: Value = serde_json::from_slice(&status).unwrap_or_default();
            Ok::<_, ClientError>(status.get("agent_id").and_then(Value::as_str).map(str::to_owned))
        };
        match self.bound.get_or_try_init(ask).await {
            Ok(bound) => bound.clone(),
            // The call itself will say what is wrong.
            Err(error) => {
                tracing::debug!(
                    error = with_causes(&error),
                    "the server did not answer which agent the key belongs to"
                );
                None
            }
        }
    }
}
