//! Tools: what can be called here. The operations, which the caller brings; the Skills; what a Persona declares that its
//! worker can call, in `tools` of its metadata; and the module that a Persona runs, which is called by a Task.

use quipu_core::{DocumentKind, state::DocumentEntry};
use quipu_wire::harn::{
    HarnError, JsonObject, List, Persona, ResourceKind, Skill, Tool, ToolObject,
};
use serde_json::{Value, json};

use crate::{
    Caller, Harness, handle::page::Page, not_found, resource::built_in_resources,
    task::installed_module::Installed,
};

/// The member of a Persona's metadata that declares tools: names, or objects with `name`, `description`, `input_schema` and
/// `output_schema`. What has another form is the client's own.
const TOOLS: &str = "tools";
/// How many tools of one Persona are listed.
const TOOLS_OF_PERSONA_MAX: u64 = 256;

impl Harness {
    /// `GET /v1/tools`, behind the operations that the server offers.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn tools(
        &self,
        caller: &Caller,
        page: Page,
        operations: &[Tool],
    ) -> Result<List<Tool>, HarnError> {
        let mut first = operations.to_vec();
        first.push(of_skill(built_in_resources::skill()));
        let before = first.len() as u64;
        let ordinal = page.from.saturating_sub(before) / TOOLS_OF_PERSONA_MAX;
        let caller = caller.clone();
        self.reading(move |harness| {
            let mut failed = None;
            let personas = harness.personas_from(usize::try_from(ordinal).unwrap_or(usize::MAX));
            let of_personas = personas.into_iter().flat_map(|(place, entry)| {
                let tools = harness.tools_of(&caller, &entry).unwrap_or_else(|error| {
                    failed.get_or_insert(error);
                    Vec::new()
                });
                let from = before + place as u64 * TOOLS_OF_PERSONA_MAX;
                (from..from + TOOLS_OF_PERSONA_MAX).zip(tools).collect::<Vec<_>>()
            });
            let taken = page.take((0..).zip(first).chain(of_personas));
            failed.map_or(Ok(()), Err)?;
            taken.list(Ok)
        })
        .await
    }

    /// `GET /v1/tools/{tool_id}`.
    ///
    /// # Errors
    /// 404 where there is none.
    pub async fn tool(
        &self,
        caller: &Caller,
        id: &str,
        operations: &[Tool],
    ) -> Result<Tool, HarnError> {
        if let Some(operation) = operations.iter().find(|tool| tool.id == id) {
            return Ok(operation.clone());
        }
        let skill = of_skill(built_in_resources::skill());
        if skill.id == id {
            return Ok(skill);
        }
        let missing = || not_found(ResourceKind::Tool, id);
        let (persona, _) = id.split_once(':').ok_or_else(missing)?;
        let entry = self.entry(caller, DocumentKind::Persona, persona).ok_or_else(missing)?;
        let caller = caller.clone();
        let tools = self.reading(move |harness| harness.tools_of(&caller, &entry)).await?;
        tools.into_iter().find(|tool| tool.id == id).ok_or_else(missing)
    }

    fn personas_from(&self, ordinal: usize) -> Vec<(usize, DocumentEntry)> {
        self.field.with_state(|state| {
            let personas = state.documents.from(DocumentKind::Persona, ordinal);
            personas.map(|(place, entry)| (place, entry.clone())).collect()
        })
    }

    /// The tools of a Persona, if the caller may know of it. Reads storage.
    fn tools_of(&self, caller: &Caller, entry: &DocumentEntry) -> Result<Vec<Tool>, HarnError> {
        if !self.reaches(caller, entry.owner.session.as_deref()) {
            return Ok(Vec::new());
        }
        let persona: Persona = self.load(entry)?;
        let mut tools: Vec<Tool> = of_module(&persona).into_iter().collect();
        for declared in declared(&persona.envelope.metadata) {
            let id = tool_id(&entry.id, &declared.name);
            if tools.iter().all(|tool| tool.id != id) {
                tools.push(Tool { id, metadata: offered_by(&persona, "persona"), ..declared });
            }
        }
        Ok(tools)
    }
}

/// The names of the tools that a Persona's metadata declare.
pub(crate) fn declared_names(metadata: &JsonObject) -> Vec<String> {
    declared(metadata).map(|tool| tool.name).collect()
}

fn declared(metadata: &JsonObject) -> impl Iterator<Item = Tool> {
    let declared = metadata.get(TOOLS).and_then(Value::as_array).into_iter().flatten();
    let limit = usize::try_from(TOOLS_OF_PERSONA_MAX).unwrap_or(usize::MAX) - 1;
    declared.filter_map(read).take(limit)
}

fn read(declared: &Value) -> Option<Tool> {
    let text = |member: &str| declared.get(member).and_then(Value::as_str);
    let name = declared.as_str().or_else(|| text("name")).filter(|name| !name.trim().is_empty())?;
    let schema = |member: &str| {
        let schema = declared.get(member).and_then(Value::as_object);
        JsonObject(schema.cloned().unwrap_or_default())
    };
    Some(Tool {
        id: String::new(),
        object: ToolObject::Tool,
        name: name.to_owned(),
        description: text("description").unwrap_or_default().to_owned(),
        input_schema: schema("input_schema"),
        output_schema: schema("output_schema"),
        metadata: JsonObject::default(),
    })
}

/// The function that a Persona's module exports. Its types are the module's to check.
fn of_module(persona: &Persona) -> Option<Tool> {
    Installed::of(persona)?;
    let name = &persona.entry_workflow;
    Some(Tool {
        id: tool_id(&persona.envelope.id, name),
        object: ToolObject::Tool,
        name: name.clone(),
        description: persona.description.clone(),
        input_schema: JsonObject::default(),
        output_schema: JsonObject::default(),
        metadata: offered_by(persona, "module"),
    })
}

fn of_skill(skill: Skill) -> Tool {
    let call = json!({"method": "POST", "path": "/v1/tasks"});
    let mut metadata = JsonObject::with("provider", "skill");
    metadata.insert("call".to_owned(), call);
    Tool {
        id: skill.envelope.id,
        object: ToolObject::Tool,
        name: skill.name,
        description: skill.description,
        input_schema: skill.input_schema.unwrap_or_default(),
        output_schema: skill.output_schema.unwrap_or_default(),
        metadata,
    }
}

/// Who offers a tool. What a module is, a Task calls; what a worker has, the worker calls.
fn offered_by(persona: &Persona, provider: &str) -> JsonObject {
    let id = persona.envelope.id.as_str();
    let mut metadata = JsonObject::with("provider", provider);
    metadata.insert("persona_id".to_owned(), id.into());
    if provider == "module" {
        let call = json!({"method": "POST", "path": "/v1/tasks", "persona_id": id});
        metadata.insert("call".to_owned(), call);
    }
    metadata
}

fn tool_id(persona: &str, name: &str) -> String {
    format!("{persona}:{name}")
}
