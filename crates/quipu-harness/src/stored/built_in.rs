//! Ids of what is there from the start, without a document.

/// The Workspace of Sessions that were opened without one.
pub const WORKSPACE_DEFAULT: &str = "workspace_default";
/// The Session of Tasks that were made without one.
pub const SESSION_DEFAULT: &str = "session_default";
/// The Persona under which the Field itself works on a Task, at once and without a model.
pub const PERSONA_FIELD: &str = "persona_field";
/// Its name, which a Task may say instead.
pub const PERSONA_FIELD_NAME: &str = "field";

/// Whether a Task under this Persona is the Field's own to answer.
pub(crate) fn is_for_field(persona: Option<&str>) -> bool {
    persona.is_none_or(|id| id == PERSONA_FIELD || id == PERSONA_FIELD_NAME)
}

/// The session as the Field knows it: the built-in one is none.
pub(crate) fn session_in_field(id: &str) -> Option<&str> {
    (id != SESSION_DEFAULT).then_some(id)
}
