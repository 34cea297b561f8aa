//! Runs a module, question by question. The kernel is a function of the program, the input and the answers so far;
//! so a run is that function again and again, with one more answer each time, until it ends or nobody answers.

use std::{
    collections::{BTreeMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
};

use harn_kernel::{CapabilityRequest, CapabilityResult, DataValue, Execution};
use serde_json::Value;

use quipu_wire::harn::{DependencyKind, Sha256};

use super::{
    answers::{Answer, Answers, Request},
    compile::Module,
    diagnostic::Diagnostic,
    kernel::{canonical, digest, result, steps},
    keys::Keys,
    limits::{CALLS_MAX, WORK_MAX},
    policy::Policy,
    secrecy::Secrecy,
    snapshot::{Exchange, GivenAnswer, SnapshotError, Waiting},
};

#[derive(Debug, Clone, PartialEq)]
pub enum ModuleRun {
    Completed {
        /// What it returned. Numbers that JSON does not have are tagged: `{"$int": "…"}`, `{"$float": "nan"}`.
        value: Value,
        sha256: Sha256,
    },
    /// It asked something that nobody answered yet.
    Suspended {
        request: Request,
        /// Where it stands; [`resume`] goes on from it. Free of secrets.
        snapshot: Vec<u8>,
    },
    Failed {
        /// What it failed with, without the secrets it was given.
        diagnostic: Diagnostic,
    },
}

/// Runs a module from the start.
pub fn run(
    module: &Module,
    policy: &Policy,
    input: &Value,
    answers: &mut dyn Answers,
) -> ModuleRun {
    match canonical(input, "the input") {
        Ok(input) => Session::new(module, policy, input, Vec::new()).run(answers),
        Err(diagnostic) => ModuleRun::Failed { diagnostic },
    }
}

/// Goes on from a snapshot. Answers that are in it are not asked for again; secrets are.
///
/// # Errors
/// Where the snapshot was altered, or belongs to another module or policy.
pub fn resume(
    module: &Module,
    policy: &Policy,
    snapshot: &[u8],
    answers: &mut dyn Answers,
) -> Result<ModuleRun, SnapshotError> {
    let waiting = Waiting::open(snapshot, module, policy)?;
    Ok(Session::new(module, policy, waiting.input, waiting.exchanges).run(answers))
}

enum Stop {
    Waits(Request),
    Fails(Diagnostic),
}

impl From<harn_kernel::Diagnostic> for Stop {
    fn from(diagnostic: harn_kernel::Diagnostic) -> Self {
        Self::Fails(diagnostic.into())
    }
}

struct Session<'a> {
    module: &'a Module,
    policy: &'a Policy,
    input: Value,
    /// What a snapshot knows of the answers to come.
    known: VecDeque<Exchange>,
    exchanges: Vec<Exchange>,
    given: Vec<CapabilityResult>,
    keys: Keys,
    /// Secrets by key: one that is read again is the same.
    secrets: BTreeMap<String, Value>,
    secrecy: Secrecy,
    work: u64,
}

impl<'a> Session<'a> {
    fn new(module: &'a Module, policy: &'a Policy, input: Value, known: Vec<Exchange>) -> Self {
        Self {
            module,
            policy,
            input,
            known: known.into(),
            exchanges: Vec::new(),
            given: Vec::new(),
            keys: Keys::default(),
            secrets: BTreeMap::new(),
            secrecy: Secrecy::default(),
            work: 0,
        }
    }

    fn run(mut self, answers: &mut dyn Answers) -> ModuleRun {
        let ended = self.drive(answers).and_then(|value| self.output(&value));
        match ended {
            Ok(run) => run,
            Err(Stop::Waits(request)) => self.wait(request),
            Err(Stop::Fails(diagnostic)) => self.fail(diagnostic),
        }
    }

    fn drive(&mut self, answers: &mut dyn Answers) -> Result<Value, Stop> {
        let input = DataValue::from_json(self.input.clone())?;
        loop {
            match self.execute(&input) {
                Execution::Completed { value } => return Ok(value.to_json()),
                Execution::Failed { diagnostic } => return Err(diagnostic.into()),
                Execution::Suspended { request, snapshot } => {
                    self.account(&snapshot)?;
                    let asked = self.name(&request)?;
                    let answer = self.answer(&asked, answers)?;
                    self.take(&request, &asked, answer)?;
                }
            }
        }
    }

    /// A defect of the kernel must not take the server with it.
    fn execute(&self, input: &DataValue) -> Execution {
        let (program, grants) = (self.module.program(), self.policy.grants());
        let work = || harn_kernel::replay(program, input.clone(), grants, self.given.clone());
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Execution::Failed {
            diagnostic: harn_kernel::Diagnostic::new("kernel_failed", "the kernel itself failed"),
        })
    }

    /// Counts what was done for this question. The kernel bounds one pass; passes add up.
    fn account(&mut self, snapshot: &[u8]) -> Result<(), Stop> {
        let fail = |code, message| Err(Stop::Fails(Diagnostic::new(code, message)));
        if self.given.len() >= CALLS_MAX {
            return fail("too_many_calls", format!("a module may ask {CALLS_MAX} questions"));
        }
        self.work = self.work.saturating_add(steps(snapshot));
        if self.work > WORK_MAX {
            let message = format!("its questions took more than {WORK_MAX} steps together");
            return fail("too_much_work", message);
        }
        Ok(())
    }

    fn name(&mut self, request: &CapabilityRequest) -> Result<Request, Stop> {
        let CapabilityRequest { capability, operation, .. } = request;
        let arguments =
            canonical(&request.arguments.to_json(), "the question").map_err(Stop::Fails)?;
        let holds_secret = self.secrecy.is_in(&arguments);
        let sha256 = digest(&self.secrecy.concealed(&arguments)).map_err(Stop::Fails)?;
        let named = self.keys.name(capability, operation, &arguments, sha256);
        let (key, kind) = named.map_err(Stop::Fails)?;
        let capability = format!("{capability}.{operation}");
        Ok(Request { key, kind, sha256, capability, arguments, holds_secret })
    }

    /// The answer: from the snapshot, from an earlier reading of the same secret, or from outside.
    fn answer(&mut self, asked: &Request, answers: &mut dyn Answers) -> Result<Value, Stop> {
        if let Some(exchange) = self.known.front() {
            if exchange.key != asked.key || exchange.request != asked.sha256 {
                let message = "the module asks something else than the snapshot says";
                return Err(Stop::Fails(Diagnostic::new("snapshot_mismatch", message)));
            }
            if let Some(given) = &exchange.answer {
                return Ok(given.value.clone());
            }
        }
        if let Some(secret) = self.secrets.get(&asked.key) {
            return Ok(secret.clone());
        }
        match answers.answer(asked) {
            Answer::Value(value) => canonical(&value, "the answer").map_err(Stop::Fails),
            Answer::Unavailable => Err(Stop::Waits(asked.clone())),
        }
    }

    fn take(
        &mut self,
        request: &CapabilityRequest,
        asked: &Request,
        answer: Value,
    ) -> Result<(), Stop> {
        self.known.pop_front();
        let answer_kept = if asked.kind == DependencyKind::SecretValue {
            self.secrecy.learn(&answer);
            self.secrets.insert(asked.key.clone(), answer.clone());
            None
        } else {
            Some(GivenAnswer { value: answer.clone() })
        };
        let (key, request_sha256) = (asked.key.clone(), asked.sha256);
        self.exchanges.push(Exchange { key, request: request_sha256, answer: answer_kept });
        self.given.push(result(request.id.clone(), &asked.capability, answer)?);
        Ok(())
    }

    fn output(&self, value: &Value) -> Result<ModuleRun, Stop> {
        if self.secrecy.is_in(value) {
            let message = "the module returned a secret that it was told";
            return Err(Stop::Fails(Diagnostic::new("secret_returned", message)));
        }
        let value = canonical(value, "the output").map_err(Stop::Fails)?;
        let sha256 = digest(&value).map_err(Stop::Fails)?;
        Ok(ModuleRun::Completed { value, sha256 })
    }

    /// What the snapshot still knows is kept: a run that stops at a secret must not forget the answers behind it.
    fn wait(mut self, request: Request) -> ModuleRun {
        self.exchanges.extend(std::mem::take(&mut self.known));
        let (input, exchanges) =
            (std::mem::take(&mut self.input), std::mem::take(&mut self.exchanges));
        let waiting = Waiting::new(self.module, self.policy, input, exchanges);
        match waiting.seal(self.policy) {
            Ok(snapshot) => ModuleRun::Suspended { request, snapshot },
            Err(error) => self.fail(Diagnostic::new("snapshot_too_large", error.to_string())),
        }
    }

    fn fail(&self, diagnostic: Diagnostic) -> ModuleRun {
        let message = self.secrecy.conceal(&diagnostic.message);
        ModuleRun::Failed { diagnostic: Diagnostic { message, ..diagnostic } }
    }
}
