//! What a module asks and what it is answered. The one seam between a run and everything outside of it.

use serde_json::Value;

use quipu_wire::harn::{DependencyKind, Sha256};

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The key under which the answer is recorded; the same at every run of the same module with the same answers.
    pub key: String,
    pub kind: DependencyKind,
    /// The digest of the arguments, with the secrets in them concealed.
    pub sha256: Sha256,
    /// The capability, such as `llm.call`.
    pub capability: String,
    /// The arguments, in order.
    pub arguments: Value,
    /// Whether the arguments hold a secret that the module was given: they must then not be shown to anybody but the
    /// one who answers.
    pub holds_secret: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The answer. An object with the one member `$error`, `{"code", "message"}` in it, is a failure of whoever was
    /// asked: the module can catch it. It is recorded and replayed as any other answer.
    Value(Value),
    /// There is none now. The run stops and can go on later.
    Unavailable,
}

pub trait Answers {
    /// Answers one question. The same secret is not asked for twice in a run.
    fn answer(&mut self, request: &Request) -> Answer;
}

impl<F: FnMut(&Request) -> Answer> Answers for F {
    fn answer(&mut self, request: &Request) -> Answer {
        self(request)
    }
}
