//! Where in a text the parser stands, for its errors. Lives on the stack, so that a text without
//! errors pays nothing for it.

use std::fmt::Write as _;

/// A client's keys may be long; an error must not be.
const PATH_CHARS_MAX: usize = 256;

/// One step below another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Key(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl Path<'_> {
    /// The path as errors show it: `payload.items[3]`, or `$` for the whole text.
    pub(super) fn render(&self) -> String {
        let mut path = String::new();
        self.append_to(&mut path);
        if path.is_empty() {
            path.push('$');
        }
        if let Some((cut, _)) = path.char_indices().nth(PATH_CHARS_MAX) {
            path.truncate(cut);
            path.push('…');
        }
        path
    }

    fn append_to(&self, path: &mut String) {
        match self {
            Self::Root => {}
            Self::Key(parent, key) => {
                parent.append_to(path);
                append_key(path, key);
            }
            Self::Index(parent, index) => {
                parent.append_to(path);
                write!(path, "[{index}]").expect("a String takes every write");
            }
        }
    }
}

/// A key that could be mistaken for two steps, or for none, is quoted.
fn append_key(path: &mut String, key: &str) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.is_empty() || !key.chars().all(is_plain) {
        write!(path, "[{key:?}]").expect("a String takes every write");
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}
