//! Text for people: tables, wrapped paragraphs, thousands. Decides nothing about what is shown.

use std::io::{self, Write};

use crate::ui::failure::Failure;

/// Columns that wrapped text takes.
pub(crate) const WIDTH: usize = 88;

/// Writes a command's answer to stdout.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::caused("cannot write to stdout", &error))
}

/// Text of others made safe for a terminal: no control character but line feeds gets through.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .filter(|found| *found != '\r')
        .map(|found| match found {
            '\n' => '\n',
            '\t' => ' ',
            found if found.is_control() => '\u{fffd}',
            found => found,
        })
        .collect()
}

/// Wraps text into lines of at most `width` columns, each after `indent`. Line feeds stay.
pub(crate) fn wrap(text: &str, indent: &str, width: usize) -> String {
    let room = width.saturating_sub(indent.chars().count()).max(1);
    let mut out = String::new();
    for line in harmless(text).lines() {
        let mut used = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > room {
                out.push('\n');
                used = 0;
            }
            out.push_str(if used == 0 { indent } else { " " });
            used += length + usize::from(used > 0);
            out.push_str(word);
        }
        out.push('\n');
    }
    out
}

/// Columns side by side, each as wide as its widest cell.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A number and what it counts: `1 commit`, `12,345 commits`.
pub(crate) fn count(number: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(number), if number == 1 { "" } else { "s" })
}

pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_words_and_keeps_lines_and_indent() {
        assert_eq!(wrap("one two three\nfour", "  ", 10), "  one two\n  three\n  four\n");
        assert_eq!(wrap("unbreakably", "> ", 6), "> unbreakably\n");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(harmless("a\u{1b}[31mb\r\nc\td"), "a\u{fffd}[31mb\nc d");
    }

    #[test]
    fn tables_line_up() {
        let rows = [["id", "agent"], ["k1", "a"], ["longer", "b"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "id      agent\nk1      a\nlonger  b\n");
    }

    #[test]
    fn numbers_have_thousands_and_plurals() {
        assert_eq!(count(1, "commit"), "1 commit");
        assert_eq!(count(0, "commit"), "0 commits");
        assert_eq!(count(1_234_567, "commit"), "1,234,567 commits");
        assert_eq!(thousands(999), "999");
    }
}
