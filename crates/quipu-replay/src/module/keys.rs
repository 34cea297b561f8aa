//! Names of questions. A key depends on what the module asks and on how often it asked before, on nothing else: the
//! same module with the same answers has the same keys everywhere (RP-21).

use std::collections::BTreeMap;

use serde_json::Value;

use quipu_wire::{
    harn::{DependencyKind, Sha256},
    limits::ID_BYTES_MAX,
};

use super::diagnostic::Diagnostic;

/// The operations of `secrets` whose answer is a secret.
const SECRET_READS: [&str; 5] = ["read", "read_bytes", "read_cli", "lease", "lease_bytes"];

#[derive(Debug, Default)]
pub(super) struct Keys {
    counts: BTreeMap<String, u32>,
    /// For each key of a secret, what was asked under it.
    secrets: BTreeMap<String, Sha256>,
}

impl Keys {
    pub(super) fn name(
        &mut self,
        capability: &str,
        operation: &str,
        arguments: &Value,
        sha256: Sha256,
    ) -> Result<(String, DependencyKind), Diagnostic> {
        let (key, kind) = match (capability, operation) {
            ("llm", "call") => (self.next("llm:main"), DependencyKind::LlmProviderResponse),
            ("llm", other) => {
                (self.next(&format!("llm:{other}")), DependencyKind::LlmProviderResponse)
            }
            ("clock", _) => (self.next("time"), DependencyKind::Time),
            ("secrets", read) if SECRET_READS.contains(&read) => {
                (self.secret(read, arguments, sha256), DependencyKind::SecretValue)
            }
            ("tools", other) => {
                (self.next(&format!("host:tools.{other}")), DependencyKind::ToolResult)
            }
            (capability, other) => {
                (self.next(&format!("host:{capability}.{other}")), DependencyKind::HostFact)
            }
        };
        if key.len() > ID_BYTES_MAX {
            let message = format!("the key of this question is longer than {ID_BYTES_MAX} bytes");
            return Err(Diagnostic::new("key_too_long", message));
        }
        Ok((key, kind))
    }

    fn next(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count += 1;
        format!("{name}:{count}")
    }

    /// A secret has its name, however often it is read. Where the same name is asked for differently, as in another
    /// scope, it may be another secret, and has a number besides.
    fn secret(&mut self, operation: &str, arguments: &Value, sha256: Sha256) -> String {
        let name = arguments.get(0).and_then(Value::as_str).unwrap_or_default();
        let key = match operation {
            "read" => format!("secret:{name}"),
            other => format!("secret:{other}:{name}"),
        };
        let mut place = 1;
        loop {
            let key = if place == 1 { key.clone() } else { format!("{key}:{place}") };
            if *self.secrets.entry(key.clone()).or_insert(sha256) == sha256 {
                return key;
            }
            place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(keys: &mut Keys, capability: &str, operation: &str, arguments: &Value) -> String {
        let sha256 = Sha256::of_json(arguments).unwrap();
        keys.name(capability, operation, arguments, sha256).unwrap().0
    }

    #[test]
    fn questions_are_numbered_by_what_is_asked() {
        let mut keys = Keys::default();
        let asked = [
            ("llm", "call"),
            ("clock", "now_ms"),
            ("llm", "call"),
            ("clock", "date_iso"),
            ("tools", "invoke"),
            ("random", "uuid"),
            ("llm", "completion"),
        ];
        let keys = asked.map(|(capability, it)| named(&mut keys, capability, it, &json!([])));
        let expected = [
            "llm:main:1",
            "time:1",
            "llm:main:2",
            "time:2",
            "host:tools.invoke:1",
            "host:random.uuid:1",
            "llm:completion:1",
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn a_secret_keeps_its_name_unless_it_is_asked_for_differently() {
        let mut keys = Keys::default();
        let mut read = |arguments: Value| named(&mut keys, "secrets", "read", &arguments);
        assert_eq!(read(json!(["token"])), "secret:token");
        assert_eq!(read(json!(["token"])), "secret:token");
        assert_eq!(read(json!(["token", "prod"])), "secret:token:2");
        assert_eq!(read(json!(["token"])), "secret:token");
        assert_eq!(read(json!(["token:2"])), "secret:token:2:2", "no key has two meanings");
        assert_eq!(named(&mut keys, "secrets", "lease", &json!(["token"])), "secret:lease:token");
        let written = named(&mut keys, "secrets", "write", &json!(["token", "new"]));
        assert_eq!(written, "host:secrets.write:1", "a receipt of writing is no secret");
    }
}
