//! The side of the module: compiles what it is given, runs it, asks what the module asks, and says how it ended.
//! Knows no key and no secret but those that the module is told.

use std::io::{self, Read, Write};

use super::{
    frame::{FROM_MODULE_MAX, TO_MODULE_MAX, read, write},
    messages::{Order, Question, Reply, answer_of},
};
use crate::module::{
    answers::{Answer, Answers, Request},
    compile::Module,
    policy::Policy,
    run::{ModuleRun, resume, run},
    snapshot::NOBODYS_KEY,
};

/// Serves one module over a pair of pipes, until it has ended or nobody asks any more.
///
/// # Errors
/// Where the pipes break, or the other side says what it cannot say now.
pub fn serve(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let Some(order) = read(&mut from, TO_MODULE_MAX)? else { return Ok(()) };
    let Order::Compile { source, entry } = order else { return Err(out_of_turn()) };
    let module = match Module::compile(&source, &entry) {
        Ok(module) => module,
        Err(error) => return write(&mut to, &Reply::Refused(error.into()), FROM_MODULE_MAX),
    };
    write(&mut to, &Reply::Compiled, FROM_MODULE_MAX)?;
    let Some(order) = read(&mut from, TO_MODULE_MAX)? else { return Ok(()) };
    let mut remote = RemoteAnswers { from, to, broken: None };
    let reply = carry_out(&module, order, &mut remote)?;
    match remote.broken {
        Some(error) => Err(error),
        None => write(&mut remote.to, &reply, FROM_MODULE_MAX),
    }
}

fn carry_out(module: &Module, order: Order, remote: &mut dyn Answers) -> io::Result<Reply> {
    let policy = |grants| Policy::new::<String>(grants, NOBODYS_KEY).map_err(|_| out_of_turn());
    let ran: ModuleRun = match order {
        Order::Run { grants, input } => {
            let input = input.read().ok_or_else(out_of_turn)?;
            run(module, &policy(grants)?, &input, remote)
        }
        Order::Resume { grants, snapshot } => {
            match resume(module, &policy(grants)?, snapshot.as_bytes(), remote) {
                Ok(ran) => ran,
                Err(error) => return Ok(Reply::NoSnapshot(error)),
            }
        }
        Order::Compile { .. } | Order::Answer(_) => return Err(out_of_turn()),
    };
    Ok(Reply::of_run(ran))
}

fn out_of_turn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the server says what it cannot say now")
}

/// Asks the other side what the module asks.
struct RemoteAnswers<R, W> {
    from: R,
    to: W,
    broken: Option<io::Error>,
}

impl<R: Read, W: Write> RemoteAnswers<R, W> {
    fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        write(&mut self.to, &Reply::Asks(Question::of(request)), FROM_MODULE_MAX)?;
        match read(&mut self.from, TO_MODULE_MAX)? {
            Some(Order::Answer(given)) => answer_of(given.as_ref()).ok_or_else(out_of_turn),
            Some(Order::Compile { .. } | Order::Run { .. } | Order::Resume { .. }) => {
                Err(out_of_turn())
            }
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl<R: Read, W: Write> Answers for RemoteAnswers<R, W> {
    fn answer(&mut self, request: &Request) -> Answer {
        self.ask(request).unwrap_or_else(|error| {
            self.broken.get_or_insert(error);
            Answer::Unavailable
        })
    }
}
