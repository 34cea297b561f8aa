//! What the thin commands have in common: where the server is, who speaks, in which field, and how an
//! answer or an error is shown.

use std::path::PathBuf;

use clap::Args;
use hyper::body::Bytes;
use quipu_field::with_causes;
use quipu_wire::{
    ErrorCode, ProtocolError,
    akashik::{RegisterResponse, RegisterStatus},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    client::{Answer, Client, ClientError, ClientOptions},
    failure::Failure,
    output,
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

/// How an operation ended short of an answer.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The server said no, with the words as they came.
    Refused(Box<ProtocolError>, Bytes),
    /// There was no usable answer.
    Failed(Failure),
}

impl ServerArgs {
    /// A connection with these arguments. `message_id` makes one operation safe to repeat.
    pub(crate) fn connect(&self, message_id: Option<&str>) -> Result<Speaker, Failure> {
        let named = [
            ("akashik-agent", self.agent.as_deref()),
            ("quipu-field", self.field.as_deref()),
            ("akashik-message-id", message_id),
        ];
        let headers = named.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned())));
        let options = ClientOptions {
            url: self.url.clone(),
            key: self.key.clone(),
            ca_cert: self.ca_cert.clone(),
            headers: headers.collect(),
        };
        let client = Client::new(&options).map_err(|error| client_failure(&error))?;
        Ok(Speaker { client })
    }

    /// Shows how an operation was refused; with `--json`, in the server's own words.
    pub(crate) fn refused(&self, refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Failed(failure) => failure,
            Refusal::Refused(error, _) if !self.json => {
                let failure = Failure::new(output::harmless(&error.to_string()));
                match error.suggested_action {
                    Some(action) => failure.advise(output::harmless(&action)),
                    None => failure,
                }
            }
            Refusal::Refused(_, raw) => {
                print_raw(&raw).map_or_else(|failure| failure, |()| Failure::shown())
            }
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

/// Speaks to a server.
#[derive(Debug)]
pub(crate) struct Speaker {
    client: Client,
}

impl Speaker {
    /// Carries out an operation; the answer is as it came.
    pub(crate) async fn post(&mut self, path: &str, payload: &Value) -> Result<Bytes, Refusal> {
        accept(self.client.post(path, Bytes::from(payload.to_string())).await)
    }

    /// Reads a resource.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Bytes, Refusal> {
        accept(self.client.get(path).await)
    }

    /// Carries out an operation; where the agent is not registered and a role is known, registers it
    /// first.
    pub(crate) async fn post_registered(
        &mut self,
        server: &ServerArgs,
        role: Option<&str>,
        path: &str,
        payload: &Value,
    ) -> Result<Bytes, Refusal> {
        let first = self.post(path, payload).await;
        let (Err(Refusal::Refused(error, _)), Some(role), Some(agent)) =
            (&first, role, &server.agent)
        else {
            return first;
        };
        if error.code != ErrorCode::AgentNotRegistered {
            return first;
        }
        // Another connection: a message id given for the operation must not be spent on this.
        let mut fresh = server.connect(None).map_err(Refusal::Failed)?;
        fresh.register(agent, role, &[]).await?;
        self.post(path, payload).await
    }

    /// REGISTER.
    pub(crate) async fn register(
        &mut self,
        agent: &str,
        role: &str,
        interests: &[String],
    ) -> Result<Bytes, Refusal> {
        let payload = json!({"id": agent, "role": role, "interests": interests});
        let raw = self.post("/v1/register", &payload).await?;
        let answer: RegisterResponse = understand(&raw).map_err(Refusal::Failed)?;
        match answer.status {
            RegisterStatus::Registered => Ok(raw),
            RegisterStatus::Rejected => {
                let reason =
                    answer.rejection_reason.unwrap_or_else(|| "no reason given".to_owned());
                Err(Refusal::Failed(Failure::new(format!("{agent} was not registered: {reason}"))))
            }
        }
    }
}

fn accept(answer: Result<Answer, ClientError>) -> Result<Bytes, Refusal> {
    let answer = answer.map_err(|error| Refusal::Failed(client_failure(&error)))?;
    if (200..300).contains(&answer.status) {
        return Ok(answer.body);
    }
    match serde_json::from_slice::<ProtocolError>(&answer.body) {
        Ok(error) => Err(Refusal::Refused(Box::new(error), answer.body)),
        Err(_) => {
            let start: String = String::from_utf8_lossy(&answer.body).chars().take(200).collect();
            Err(Refusal::Failed(
                Failure::new(format!(
                    "HTTP {} and not in words of a quipu server: {}",
                    answer.status,
                    output::harmless(&start)
                ))
                .advise("check that --url is the address of a quipu server"),
            ))
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

fn client_failure(error: &ClientError) -> Failure {
    let failure = Failure::new(with_causes(error));
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
        ClientError::Roots { .. } | ClientError::Header { .. } => failure,
    }
}
