//! From a source to a module that can be run. Everything that could hurt the process is refused before the compiler
//! sees it, and the compiler works on a thread with a stack that is large enough for what is left.

use std::{fmt, thread};

use harn_kernel::{EntryKind, ProgramArtifact};
use serde_json::Value;

use quipu_wire::{
    harn::Sha256,
    json::canon::{self, ParseError},
};

use super::{
    diagnostic::Diagnostic,
    involved::too_involved,
    limits::{CHAIN_MAX, COMPILER_STACK_BYTES, SOURCE_BYTES_MAX},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    #[error("the source has {bytes} bytes, {SOURCE_BYTES_MAX} are allowed")]
    SourceTooLong { bytes: usize },
    #[error("line {line}: more than {CHAIN_MAX} operators, calls and members hang on one another")]
    TooInvolved { line: usize },
    #[error("the source does not compile: {}", diagnostics_text(diagnostics))]
    NotCompiled { diagnostics: Vec<Diagnostic> },
    #[error("the compiler failed on this source")]
    CompilerFailed,
    /// A name in the allow list is not a capability that a module can use.
    #[error("{}", .0.message)]
    NotGrantable(Diagnostic),
    #[error("the input cannot be read")]
    Input(#[from] ParseError),
}

fn diagnostics_text(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[derive(Clone)]
pub struct Module {
    program: ProgramArtifact,
    digest: Sha256,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl Module {
    /// Compiles a source whose function `entry` takes the input: `pub fn entry(input: any)`, or
    /// `pub fn entry(harness: Harness, input: any)` where it asks for anything.
    ///
    /// # Errors
    /// Where the source is too long or too involved, or the compiler refuses it: it says why.
    pub fn compile(source: &str, entry: &str) -> Result<Self, ModuleError> {
        let bytes = source.len();
        if bytes > SOURCE_BYTES_MAX {
            return Err(ModuleError::SourceTooLong { bytes });
        }
        if let Some(line) = too_involved(source) {
            return Err(ModuleError::TooInvolved { line });
        }
        let compiler = thread::Builder::new().stack_size(COMPILER_STACK_BYTES);
        let compiled = thread::scope(|scope| {
            let work = || harn_kernel::compile_program(source, entry, EntryKind::Function);
            let compiling = compiler.spawn_scoped(scope, work);
            compiling.map_err(|_| ()).and_then(|thread| thread.join().map_err(|_| ()))
        });
        let program =
            compiled.map_err(|()| ModuleError::CompilerFailed)?.map_err(|diagnostics| {
                let diagnostics = diagnostics.into_iter().map(Diagnostic::from).collect();
                ModuleError::NotCompiled { diagnostics }
            })?;
        let digest = Sha256::of(program.bytes());
        Ok(Self { program, digest })
    }

    /// The digest of the compiled module: the same source, entry and kernel have the same.
    #[must_use]
    pub const fn digest(&self) -> Sha256 {
        self.digest
    }

    /// The function that takes the input.
    #[must_use]
    pub fn entry(&self) -> &str {
        self.program.entry()
    }

    pub(super) const fn program(&self) -> &ProgramArtifact {
        &self.program
    }
}

/// Reads an input strictly: a key that is there twice would have two meanings.
///
/// # Errors
/// Where it is not JSON, or has a key twice.
pub fn read_input(bytes: &[u8]) -> Result<Value, ModuleError> {
    Ok(canon::parse(bytes)?)
}
