//! The cursor of a list: which collection, and the log position of the last entry that was shown. It is
//! stable because positions never change, and it fits no other list than its own.

use std::{fmt, str::FromStr};

use super::{HarnError, HarnErrorCode, ResourceKind};
use crate::limits::SAFE_INTEGER_MAX;

const FORM: &str = "c1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub kind: ResourceKind,
    /// The position of the last entry shown.
    pub after: u64,
}

impl Cursor {
    /// Reads `cursor` of a query on a list of `kind`; absent is the beginning.
    ///
    /// # Errors
    /// 400 where it is not a cursor, or one of another list.
    pub fn read(text: Option<&str>, kind: ResourceKind) -> Result<Option<Self>, HarnError> {
        let Some(text) = text else { return Ok(None) };
        let cursor: Option<Self> = text.parse().ok();
        match cursor.filter(|cursor| cursor.kind == kind) {
            Some(cursor) => Ok(Some(cursor)),
            None => {
                let message = format!("cursor: must be one that a list of {kind}s gave");
                Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at("cursor"))
            }
        }
    }

    /// What a cursor whose place is no longer known is answered with; `param` is the member that
    /// carried it.
    #[must_use]
    pub fn expired(param: &str) -> HarnError {
        let message = format!("{param}: this place is no longer known; read from the beginning");
        HarnError::new(HarnErrorCode::CursorExpired, message).at(param)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}.{}", self.kind, self.after)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
pub struct ParseCursorError;

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let mut parts = text.split('.');
        let (Some(FORM), Some(kind), Some(after), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(ParseCursorError);
        };
        let kind = ResourceKind::parse(kind).ok_or(ParseCursorError)?;
        let after: u64 = after.parse().map_err(|_| ParseCursorError)?;
        let cursor = Self { kind, after };
        // One spelling: no sign, no leading zeros.
        let exact = after <= SAFE_INTEGER_MAX && cursor.to_string() == text;
        exact.then_some(cursor).ok_or(ParseCursorError)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn reads_back_what_it_writes(kind in 0..ResourceKind::ALL.len(), after in 0..=SAFE_INTEGER_MAX) {
            let cursor = Cursor { kind: ResourceKind::ALL[kind], after };
            prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }

        #[test]
        fn refuses_what_it_would_not_write(text in "(c1|c2)?\\.?[a-z]{0,8}\\.?[-+0]{0,2}[0-9]{0,3}") {
            if let Ok(cursor) = text.parse::<Cursor>() {
                prop_assert_eq!(cursor.to_string(), text);
            }
        }
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        assert!(Cursor::read(Some("c1.task.7"), ResourceKind::Task).is_ok());
        let refused = Cursor::read(Some("c1.task.7"), ResourceKind::Session).unwrap_err();
        assert_eq!((refused.code.http_status(), refused.param.as_deref()), (400, Some("cursor")));
        assert_eq!(Cursor::expired("after_event_id").code.http_status(), 410);
    }
}
