//! The few kinds of members that a receipt has.

/// An object: its members and nothing else.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) members: &'static [Member],
    /// At least one of these sets of members must be there whole; empty if nothing is asked.
    pub(super) any_of: &'static [&'static [&'static str]],
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) required: bool,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A text with at least one character.
    Text,
    /// `sha256:` and 64 hexadecimal digits.
    Digest,
    DigestOrNull,
    /// A time as RFC 3339 has it.
    Time,
    /// Three capital letters.
    Currency,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An integer from 0 on.
    Count,
    /// A number from 0 on.
    Amount,
    Open,
    /// Such an object or null.
    OpenOrNull,
    Object(&'static Shape),
    List(&'static Shape),
}

/// A member that must be there.
pub(super) const fn must(name: &'static str, kind: Kind) -> Member {
    Member { name, required: true, kind }
}

/// A member that may be there.
pub(super) const fn may(name: &'static str, kind: Kind) -> Member {
    Member { name, required: false, kind }
}

/// A shape without alternatives.
pub(super) const fn closed(members: &'static [Member]) -> Shape {
    Shape { members, any_of: &[] }
}
