//! `quipu register`: an agent joins a field.

use clap::Args;
use quipu_wire::akashik::RegisterResponse;

use crate::{
    args::client_args::ServerArgs,
    ui::{failure::Failure, output},
};

const ABOUT: &str = "\
Register an agent with a server.

An agent must be registered before it records or asks. `record` and `attune` do it on the way when
they are given --role. A name that takes part already is refused: AGENT_ID_TAKEN.

Example:
  quipu register --agent ada --role researcher --interest databases --interest durability";

const AFTER: &str = "\
The same over HTTP:
  curl -s http://127.0.0.1:7070/v1/register -H \"Authorization: Bearer $QUIPU_KEY\" \\
    -H 'Content-Type: application/json' \\
    -d '{\"id\": \"ada\", \"role\": \"researcher\", \"interests\": [\"databases\"]}'";

/// The arguments of `quipu register`.
#[derive(Debug, Args)]
#[command(about = "Register an agent with a server", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct RegisterArgs {
    /// What the agent does in the team
    #[arg(long, value_name = "ROLE")]
    role: String,
    /// A topic that it wants to hear of; may be repeated
    #[arg(long = "interest", value_name = "TOPIC")]
    interests: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) async fn register(args: RegisterArgs) -> Result<(), Failure> {
    let Some(agent) = &args.server.agent else {
        return Err(Failure::new("the agent has no name").advise("name it with --agent"));
    };
    let speaker = args.server.connect(None)?;
    let raw = speaker.register(agent, &args.role, &args.interests).await?;
    args.server.show(&raw, render)
}

fn render(answer: &RegisterResponse) -> String {
    let mut text = match &answer.agent {
        Some(agent) => {
            let (id, role) = (output::harmless(&agent.id), output::harmless(&agent.role));
            format!("{id} is registered as {role}, authority {}\n", agent.authority_level)
        }
        None => "registered\n".to_owned(),
    };
    for warning in &answer.warnings {
        text.push_str(&format!("warning: {}\n", output::harmless(warning)));
    }
    text
}
