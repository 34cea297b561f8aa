//! What the query of a request says: how much of a list, from where, and which of it. What nobody knows is
//! passed over; the first of two counts.

use axum::{extract::Query, http::Uri};
use quipu_harness::Page;
use quipu_wire::harn::{HarnError, HarnErrorCode, ResourceKind, read_limit};

/// The parameters behind the question mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HarnQuery(Vec<(String, String)>);

impl HarnQuery {
    pub(super) fn read(uri: &Uri) -> Result<Self, HarnError> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(|_| {
            HarnError::new(HarnErrorCode::InvalidRequest, "the query is not a list of parameters")
        })?;
        Ok(Self(pairs.0))
    }

    /// A parameter, such as the filter `workspace_id`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn limit(&self) -> Result<usize, HarnError> {
        read_limit(self.get("limit"))
    }

    /// Which page of a list of `kind` is asked for.
    pub(crate) fn page(&self, kind: ResourceKind) -> Result<Page, HarnError> {
        Page::read(kind, self.get("limit"), self.get("cursor"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::harn::Cursor;

    fn query(text: &str) -> HarnQuery {
        HarnQuery::read(&format!("/v1/tasks?{text}").parse().unwrap()).unwrap()
    }

    #[test]
    fn a_page_has_fifty_entries_from_the_beginning_unless_the_query_says_otherwise() {
        let kind = ResourceKind::Task;
        assert_eq!(query("").page(kind), Ok(Page::first(kind)));
        let cursor = Cursor { kind, after: 7 };
        let asked = query(&format!("limit=3&cursor={cursor}&unknown=1&workspace_id=a%20b"));
        assert_eq!(asked.page(kind), Ok(Page { kind, from: 8, limit: 3 }));
        assert_eq!(asked.get("workspace_id"), Some("a b"));
        assert_eq!(asked.page(ResourceKind::Session).unwrap_err().param.as_deref(), Some("cursor"));
        assert_eq!(query("limit=0").page(kind).unwrap_err().param.as_deref(), Some("limit"));
    }
}
