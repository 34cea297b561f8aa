//! Owns every bound of this crate, so that no text, query or file can cost without limit.
//! Owns no behaviour.

/// A word longer than this many bytes is cut here, both in a document and in a query.
pub const MAX_WORD_BYTES: usize = 64;

/// Distinct terms kept of one document; a long novel has about a quarter of this.
pub const MAX_DOCUMENT_TERMS: usize = 65_536;

/// Tokens of one text that its vector is made of.
pub const MAX_EMBEDDED_TOKENS: usize = 512;

/// Distinct terms kept of one query before the index has said which of them it knows.
pub const MAX_QUERY_TERMS: usize = 4_096;

/// Terms of one query that are scored: those with the highest weight times rarity.
pub const MAX_SCORED_TERMS: usize = 64;

/// Shared words that an explanation names.
pub const MAX_NAMED_WORDS: usize = 3;

/// Leading bytes of a text that a summary may draw from.
pub const MAX_SUMMARY_SOURCE_BYTES: usize = 64 * 1024;

/// Sentences that a summary weighs against each other.
pub const MAX_SUMMARY_SENTENCES: usize = 256;

/// Characters of a name (a role, a type) that an explanation repeats.
pub const MAX_NAME_CHARS: usize = 64;

/// Leading bytes of a text in which statements are looked for.
pub const MAX_STATEMENT_SOURCE_BYTES: usize = 32 * 1024;

/// Statements of one text that are compared with those of another.
pub const MAX_STATEMENTS: usize = 64;

/// A sentence longer than this many bytes states too much to be held against another.
pub const MAX_STATEMENT_BYTES: usize = 1024;
