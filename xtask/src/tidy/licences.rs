//! Rule: every package is under a licence of `deny.toml`'s allow-list or of its own exception there, and none is
//! on its ban list.
//! It reads the same lists as cargo-deny, so that the rule holds where cargo-deny is not installed.

use super::finding::Finding;
use super::metadata::{Metadata, Package};
use super::tables::{DENY_TABLE, DenyTable};
use super::tree::Tree;

const LOCK: &str = "Cargo.lock";

pub(crate) fn check(tree: &Tree, metadata: &Metadata, table: &DenyTable) -> Vec<Finding> {
    let complaint = |package: &Package| {
        let ban = table.bans.deny.iter().find(|ban| ban.name == package.name);
        if let Some(ban) = ban {
            return Some(format!("{} is banned: {}", package.name, ban.reason));
        }
        let Some(licence) = &package.license else {
            return Some(format!("{} names no licence", package.name));
        };
        let own = table.licenses.exceptions.iter().filter(|own| own.name == package.name);
        let general = &table.licenses.allow;
        let allowed: Vec<String> =
            general.iter().chain(own.flat_map(|own| &own.allow)).cloned().collect();
        match is_allowed(licence, &allowed) {
            Some(true) => None,
            Some(false) => Some(format!("{} is under {licence}, not allowed", package.name)),
            None => Some(format!("{} has a licence nobody can read: {licence}", package.name)),
        }
    };
    let finding = |package: &Package| {
        let name = format!("name = \"{}\"", package.name);
        let line = tree.line_where(LOCK, |line| line == name);
        complaint(package).map(|message| Finding::new(LOCK, line, message))
    };
    let mut findings: Vec<Finding> = metadata.packages.iter().filter_map(finding).collect();
    findings.extend(unneeded(tree, metadata, table));
    findings
}

/// Exceptions for packages that are not there any more.
fn unneeded(tree: &Tree, metadata: &Metadata, table: &DenyTable) -> Vec<Finding> {
    let is_there = |name: &str| metadata.packages.iter().any(|package| package.name == name);
    let gone = table.licenses.exceptions.iter().filter(|own| !is_there(&own.name));
    gone.map(|own| {
        let name = format!("\"{}\"", own.name);
        let line = tree.line_where(DENY_TABLE, |line| line.contains(&name));
        Finding::new(DENY_TABLE, line, format!("there is no package {}", own.name))
    })
    .collect()
}

/// Judges an SPDX expression; None where it is not one. `/` is the old way to write OR. A licence "or later", with
/// a `+`, is allowed where the licence itself is.
fn is_allowed(expression: &str, allowed: &[String]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { tokens: spaced.split_whitespace().collect(), allowed };
    parser.tokens.reverse();
    let answer = parser.any()?;
    parser.tokens.is_empty().then_some(answer)
}

struct Parser<'a> {
    /// Those still to be read, the next one last.
    tokens: Vec<&'a str>,
    allowed: &'a [String],
}

impl Parser<'_> {
    fn any(&mut self) -> Option<bool> {
        let mut answer = self.all()?;
        while self.take("OR") {
            answer |= self.all()?;
        }
        Some(answer)
    }

    fn all(&mut self) -> Option<bool> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Some(answer)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let answer = self.any()?;
            return self.take(")").then_some(answer);
        }
        let name = self.name()?;
        let mut name = name.strip_suffix('+').unwrap_or(name).to_owned();
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.name()?);
        }
        Some(self.allowed.contains(&name))
    }

    fn name(&mut self) -> Option<&str> {
        let name = self.tokens.pop()?;
        (!["OR", "AND", "WITH", "(", ")"].contains(&name)).then_some(name)
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.tokens.last() == Some(&token);
        if is_next {
            self.tokens.pop();
        }
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::texts;
    use crate::tidy::metadata::workspace;
    use crate::tidy::tables::{BannedPackage, DenyBans, DenyLicences, LicenceException};

    fn table() -> DenyTable {
        let ban = BannedPackage { name: "evil".to_owned(), reason: "it is".to_owned() };
        let allow = ["MIT", "Apache-2.0", "Unicode-3.0", "A WITH B"].map(str::to_owned).to_vec();
        let own =
            LicenceException { name: "copyleft".to_owned(), allow: vec!["MPL-2.0".to_owned()] };
        let licenses = DenyLicences { allow, exceptions: vec![own] };
        DenyTable { licenses, bans: DenyBans { deny: vec![ban] } }
    }

    fn check_expression(expression: &str, expected: Option<bool>) {
        let answer = is_allowed(expression, &table().licenses.allow);
        assert_eq!(answer, expected, "{expression}");
    }

    #[test]
    fn judges_licence_expressions() {
        check_expression("MIT", Some(true));
        check_expression("GPL-3.0", Some(false));
        check_expression("GPL-3.0 OR MIT", Some(true));
        check_expression("GPL-3.0/MIT", Some(true));
        check_expression("GPL-3.0 AND MIT", Some(false));
        check_expression("(MIT OR GPL-3.0) AND Unicode-3.0", Some(true));
        check_expression("MIT OR GPL-3.0 AND Unicode-3.0", Some(true));
        check_expression("(MIT OR Apache-2.0) AND GPL-3.0", Some(false));
        check_expression("A WITH B", Some(true));
        check_expression("A", Some(false));
        check_expression("MIT WITH B", Some(false));
        check_expression("MIT+", Some(true));
        check_expression("GPL-3.0+", Some(false));
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_not_allowed() {
        for expression in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "OR MIT", "MIT WITH"] {
            check_expression(expression, None);
        }
    }

    #[test]
    fn refuses_packages_by_licence_and_by_name() {
        let foreign = [
            ("copyleft", "1.0.0", Some("MPL-2.0+")),
            ("evil", "1.0.0", Some("MIT")),
            ("fine", "1.0.0", Some("MIT")),
            ("gpl", "1.0.0", Some("GPL-3.0")),
            ("none", "1.0.0", None),
            ("odd", "1.0.0", Some("MIT OR")),
        ];
        let tree = Tree::of(&[(LOCK, "[[package]]\nname = \"evil\"\n")]);
        assert_eq!(
            texts(&check(&tree, &workspace(&[], &foreign), &table())),
            [
                "Cargo.lock:2: evil is banned: it is",
                "Cargo.lock:1: gpl is under GPL-3.0, not allowed",
                "Cargo.lock:1: none names no licence",
                "Cargo.lock:1: odd has a licence nobody can read: MIT OR",
            ]
        );
    }

    #[test]
    fn an_exception_holds_for_its_package_alone_and_only_while_it_is_there() {
        let foreign = [("other", "1.0.0", Some("MPL-2.0"))];
        let tree = Tree::of(&[(DENY_TABLE, "[licenses]\n{ crate = \"copyleft\" }\n")]);
        assert_eq!(
            texts(&check(&tree, &workspace(&[], &foreign), &table())),
            [
                "Cargo.lock:1: other is under MPL-2.0, not allowed",
                "deny.toml:2: there is no package copyleft",
            ]
        );
    }
}
