//! How much a module may be and do. What the kernel counts itself (steps, frames, the size of one value) is its
//! own and named in `docs/modules.md`; here is what it does not bound, or bounds too late.

pub const SOURCE_BYTES_MAX: usize = 64 * 1024;

/// How many operators, calls and member accesses may hang on one another. The compiler descends once for each
/// and its time grows with the square, so a few kilobytes of `a+a+a…` would end the process.
pub const CHAIN_MAX: usize = 256;

/// What a text in a text costs of [`CHAIN_MAX`]: each starts the parser anew, inside the first.
pub(super) const INTERPOLATION_COST: usize = 8;

/// The stack of the thread that compiles. Reserved, and touched only as far as it is needed.
pub(super) const COMPILER_STACK_BYTES: usize = 64 * 1024 * 1024;

/// How many answers one run may ask for. The kernel runs from the start for each, so its work grows with the square.
pub const CALLS_MAX: usize = 256;

/// How many steps all those runs may take together: ten times what one of them may.
pub const WORK_MAX: u64 = 20_000_000;

pub const SNAPSHOT_BYTES_MAX: usize = 1024 * 1024;

/// A secret shorter than this is not looked for in what a module says: it would be found everywhere.
pub(super) const SECRET_BYTES_MIN: usize = 4;
