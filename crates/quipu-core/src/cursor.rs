//! A place in the log between two things that a subscriber is sent. Opaque to clients: they get it as text and give it
//! back.

/// The first place that was not seen yet. Ordered as the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub position: u64,
    pub event: u32,
    /// Which of the things that the event makes known.
    pub part: u32,
}

impl Cursor {
    /// The place behind a whole commit.
    #[must_use]
    pub const fn after_commit(position: u64) -> Self {
        Self { position: position + 1, event: 0, part: 0 }
    }

    /// The place behind this one thing.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { part: self.part + 1, ..self }
    }

    /// Reads what [`Display`](std::fmt::Display) wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.');
        let mut number = || {
            let digits = numbers.next()?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
        };
        let position = number()?.parse().ok().filter(|position| *position < u64::MAX)?;
        let event = number()?.parse().ok()?;
        let part = number()?.parse().ok()?;
        numbers.next().is_none().then_some(Self { position, event, part })
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.position, self.event, self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_is_one() {
        let cursor = Cursor { position: 7, event: 2, part: 1 };
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        for text in ["", "7", "7.2", "7.2.1.0", "-7.2.1", "+7.2.1", "a.b.c", "7.2.99999999999"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_place_behind_a_commit_is_behind_all_of_it() {
        let last = Cursor { position: 7, event: u32::MAX, part: 5 };
        assert!(last.next() > last && Cursor::after_commit(7) > last.next());
    }
}
