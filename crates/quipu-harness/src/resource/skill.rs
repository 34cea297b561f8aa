//! Skills: what can be done here. There is one, and it is built in.

use quipu_wire::harn::{HarnError, List, ResourceKind, Skill};

use crate::{
    Harness,
    handle::page::Page,
    not_found,
    resource::built_in_resources::{self, SKILL_ATTUNE},
};

impl Harness {
    /// `GET /v1/skills`.
    ///
    /// # Errors
    /// None; the form is that of all lists.
    pub fn skills(&self, page: Page) -> Result<List<Skill>, HarnError> {
        page.take([(0, built_in_resources::skill())]).list(Ok)
    }

    /// `GET /v1/skills/{skill_id}`.
    ///
    /// # Errors
    /// 404 where there is none.
    pub fn skill(&self, id: &str) -> Result<Skill, HarnError> {
        if id == SKILL_ATTUNE {
            return Ok(built_in_resources::skill());
        }
        Err(not_found(ResourceKind::Skill, id))
    }
}
