//! `quipu attune`: the memory that matters to an agent now, ranked and explained.

use clap::{Args, builder::PossibleValuesParser};
use quipu_wire::akashik::{
    AgentList, AttuneResponse, Conflict, Format, Operation, Scope, ScopedMemoryUnit, UnitStatus,
    UnitView,
};
use serde_json::{Value, json};

use crate::{
    args::client_args::{ServerArgs, Speaker, understand},
    ui::{
        failure::Failure,
        output::{WIDTH, harmless, wrap},
    },
};

const ABOUT: &str = "\
Ask for the memory that matters to an agent now: ranked, with the reason for each rank.

There is no query. The field ranks by what it knows of the agent: its role, its interests, its
task, and the hint about what it is going to do. Your own units are left out unless --own is given.

Example:
  quipu attune --agent bob --role engineer --hint 'which database is fast enough?' --max-units 5";

const AFTER: &str = "\
The same over HTTP:
  curl -s http://127.0.0.1:7070/v1/attune -H \"Authorization: Bearer $QUIPU_KEY\" \\
    -H 'Akashik-Agent: bob' -H 'Content-Type: application/json' \\
    -d '{\"scope\": {\"role\": \"engineer\", \"max_units\": 5},
         \"context_hint\": \"which database is fast enough?\"}'";

/// The arguments of `quipu attune`.
#[derive(Debug, Args)]
#[command(about = "Ask for the memory that matters now", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct AttuneArgs {
    /// What the agent is going to do, in words
    #[arg(long, value_name = "TEXT")]
    hint: Option<String>,
    /// The role to rank for; registers the agent if it is not registered [default: its own]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The most units to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_units: usize,
    /// The most tokens to return
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,
    /// The task that the agent works on
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// A topic to favour; may be repeated
    #[arg(long = "interest", value_name = "TOPIC")]
    interests: Vec<String>,
    /// Only units from this epoch on
    #[arg(long, value_name = "EPOCH")]
    since_epoch: Option<u64>,
    /// Also the agent's own units
    #[arg(long)]
    own: bool,
    /// Show how each factor added to a score
    #[arg(long)]
    explain: bool,
    /// Look at the Field as it was after this epoch
    #[arg(long, value_name = "EPOCH")]
    as_of: Option<u64>,
    /// How much of each unit to return
    #[arg(long, value_name = "FORMAT", value_parser = formats(), default_value = "full")]
    format: String,
    #[command(flatten)]
    server: ServerArgs,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()))
}

pub(crate) async fn attune(args: AttuneArgs) -> Result<(), Failure> {
    let speaker = args.server.connect(None)?;
    let role = match &args.role {
        Some(role) => role.clone(),
        None => own_role(&speaker, &args.server).await?,
    };
    let raw = speaker
        .post_registered(args.role.as_deref(), Operation::Attune, &payload(&args, &role))
        .await?;
    args.server.show(&raw, render)
}

/// The role that the agent registered with.
async fn own_role(speaker: &Speaker<'_>, server: &ServerArgs) -> Result<String, Failure> {
    let needed = |what: &str| Failure::new(what).advise("name the role to rank for with --role");
    let agent =
        server.agent.as_deref().ok_or_else(|| needed("neither --role nor --agent is given"))?;
    let raw = speaker.get("/v1/agents").await?;
    let known: AgentList = understand(&raw)?;
    let found = known.agents.into_iter().find(|found| found.id == agent);
    found.map(|found| found.role).ok_or_else(|| {
        needed(&format!("agent {agent} is not registered, so its role is not known"))
    })
}

fn payload(args: &AttuneArgs, role: &str) -> Value {
    let mut scope = Scope::new(role, args.max_units);
    scope.max_tokens = args.max_tokens;
    scope.since_epoch = args.since_epoch;
    scope.interests.clone_from(&args.interests);
    scope.active_task_id.clone_from(&args.task);
    scope.include_own = args.own;
    scope.as_of_epoch = args.as_of;
    scope.explain = args.explain;
    let mut payload = json!({"scope": scope, "format": args.format});
    if let (Some(hint), Some(object)) = (&args.hint, payload.as_object_mut()) {
        object.insert("context_hint".to_owned(), json!(hint));
    }
    payload
}

fn render(answer: &AttuneResponse) -> String {
    let mut text = String::new();
    for (rank, unit) in (1..).zip(&answer.record) {
        text.push_str(&render_unit(rank, unit));
        text.push('\n');
    }
    for conflict in &answer.conflicts {
        text.push_str(&render_conflict(conflict));
    }
    if !answer.conflicts.is_empty() {
        text.push('\n');
    }
    for warning in &answer.warnings {
        text.push_str(&format!("warning: {}\n", harmless(warning)));
    }
    let budget = &answer.context_budget;
    text.push_str(&format!("{} of {} units", budget.units_returned, budget.units_available));
    if let (Some(used), Some(most)) = (budget.tokens_used, budget.tokens_budget) {
        text.push_str(&format!(", {used} of {most} tokens"));
    }
    text.push_str(&format!(", epoch {}\n", answer.epoch));
    text
}

fn render_unit(rank: usize, scoped: &ScopedMemoryUnit) -> String {
    let mut text = format!("{rank:>3}. {:.2}  ", scoped.relevance_score);
    match &scoped.memory_unit {
        UnitView::Id { id } => text.push_str(&format!("{}\n", harmless(id))),
        UnitView::Unit(unit) => {
            let (id, author) = (harmless(&unit.id), harmless(&unit.source.agent_id));
            text.push_str(&format!("{} {id}  by {author}, epoch {}", unit.kind, unit.epoch));
            match unit.status {
                UnitStatus::Active => {}
                UnitStatus::Contested => text.push_str("  [CONTESTED]"),
                UnitStatus::Draft
                | UnitStatus::Superseded
                | UnitStatus::Retracted
                | UnitStatus::PendingEnrichment => text.push_str(&format!("  [{}]", unit.status)),
            }
            text.push('\n');
            text.push_str(&wrap(&unit.content, "     ", WIDTH));
            if scoped.format == Some(Format::Summary) {
                text.push_str("     (an extract)\n");
            }
        }
    }
    text.push_str(&wrap(&format!("why: {}", scoped.relevance_reason), "     ", WIDTH));
    for factor in scoped.explanation.iter().flat_map(|explanation| &explanation.factors) {
        text.push_str(&format!(
            "       {:<22} {:.3} = {:.3} x {:.3}\n",
            harmless(&factor.factor),
            factor.contribution,
            factor.value,
            factor.weight
        ));
    }
    text
}

fn render_conflict(conflict: &Conflict) -> String {
    let (a, b) = (harmless(&conflict.unit_a), harmless(&conflict.unit_b));
    let mut text = format!("  ! {} {}: {a} against {b}\n", conflict.status, harmless(&conflict.id));
    text.push_str(&wrap(&conflict.description, "     ", WIDTH));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_rank_reason_content_and_conflicts() {
        let answer: AttuneResponse = serde_json::from_value(json!({
            "status": "ok",
            "record": [{
                "memory_unit": {
                    "id": "mem-2", "mode": "committed", "type": "finding",
                    "content": "The queue holds 4096 messages.\nOne more is refused.",
                    "intent": {"purpose": "p"}, "relations": [], "status": "contested", "epoch": 7,
                    "source": {"agent_id": "ada\u{1b}[2J", "agent_role": "researcher",
                               "session_id": null, "timestamp": "2026-03-01T00:00:00Z"}
                },
                "relevance_score": 0.834, "relevance_reason": "matches the hint", "format": "full"
            }],
            "conflicts": [{
                "id": "con-1", "type": "factual", "status": "detected", "unit_a": "mem-1",
                "unit_b": "mem-2", "description": "they disagree", "detected_by": "explicit"
            }],
            "context_budget": {"units_returned": 1, "units_available": 3,
                               "tokens_used": 12, "tokens_budget": 100},
            "epoch": 9
        }))
        .unwrap();
        insta::assert_snapshot!(render(&answer));
    }
}
