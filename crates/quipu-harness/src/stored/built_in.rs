//! Ids of what is there from the start, without a document.

/// The Workspace of Sessions that were opened without one.
pub const WORKSPACE_DEFAULT: &str = "workspace_default";
/// The Session of Tasks that were made without one.
pub const SESSION_DEFAULT: &str = quipu_core::rules::session::BUILT_IN_SESSION;
/// The Persona under which the Field itself works on a Task, at once and without a model.
pub const PERSONA_FIELD: &str = "persona_field";
/// Its name, which a Task may say instead.
pub const PERSONA_FIELD_NAME: &str = "field";

/// The Persona of Tasks that a worker outside does, so that nobody with little authority has to wait for one to be made.
pub const PERSONA_WORKER: &str = "persona_worker";
pub(crate) const PERSONA_WORKER_NAME: &str = "worker";

/// Whether a Task under this Persona is the Field's own to answer.
pub(crate) fn is_for_field(persona: Option<&str>) -> bool {
    persona.is_none_or(|id| id == PERSONA_FIELD || id == PERSONA_FIELD_NAME)
}

/// Whether a Persona is there without anybody having made it.
pub(crate) fn is_built_in_persona(id: &str) -> bool {
    is_for_field(Some(id)) || id == PERSONA_WORKER
}

/// The session as the Field knows it: the built-in one is none.
pub(crate) fn session_in_field(id: &str) -> Option<&str> {
    (id != SESSION_DEFAULT).then_some(id)
}
