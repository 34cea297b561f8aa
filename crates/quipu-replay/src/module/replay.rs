//! Replays a module: every answer comes from the recording or from an override, by way of the same oracle that a
//! worker outside asks. Nothing is asked live; the first answer that is missing ends the replay and is named.

use std::collections::BTreeSet;

use serde_json::Value;

use quipu_wire::harn::{DependencyKind, Failure, OutcomeStatus, Sha256};

use super::{
    answers::{Answer, Answers, Request},
    death::{Death, RunError},
    diagnostic::Diagnostic,
    policy::Policy,
    program::Program,
    run::ModuleRun,
    snapshot::SnapshotError,
};
use crate::task::{
    Answer as Resolved, Material, Materials, Oracle, OracleReport, RecordedDependency,
    ReplayOutcome, ReplayPlan, Unavailable, UnavailableKind,
};

/// The answers that a recorded run was given.
pub trait Recorded: Materials {
    fn dependency(&self, key: &str) -> Option<RecordedDependency>;
    /// What an Artifact holds, read as JSON; nothing if its bytes are not there or are something else.
    fn artifact(&self, id: &str) -> Option<Value>;
    /// The secret that was recorded, from a vault. Must be the very one: its keyed hash is the recorded one.
    fn secret(&self, recorded: &RecordedDependency) -> Option<Value>;
}

#[derive(Debug, Clone, PartialEq)]
pub enum ModuleEnd {
    Completed { value: Value, sha256: Sha256 },
    Failed { diagnostic: Diagnostic },
    Unavailable(Unavailable),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ModuleReplay {
    pub end: ModuleEnd,
    /// What it asked, and which of its questions were not the recorded ones.
    pub report: OracleReport,
}

/// Replays a module from the start.
///
/// # Errors
/// Where it came to no end of its own.
pub fn replay_module(
    module: &dyn Program,
    policy: &Policy,
    input: &Value,
    plan: &ReplayPlan,
    recorded: &dyn Recorded,
) -> Result<ModuleReplay, RunError> {
    let mut answers = FromRecording::new(plan, recorded);
    let run = module.run(policy, input, &mut answers)?;
    Ok(answers.conclude(run))
}

/// Replays a module from a checkpoint: the snapshot that a run left.
///
/// # Errors
/// Where it came to no end of its own; within, where the snapshot was altered, or belongs to another module or policy.
pub fn replay_module_from(
    module: &dyn Program,
    policy: &Policy,
    snapshot: &[u8],
    plan: &ReplayPlan,
    recorded: &dyn Recorded,
) -> Result<Result<ModuleReplay, SnapshotError>, RunError> {
    let mut answers = FromRecording::new(plan, recorded);
    let run = module.resume(policy, snapshot, &mut answers)?;
    Ok(run.map(|run| answers.conclude(run)))
}

impl ModuleReplay {
    /// A replay whose module died too often.
    #[must_use]
    pub fn died(death: Death) -> Self {
        let report = OracleReport {
            consulted: BTreeSet::new(),
            request_drift: Vec::new(),
            first_unavailable: None,
        };
        Self { end: ModuleEnd::Failed { diagnostic: death.diagnostic() }, report }
    }

    /// The replay of the Task, with what its module did: a module that failed fails it, whatever the source did.
    #[must_use]
    pub fn settle(self, outcome: ReplayOutcome) -> ReplayOutcome {
        let mut outcome = outcome.with_oracle(self.report);
        if outcome.lifecycle.final_state == Some(OutcomeStatus::Canceled) {
            return outcome;
        }
        match self.end {
            ModuleEnd::Completed { .. } => {
                outcome.lifecycle.final_state = Some(OutcomeStatus::Succeeded);
            }
            ModuleEnd::Failed { .. } => {
                outcome.lifecycle.final_state = Some(OutcomeStatus::Failed);
            }
            ModuleEnd::Unavailable(missing) => outcome.first_unavailable = Some(missing),
        }
        outcome
    }

    /// Why the replay failed, if the module is why.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        match &self.end {
            ModuleEnd::Failed { diagnostic } => Some(diagnostic.failure()),
            ModuleEnd::Completed { .. } | ModuleEnd::Unavailable(_) => None,
        }
    }
}

struct FromRecording<'a> {
    oracle: Oracle<'a>,
    plan: &'a ReplayPlan,
    recorded: &'a dyn Recorded,
    missing: Option<Unavailable>,
}

impl<'a> FromRecording<'a> {
    fn new(plan: &'a ReplayPlan, recorded: &'a dyn Recorded) -> Self {
        Self { oracle: Oracle::new(plan), plan, recorded, missing: None }
    }

    fn find(&mut self, request: &Request) -> Result<Value, Unavailable> {
        let recorded = self.recorded.dependency(&request.key).map(|it| self.with_secret(it));
        let resolved = self.oracle.resolve(
            &request.key,
            Some(request.sha256),
            recorded.as_ref(),
            self.recorded,
        )?;
        match resolved.answer {
            Resolved::Value(value) => Ok(value),
            Resolved::Artifact(id) => self.recorded.artifact(&id).ok_or_else(|| Unavailable {
                kind: UnavailableKind::Artifact,
                id,
                override_key: Some(request.key.clone()),
                event_id: None,
                sequence: None,
                reason: "it is not there, or holds no JSON".to_owned(),
            }),
        }
    }

    /// A secret of which only the hash was kept is taken from the vault, where no override stands for it.
    fn with_secret(&self, recorded: RecordedDependency) -> RecordedDependency {
        let wanted = recorded.kind == DependencyKind::SecretValue
            && recorded.material == Material::HashOnly
            && !self.plan.overrides.contains_key(&recorded.key);
        let secret = if wanted { self.recorded.secret(&recorded) } else { None };
        let digest = secret.as_ref().and_then(|secret| Sha256::of_json(secret).ok());
        match (secret, digest) {
            (Some(secret), Some(sha256)) => {
                RecordedDependency { sha256, material: Material::Value(secret), ..recorded }
            }
            _ => recorded,
        }
    }

    fn conclude(self, run: ModuleRun) -> ModuleReplay {
        let mut report = self.oracle.finish();
        report.first_unavailable = report.first_unavailable.or(self.missing);
        let end = match (run, report.first_unavailable.clone()) {
            (_, Some(missing)) => ModuleEnd::Unavailable(missing),
            (ModuleRun::Completed { value, sha256 }, None) => {
                ModuleEnd::Completed { value, sha256 }
            }
            (ModuleRun::Failed { diagnostic }, None) => ModuleEnd::Failed { diagnostic },
            (ModuleRun::Suspended { request, .. }, None) => ModuleEnd::Unavailable(Unavailable {
                kind: UnavailableKind::never_recorded(&request.key),
                override_key: Some(request.key.clone()),
                id: request.key,
                event_id: None,
                sequence: None,
                reason: "it was never recorded".to_owned(),
            }),
        };
        ModuleReplay { end, report }
    }
}

impl Answers for FromRecording<'_> {
    fn answer(&mut self, request: &Request) -> Answer {
        match self.find(request) {
            Ok(value) => Answer::Value(value),
            Err(missing) => {
                self.missing.get_or_insert(missing);
                Answer::Unavailable
            }
        }
    }
}
