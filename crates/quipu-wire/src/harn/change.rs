//! What a PATCH does to a member that may be null: absent and null are not the same there.

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// The member was absent: leave it.
    #[default]
    Keep,
    /// The member was null: clear it.
    Clear,
    /// The member had a value.
    Set(T),
}

impl<T> Change<T> {
    /// What the member is after the change.
    #[must_use]
    pub fn apply(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Keep => before,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Change;

    #[test]
    fn absent_keeps_null_clears_and_a_value_sets() {
        assert_eq!(Change::Keep.apply(Some(1)), Some(1));
        assert_eq!(Change::Clear.apply(Some(1)), None);
        assert_eq!(Change::Set(2).apply(None), Some(2));
    }
}
