//! The document of a replay: what was asked, without what must not be kept.

use quipu_core::DocumentKind;
use quipu_replay::{receipt::SecretHashing, task::ReplayPlan};
use quipu_wire::harn::{HarnError, HarnErrorCode, JsonObject};
use serde::{Deserialize, Serialize};

use crate::{Harness, handle::failure::harn_error};

/// How often a replay may be of a replay: reading one reads through all of them.
pub(crate) const DEPTH_MAX: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Executor {
    /// The server, from the log.
    #[default]
    InProcess,
    /// A worker outside, which asks for every answer.
    Worker,
}

/// What the log keeps of a replay. Members are added, never renamed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReplayDocument {
    pub(crate) plan: ReplayPlan,
    #[serde(default)]
    pub(crate) executor: Executor,
    /// How many replays are behind it.
    #[serde(default)]
    pub(crate) depth: u32,
    /// Whether the first drift fails it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict: bool,
    /// Which replay of its source it is, from 1.
    pub(crate) number: u32,
    /// Whether the process of its module died already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) module_died: bool,
}

impl Executor {
    /// Reads `metadata.executor`.
    pub(crate) fn read(metadata: &JsonObject) -> Result<Self, HarnError> {
        match metadata.get("executor").map(|word| word.as_str()) {
            None | Some(Some("in_process")) => Ok(Self::InProcess),
            Some(Some("worker")) => Ok(Self::Worker),
            Some(_) => {
                let message = "metadata.executor: must be in_process or worker";
                let error = HarnError::new(HarnErrorCode::InvalidRequest, message);
                Err(error.at("metadata.executor"))
            }
        }
    }
}

impl Harness {
    /// How secrets are told apart within a run, and within its replays: a fingerprint of another run says nothing of
    /// them. Reads storage.
    pub(crate) fn secrets_of_run(&self, task: &str) -> Result<SecretHashing, HarnError> {
        let mut first = task.to_owned();
        for _ in 0..=DEPTH_MAX {
            let Some(behind) = self.replay_document(&first)? else { break };
            first = behind.plan.identity.source_task_id;
        }
        Ok(self.options.secrets.within(&first))
    }

    /// How a task replays another; nothing if it does not. Reads storage.
    pub(crate) fn replay_document(&self, task: &str) -> Result<Option<ReplayDocument>, HarnError> {
        let entry = self.field.with_state(|state| {
            state.documents.get(DocumentKind::Replay, task).map(|entry| entry.at)
        });
        let Some(at) = entry else { return Ok(None) };
        let body = self.field.body_at(at).map_err(|error| harn_error(&error))?;
        let gone = || {
            let message = format!("how task {task} replays its source was erased");
            HarnError::new(HarnErrorCode::InternalError, message)
        };
        body.map(Some).ok_or_else(gone)
    }
}
