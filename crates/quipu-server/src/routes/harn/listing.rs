//! Which page of a list a request asks for.

use quipu_harness::Page;
use quipu_wire::harn::{HarnError, ResourceKind};

use super::entrance::HarnCall;

impl HarnCall {
    pub(super) fn page(&self, kind: ResourceKind) -> Result<Page, HarnError> {
        Page::read(kind, self.query.get("limit"), self.query.get("cursor"))
    }
}
