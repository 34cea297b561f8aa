//! Memory as resources: units, conflicts and replays as readable text. The list holds what is recent; everything else
//! is read by its URI.

use quipu_wire::{
    ErrorCode,
    akashik::{
        AttuneResponse, Conflict, ConflictList, DetectResponse, MemoryUnit, Operation,
        ReplayResponse, UnitView,
    },
    quote::{named, quoted},
};
use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    caller::{Answer, Caller, Verb},
    invoke::{InvokeError, Invoker, Speaker, code_of, refusal_text},
    tools,
    uri::{ResourceUri, encoded},
};

const TEXT: &str = "text/plain";
const RECENT_UNITS: usize = 20;
/// The longest title that is made from a text.
const TITLE_CHARS: usize = 80;

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, title: &str, description: &str| {
        ResourceTemplate::new(uri, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(TEXT)
    };
    vec![
        template(
            "quipu://unit/{id}",
            "unit",
            "A memory unit",
            "What it says, why, how sure its author was, and what it is linked to.",
        ),
        template(
            "quipu://conflict/{id}",
            "conflict",
            "A conflict",
            "Two units that disagree, both in full, and how it was settled.",
        ),
        template(
            "quipu://replay/{kind}/{id}",
            "replay",
            "How something came about",
            "The story of a decision, memory_unit, conflict, task or session (`kind`).",
        ),
    ]
}

impl<C: Caller> Invoker<'_, C> {
    /// The open conflicts and the most recent units. Registers nobody: hosts list resources without being asked to.
    pub(crate) async fn list_resources(&self) -> Result<Vec<Resource>, ErrorData> {
        let host = self.host().await;
        let session = self.presented.session.clone();
        let read = self.call(&host, session.clone(), Verb::Read("/v1/conflicts".to_owned()));
        let conflicts: ConflictList = self.whole(self.caller.call(read).await?)?;
        let mut listed: Vec<Resource> = conflicts.conflicts.iter().map(of_conflict).collect();
        let scope = json!({"role": self.role.unwrap_or("agent"), "max_units": RECENT_UNITS,
                           "recency_weight": 1.0, "include_own": true});
        let attune = Verb::Operate(Operation::Attune, json!({"scope": scope, "format": "summary"}));
        let answer = self.caller.call(self.call(&host, session, attune)).await?;
        if answer.status == 200 {
            let recent: AttuneResponse = self.whole(answer)?;
            listed.extend(recent.record.iter().filter_map(|scoped| of_unit(&scoped.memory_unit)));
        }
        Ok(listed)
    }

    pub(crate) async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let Some(parsed) = ResourceUri::parse(uri) else {
            return Err(not_found(uri, "no such kind"));
        };
        let host = self.host().await;
        let text = match &parsed {
            ResourceUri::Unit(id) => tools::unit_text(&self.unit(&host, uri, id).await?),
            ResourceUri::Conflict(id) => self.conflict(&host, uri, id).await?,
            ResourceUri::Replay(kind, id) => {
                let payload = json!({"target_type": kind, "target_id": id, "depth": "detailed"});
                let replay = Verb::Operate(Operation::Replay, payload);
                let answer = self.ask(&host, uri, replay).await?;
                tools::replay_text(&self.whole::<ReplayResponse>(answer)?)
            }
        };
        let text = format!("{}\n\n{text}", tools::WHAT_QUOTES_MEAN);
        let contents = ResourceContents::text(text, uri).with_mime_type(TEXT);
        Ok(ReadResourceResult::new(vec![contents]))
    }

    async fn unit(&self, host: &Speaker, uri: &str, id: &str) -> Result<MemoryUnit, ErrorData> {
        let read = Verb::Read(format!("/v1/units/{}", encoded(id)));
        let answer = self.ask(host, uri, read).await?;
        self.whole(answer)
    }

    async fn conflict(&self, host: &Speaker, uri: &str, id: &str) -> Result<String, ErrorData> {
        let list = Verb::Operate(Operation::Detect, json!({"mode": "list"}));
        let answer = self.ask(host, uri, list).await?;
        let known: DetectResponse = self.whole(answer)?;
        let Some(conflict) = known.conflicts.iter().find(|conflict| conflict.id == id) else {
            return Err(not_found(uri, "there is no such conflict"));
        };
        let mut text = tools::conflict_text(conflict);
        for unit in [&conflict.unit_a, &conflict.unit_b] {
            text.push_str("\n\n");
            text.push_str(&tools::unit_text(&self.unit(host, uri, unit).await?));
        }
        Ok(text)
    }

    async fn ask(&self, host: &Speaker, uri: &str, verb: Verb) -> Result<Answer, ErrorData> {
        let call = self.call(host, self.presented.session.clone(), verb);
        let answer = self.as_registered(host, None, call).await?;
        match code_of(&answer) {
            None => Ok(answer),
            Some(ErrorCode::UnitNotFound | ErrorCode::ConflictNotFound) => {
                Err(not_found(uri, &refusal_text(&answer)))
            }
            Some(_) => Err(refused(&answer)),
        }
    }

    fn whole<T: DeserializeOwned>(&self, answer: Answer) -> Result<T, ErrorData> {
        if answer.status != 200 {
            return Err(refused(&answer));
        }
        serde_json::from_value(answer.body)
            .map_err(|error| ErrorData::internal_error(format!("unreadable answer: {error}"), None))
    }
}

fn refused(answer: &Answer) -> ErrorData {
    ErrorData::internal_error(refusal_text(answer), Some(answer.body.clone()))
}

fn not_found(uri: &str, problem: &str) -> ErrorData {
    let data: Value = json!({"uri": uri});
    ErrorData::resource_not_found(format!("Resource not found: {uri}: {problem}"), Some(data))
}

impl From<InvokeError> for ErrorData {
    fn from(error: InvokeError) -> Self {
        match error {
            InvokeError::Argument(problem) => Self::invalid_params(problem, None),
            InvokeError::Call(failed) => failed.into(),
        }
    }
}

impl From<crate::caller::CallFailed> for ErrorData {
    fn from(failed: crate::caller::CallFailed) -> Self {
        let problem = format!("the shared memory does not answer: {failed}");
        Self::internal_error(problem, None)
    }
}

fn of_conflict(conflict: &Conflict) -> Resource {
    Resource::new(ResourceUri::Conflict(conflict.id.clone()).to_string(), conflict.id.as_str())
        .with_title(format!("Conflict: {}", quoted(&short(&conflict.description))))
        .with_mime_type(TEXT)
}

fn of_unit(view: &UnitView) -> Option<Resource> {
    let UnitView::Unit(unit) = view else { return None };
    let resource = Resource::new(ResourceUri::Unit(unit.id.clone()).to_string(), unit.id.as_str())
        .with_title(format!("{}: {}", unit.kind.as_str(), quoted(&short(&unit.content))))
        .with_description(format!(
            "By {}: {}",
            named(&unit.source.agent_id),
            quoted(&short(&unit.intent.purpose))
        ))
        .with_mime_type(TEXT);
    Some(resource)
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}
