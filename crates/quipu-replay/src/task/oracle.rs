//! The oracle: answers a worker outside that replays a Task, one key at a time. It never asks anybody live,
//! notices when something else is asked than was recorded, and stays failed after the first missing answer.

use std::collections::BTreeSet;

use serde_json::Value;

use quipu_wire::harn::{DependencyKind, RequestDrift, ResolutionSource, Sha256};

use super::{
    plan::{ReplayPlan, Substitute},
    recording::{Availability, Material, Materials, RecordedDependency, ReferenceKind},
    unavailable::{Unavailable, UnavailableKind},
};

#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// Whether it was recorded or substituted.
    pub source: ResolutionSource,
    pub kind: DependencyKind,
    pub answer: Answer,
    pub sha256: Sha256,
    /// Whether something else is asked now than was asked then.
    pub divergent: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Value(Value),
    Artifact(String),
}

/// What a worker's replay consulted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleReport {
    /// The keys that were asked for.
    pub consulted: BTreeSet<String>,
    /// Questions that were not the same, in the order in which they came.
    pub request_drift: Vec<RequestDrift>,
    pub first_unavailable: Option<Unavailable>,
}

/// The state of one worker's replay.
#[derive(Debug, Clone)]
pub struct Oracle<'a> {
    plan: &'a ReplayPlan,
    report: OracleReport,
}

impl<'a> Oracle<'a> {
    /// An oracle that was asked nothing yet.
    #[must_use]
    pub const fn new(plan: &'a ReplayPlan) -> Self {
        let report = OracleReport {
            consulted: BTreeSet::new(),
            request_drift: Vec::new(),
            first_unavailable: None,
        };
        Self { plan, report }
    }

    /// Answers for `key`, where `recorded` is what the source has under it and `request` the digest of what
    /// would be asked now. A question that differs is answered all the same, and noted.
    ///
    /// # Errors
    /// The first thing that was missing, for this key or for an earlier one.
    pub fn resolve(
        &mut self,
        key: &str,
        request: Option<Sha256>,
        recorded: Option<&RecordedDependency>,
        materials: &dyn Materials,
    ) -> Result<Resolution, Unavailable> {
        if let Some(first) = &self.report.first_unavailable {
            return Err(first.clone());
        }
        match self.answer(key, recorded, materials) {
            Ok(mut resolution) => {
                resolution.divergent = self.note(key, request, recorded);
                Ok(resolution)
            }
            Err(missing) => {
                self.report.first_unavailable = Some(missing.clone());
                Err(missing)
            }
        }
    }

    #[must_use]
    pub fn finish(self) -> OracleReport {
        self.report
    }

    fn note(
        &mut self,
        key: &str,
        request: Option<Sha256>,
        recorded: Option<&RecordedDependency>,
    ) -> bool {
        self.report.consulted.insert(key.to_owned());
        let before = recorded.and_then(|recorded| recorded.request_sha256);
        // Where one side says nothing, nothing can be said.
        let divergent = matches!((before, request), (Some(then), Some(now)) if then != now);
        // The first difference of a key is enough, and a worker cannot make the report grow by asking again.
        if divergent && !self.report.request_drift.iter().any(|drift| drift.key == key) {
            let drift = RequestDrift { key: key.to_owned(), recorded: before, asked: request };
            self.report.request_drift.push(drift);
        }
        divergent
    }

    fn answer(
        &self,
        key: &str,
        recorded: Option<&RecordedDependency>,
        materials: &dyn Materials,
    ) -> Result<Resolution, Unavailable> {
        let missing = |kind, id: &str, reason: &str| Unavailable {
            kind,
            id: id.to_owned(),
            override_key: Some(key.to_owned()),
            event_id: None,
            sequence: None,
            reason: reason.to_owned(),
        };
        if let Some(planned) = self.plan.overrides.get(key) {
            let answer = match &planned.substitute {
                Substitute::Value(value) => Answer::Value(value.clone()),
                Substitute::Artifact(id) => Answer::Artifact(id.clone()),
                Substitute::Withheld(_) => {
                    let kind = UnavailableKind::Dependency(planned.kind);
                    return Err(missing(kind, key, "the secret of the override was not kept"));
                }
            };
            let (kind, sha256) = (planned.kind, planned.sha256);
            let source = ResolutionSource::Overridden;
            return Ok(Resolution { source, kind, answer, sha256, divergent: false });
        }
        let Some(recorded) = recorded else {
            let reason = "it was never recorded";
            return Err(missing(UnavailableKind::never_recorded(key), key, reason));
        };
        let kind = UnavailableKind::Dependency(recorded.kind);
        let answer = match &recorded.material {
            Material::Value(value) if Sha256::of_json(value).ok() == Some(recorded.sha256) => {
                Answer::Value(value.clone())
            }
            Material::Value(_) => {
                return Err(missing(kind, key, "it does not match its recorded hash"));
            }
            Material::HashOnly => {
                let reason = "only its hash was kept; give it as an override";
                return Err(missing(kind, key, reason));
            }
            Material::Gone { reason } => return Err(missing(kind, key, reason)),
            Material::Artifact(id) => match materials.find(ReferenceKind::Artifact, id) {
                Availability::Present(found) if found.is_none_or(|it| it == recorded.sha256) => {
                    Answer::Artifact(id.clone())
                }
                Availability::Present(_) => {
                    let reason = "it is no longer what was recorded";
                    return Err(missing(UnavailableKind::Artifact, id, reason));
                }
                Availability::Absent { reason } => {
                    return Err(missing(UnavailableKind::Artifact, id, &reason));
                }
            },
        };
        let (source, sha256) = (ResolutionSource::Recorded, recorded.sha256);
        Ok(Resolution { source, kind: recorded.kind, answer, sha256, divergent: false })
    }
}
