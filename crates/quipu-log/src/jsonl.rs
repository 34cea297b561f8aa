//! Commits as JSON lines, for export and import. Headers and bodies are copied byte by byte in both directions, never
//! re-encoded.

use std::io::{self, Write};

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::RawValue;

use quipu_wire::hash::Hash;

use crate::commit::{Commit, Damage, DamageKind, Head, Header, bodies};

/// One line of an export.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitLine {
    /// Dense, from 1.
    pub position: u64,
    /// SHA-256 of `header`.
    pub hash: Hash,
    /// The header's exact bytes.
    pub header: Box<RawValue>,
    /// The bodies, left out if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Box<RawValue>>,
}

fn unreadable(position: u64, reason: &impl ToString) -> Damage {
    Damage::new(position, DamageKind::HeaderUnreadable(reason.to_string()))
}

fn raw(position: u64, text: String) -> Result<Box<RawValue>, Damage> {
    RawValue::from_string(text).map_err(|e| unreadable(position, &e))
}

impl TryFrom<&Commit> for CommitLine {
    type Error = Damage;

    fn try_from(commit: &Commit) -> Result<Self, Damage> {
        let position = commit.position;
        let header =
            String::from_utf8(commit.header.to_vec()).map_err(|e| unreadable(position, &e))?;
        let bodies = bodies::encode(&commit.bodies)
            .map_err(|e| Damage::new(position, DamageKind::BodiesUnreadable(e.to_string())))?;
        Ok(Self {
            position,
            hash: commit.hash,
            header: raw(position, header)?,
            bodies: bodies.map(|text| raw(position, text)).transpose()?,
        })
    }
}

impl TryFrom<CommitLine> for Commit {
    type Error = Damage;

    /// Takes the epoch and the previous hash from the header. Does not verify, see [`read_line`].
    fn try_from(line: CommitLine) -> Result<Self, Damage> {
        let position = line.position;
        let header: Header<IgnoredAny> =
            serde_json::from_str(line.header.get()).map_err(|e| unreadable(position, &e))?;
        let bodies = match &line.bodies {
            None => Vec::new(),
            Some(text) => bodies::decode(text.get().as_bytes())
                .map_err(|e| Damage::new(position, DamageKind::BodiesUnreadable(e)))?,
        };
        Ok(Self {
            position,
            epoch: header.epoch,
            prev: header.prev,
            hash: line.hash,
            header: line.header.get().as_bytes().into(),
            bodies,
        })
    }
}

/// Writes one commit and a line feed.
///
/// # Errors
/// If `out` fails, or, as `InvalidData`, if the commit is not text.
pub fn write_line(out: &mut dyn Write, commit: &Commit) -> io::Result<()> {
    let line = CommitLine::try_from(commit)
        .map_err(|damage| io::Error::new(io::ErrorKind::InvalidData, damage))?;
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

/// Reads one line and verifies that it follows `after`.
///
/// # Errors
/// The damage, at the position that the line states or, if it is unreadable, at the expected position.
pub fn read_line(line: &str, after: &Head) -> Result<Commit, Damage> {
    let line: CommitLine =
        serde_json::from_str(line).map_err(|e| unreadable(after.position.saturating_add(1), &e))?;
    let commit = Commit::try_from(line)?;
    commit.verify(after)?;
    Ok(commit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{commit::BodyContent, conformance::Chain};

    fn line(commit: &Commit) -> String {
        let mut out = Vec::new();
        write_line(&mut out, commit).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn reads_back_what_was_written() {
        let mut commits = Chain::new(1).take(3);
        commits[1].bodies[0].content = BodyContent::Erased;
        let mut head = Head::EMPTY;
        for commit in &commits {
            let text = line(commit);
            assert_eq!(text.matches('\n').count(), 1);
            let back = read_line(&text, &head).unwrap();
            assert_eq!(&back, commit);
            head = back.head();
        }
    }

    #[test]
    fn names_the_position_of_a_wrong_line() {
        let commits = Chain::new(1).take(2);
        let (first, second) = (line(&commits[0]), line(&commits[1]));
        let head = commits[0].head();
        let told = second.replace("told", "sold");
        let text = second.replace("text of", "test of");
        for (wrong, after, expected) in [
            (&second, Head::EMPTY, "position 2: expected position 1 here"),
            (&first, head, "position 1: expected position 2 here"),
            (&told, head, "position 2: header hash does not match"),
            (&text, head, "position 2: body of event 0 does not match its commitment"),
        ] {
            assert_eq!(read_line(wrong, &after).unwrap_err().to_string(), expected);
        }
        let cut = read_line(&second[..40], &head).unwrap_err().to_string();
        assert!(cut.starts_with("position 2: header unreadable: "), "{cut}");
    }
}
