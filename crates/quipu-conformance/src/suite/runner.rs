//! Runs the catalogue against a target, one case after the other.

use std::rc::Rc;

use thiserror::Error;

use crate::{
    actors::{
        case::{Case, Field},
        check::Failed,
        target::{Binding, Target},
    },
    http::Client,
    rule::Rule,
    suite::{
        catalogue::groups,
        report::{Outcome, Report, Verdict},
    },
};

/// The target does not answer.
#[derive(Debug, Error)]
#[error("there is no answer from {url}")]
pub struct Unreachable {
    /// The URL of the target.
    pub url: String,
    /// The error of the connection.
    #[source]
    pub source: std::io::Error,
}

/// Runs the cases up to the target's level whose name contains one of `parts`; all, if there are none.
pub fn run(target: &Target, parts: &[String]) -> Result<Report, Unreachable> {
    let Binding::Http = target.binding;
    let url = format!("http://{}{}", target.base.authority, target.base.prefix);
    let client = Rc::new(Client::new(target.base.clone()));
    let probe = client.get("/v1/field/status", None);
    probe.map_err(|source| Unreachable { url: url.clone(), source })?;
    let field = Rc::new(Field::explore(client, target));
    let mut verdicts = Vec::new();
    for (operation, rules) in groups() {
        for rule in rules.iter().filter(|rule| rule.level() <= target.level) {
            if parts.is_empty() || parts.iter().any(|part| rule.name.contains(part.as_str())) {
                verdicts.push(Verdict::new(rule, outcome(rule, operation, &field)));
            }
        }
    }
    Ok(Report::new(url, target.level, !parts.is_empty(), verdicts))
}

fn outcome(rule: &Rule, operation: Option<&str>, field: &Rc<Field>) -> Outcome {
    let mut needed = operation.iter().copied().chain(rule.needs.iter().copied());
    if let Some(missing) = needed.find(|operation| !field.supports(operation)) {
        return Outcome::Skipped { reason: format!("{missing} is not among supported_operations") };
    }
    let mut case = Case::new(Rc::clone(field));
    let outcome = match (rule.check)(&mut case) {
        Ok(()) => Outcome::Passed,
        Err(Failed::Untried(reason)) => Outcome::Skipped { reason },
        Err(Failed::Wrong(reason)) => {
            Outcome::Failed { reason, last_exchange: field.client.last_exchange() }
        }
    };
    case.leave();
    outcome
}
