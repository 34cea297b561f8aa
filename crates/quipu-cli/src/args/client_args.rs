//! What the thin commands have in common: where the server is, who speaks, in which field, and how an
//! answer or an error is shown.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use quipu_client::{Agent, Bytes, ClientError, Field, Harn, Retry};
use quipu_field::with_causes;
use quipu_wire::{
    ErrorCode,
    akashik::{Operation, RegisterResponse, RegisterStatus},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::ui::{failure::Failure, output};

/// Whoever types a command waits for it: one that cannot be carried out says so soon.
const RETRY: Retry = Retry {
    attempts: 3,
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_millis(200),
    within: Duration::from_secs(10),
};

/// Where the server is and who speaks.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// Address of the server
    #[arg(
        long,
        env = "QUIPU_URL",
        hide_env_values = true,
        value_name = "URL",
        default_value = "http://127.0.0.1:7070"
    )]
    pub(crate) url: String,
    /// Key to present; not needed with `serve --dev`
    #[arg(long, env = "QUIPU_KEY", hide_env_values = true, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The agent that speaks; not needed with a key that is bound to one
    #[arg(long, env = "QUIPU_AGENT", hide_env_values = true, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The field to use [default: the key's own, else `default`]
    #[arg(long, env = "QUIPU_FIELD", hide_env_values = true, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// Certificates that an https server is checked against, in PEM
    #[arg(long, env = "QUIPU_CA_CERT", hide_env_values = true, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// Print the server's answer as it is
    #[arg(long)]
    pub(crate) json: bool,
}

impl ServerArgs {
    /// The Field by the Harn protocol, with these arguments.
    pub(crate) fn harn(&self) -> Result<Harn, Failure> {
        let harn = self.field()?.harn();
        match &self.agent {
            Some(agent) => harn.speaking_as(agent).map_err(|error| self.failed(&error)),
            None => Ok(harn),
        }
    }

    fn field(&self) -> Result<Field, Failure> {
        let mut connect = Field::connect(&self.url).retry(RETRY);
        if let Some(key) = &self.key {
            connect = connect.key(key);
        }
        if let Some(name) = &self.field {
            connect = connect.field(name);
        }
        if let Some(path) = &self.ca_cert {
            connect = connect.ca_cert(path);
        }
        connect.build().map_err(|error| self.failed(&error))
    }

    /// A connection with these arguments. `message_id` makes one operation safe to repeat by hand.
    pub(crate) fn connect(&self, message_id: Option<&str>) -> Result<Speaker<'_>, Failure> {
        let field = self.field()?;
        let agent = match &self.agent {
            Some(id) => field.agent(id, "").map_err(|error| self.failed(&error))?,
            None => field.key_agent(""),
        };
        Ok(Speaker { server: self, agent, message_id: message_id.map(str::to_owned) })
    }

    /// Shows why there is no answer; a refusal with `--json` in the server's own words.
    pub(crate) fn failed(&self, error: &ClientError) -> Failure {
        let Some(refusal) = error.refusal() else { return client_failure(error) };
        if self.json {
            return print_raw(&refusal.body)
                .map_or_else(|failure| failure, |()| Failure::reported());
        }
        let failure = Failure::new(output::harmless(&refusal.to_string()));
        match refusal.suggested_action() {
            Some(action) => failure.advise(output::harmless(action)),
            None => failure,
        }
    }

    /// Shows an answer: as it came with `--json`, else as `render` words it.
    pub(crate) fn show<T: DeserializeOwned>(
        &self,
        raw: &Bytes,
        render: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        if self.json {
            return print_raw(raw);
        }
        let answer = understand(raw)?;
        output::print(&render(&answer))
    }
}

#[derive(Debug)]
pub(crate) struct Speaker<'s> {
    server: &'s ServerArgs,
    agent: Agent,
    message_id: Option<String>,
}

impl Speaker<'_> {
    /// Reads a resource; the answer is as it came.
    pub(crate) async fn get(&self, path: &str) -> Result<Bytes, Failure> {
        self.agent.read_raw(path).await.map_err(|error| self.server.failed(&error))
    }

    /// Carries out an operation; where the agent is not registered and a role is known, registers it
    /// first.
    pub(crate) async fn post_registered(
        &self,
        role: Option<&str>,
        operation: Operation,
        payload: &Value,
    ) -> Result<Bytes, Failure> {
        let id = self.message_id.as_deref();
        match (self.agent.call_raw(operation, payload, id).await, role, &self.server.agent) {
            (Ok(raw), _, _) => return Ok(raw),
            (Err(error), Some(role), Some(agent)) if error.is(ErrorCode::AgentNotRegistered) => {
                self.register(agent, role, &[]).await?;
            }
            (Err(error), _, _) => return Err(self.server.failed(&error)),
        }
        let again = self.agent.call_raw(operation, payload, id).await;
        again.map_err(|error| self.server.failed(&error))
    }

    /// REGISTER, under a message id of its own.
    pub(crate) async fn register(
        &self,
        agent: &str,
        role: &str,
        interests: &[String],
    ) -> Result<Bytes, Failure> {
        let payload = json!({"id": agent, "role": role, "interests": interests});
        let raw = self.agent.call_raw(Operation::Register, &payload, None).await;
        let raw = raw.map_err(|error| self.server.failed(&error))?;
        let answer: RegisterResponse = understand(&raw)?;
        match answer.status {
            RegisterStatus::Registered => Ok(raw),
            RegisterStatus::Rejected => {
                let reason =
                    answer.rejection_reason.unwrap_or_else(|| "no reason given".to_owned());
                Err(Failure::new(format!("{agent} was not registered: {reason}")))
            }
        }
    }
}

pub(crate) fn understand<T: DeserializeOwned>(raw: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(raw).map_err(|error| {
        Failure::new(format!("the server's answer is not understood: {error}"))
            .advise("is it a newer server? --json shows the answer as it is")
    })
}

fn print_raw(raw: &[u8]) -> Result<(), Failure> {
    output::print(&format!("{}\n", String::from_utf8_lossy(raw).trim_end()))
}

pub(crate) fn client_failure(error: &ClientError) -> Failure {
    let failure = Failure::new(output::harmless(&with_causes(error)));
    match error {
        ClientError::Connect { .. } => {
            failure.advise("is the server running? `quipu serve` starts one; --url names another")
        }
        ClientError::Exchange { .. } => failure.advise(
            "whether it was done is not known; a RECORD with a --message-id can be repeated safely",
        ),
        ClientError::NoRoots { .. } => {
            failure.advise("name the server's certificate, or that of its issuer, with --ca-cert")
        }
        ClientError::Url { .. } => failure.advise("for example --url http://127.0.0.1:7070"),
        ClientError::Unexpected { .. } => {
            failure.advise("check that --url is the address of a quipu server")
        }
        ClientError::Refused(_)
        | ClientError::Roots(_)
        | ClientError::Header { .. }
        | ClientError::Payload(_)
        | ClientError::InUse { .. }
        | ClientError::Open { .. } => failure,
    }
}
