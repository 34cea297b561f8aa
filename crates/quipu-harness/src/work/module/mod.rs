//! Tasks that a `.harn` module works on in process. A Persona names the module; whoever submits a Task to it
//! has the module run, and what the module asks is answered by the log, by the server, or by whoever may
//! write in the Session. Each answer is a dependency of the Task, so that its run can be replayed.

pub(crate) mod answers;
mod deaths;
pub(crate) mod question;
pub(crate) mod run;
