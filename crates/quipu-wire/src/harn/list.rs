//! Lists and how they are paged. The published form has `page`; a client of the other live server
//! looks for its members at the top, so both are written.

use serde::{Deserialize, Serialize};

use super::{HarnError, HarnErrorCode};
use crate::words::words;

/// How many entries a page has if the client does not say.
pub const LIST_LIMIT_DEFAULT: usize = 50;
pub const LIST_LIMIT_MAX: usize = 200;

words! {
    /// The word in `object` of a list.
    ListObject {
        /// Always this one.
        List = "list",
    }
}

/// Where a page ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PageInfo {
    /// Whether there is more behind this page.
    pub has_more: bool,
    /// What to send as `cursor` (for events, as `after_event_id`) for the next page.
    pub next_cursor: Option<String>,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct List<T> {
    /// Always `list`.
    pub object: ListObject,
    /// The entries.
    pub data: Vec<T>,
    /// Where the page ends.
    pub page: PageInfo,
    /// `page.has_more` again.
    pub has_more: bool,
    /// `page.next_cursor` again.
    pub next_cursor: Option<String>,
}

impl<T> List<T> {
    /// A page, with the cursor of the next one if there is one.
    #[must_use]
    pub fn page(data: Vec<T>, next_cursor: Option<String>) -> Self {
        let has_more = next_cursor.is_some();
        let page = PageInfo { has_more, next_cursor: next_cursor.clone() };
        Self { object: ListObject::List, data, page, has_more, next_cursor }
    }
}

/// Reads `limit` of a query.
///
/// # Errors
/// 400 where it is not an integer from 1 to 200.
pub fn read_limit(text: Option<&str>) -> Result<usize, HarnError> {
    let Some(text) = text else { return Ok(LIST_LIMIT_DEFAULT) };
    match text.parse::<usize>() {
        Ok(limit) if (1..=LIST_LIMIT_MAX).contains(&limit) => Ok(limit),
        _ => {
            let message = format!("limit: must be an integer from 1 to {LIST_LIMIT_MAX}");
            Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at("limit"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_from_1_to_200_and_50_if_absent() {
        assert_eq!(read_limit(None), Ok(50));
        assert_eq!(read_limit(Some("200")), Ok(200));
        for bad in ["0", "201", "-1", "1.0", "", "many"] {
            assert_eq!(read_limit(Some(bad)).unwrap_err().param.as_deref(), Some("limit"), "{bad}");
        }
    }
}
