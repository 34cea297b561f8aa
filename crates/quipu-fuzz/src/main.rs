//! `quipu-fuzz`: hunts in all targets at once, or in one, for as long as it is told. What makes one fail is saved. Without
//! `--seed` each run goes by another one; it is printed, so that the run can be repeated.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool speaks to its user")]

use std::{
    hash::{BuildHasher as _, RandomState},
    process::ExitCode,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use quipu_fuzz::{Corpus, Hunt, TARGETS, Target, hunt, silence_panics};

const USAGE: &str = "usage: quipu-fuzz [--seconds N] [--seed N] [TARGET]";

struct Options {
    seconds: u64,
    seed: u64,
    targets: Vec<&'static Target>,
}

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        for target in TARGETS {
            eprintln!("  {}", target.name);
        }
        return ExitCode::from(2);
    };
    println!("seed {}", options.seed);
    silence_panics();
    let stop = AtomicBool::new(false);
    let (ended, ends) = channel();
    let all_held = thread::scope(|scope| {
        for target in &options.targets {
            let (stop, ended) = (&stop, ended.clone());
            scope.spawn(move || work(target, options.seed, stop, &ended));
        }
        drop(ended);
        let mut all_held = true;
        loop {
            match ends.recv_timeout(Duration::from_secs(options.seconds)) {
                Ok(held) => all_held &= held,
                Err(RecvTimeoutError::Timeout) => stop.store(true, Ordering::Relaxed),
                Err(RecvTimeoutError::Disconnected) => return all_held,
            }
        }
    });
    if all_held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Option<Options> {
    let mut options = Options { seconds: 60, seed: another_seed(), targets: Vec::new() };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => options.seconds = arguments.next()?.parse().ok()?,
            "--seed" => options.seed = arguments.next()?.parse().ok()?,
            name => options.targets.push(Target::named(name)?),
        }
    }
    if options.targets.is_empty() {
        options.targets.extend(TARGETS);
    }
    Some(options)
}

/// The standard library draws the keys of its hash maps anew in each process.
fn another_seed() -> u64 {
    RandomState::new().hash_one(())
}

fn work(target: &Target, seed: u64, stop: &AtomicBool, ended: &Sender<bool>) {
    let held = match Corpus::of(target.name) {
        Err(error) => {
            eprintln!("{}: its corpus cannot be read: {error}", target.name);
            false
        }
        Ok(corpus) => match hunt(target, &corpus.inputs, &Hunt { seed, inputs: u64::MAX, stop }) {
            Ok(tally) => {
                let (tried, outcomes) = (tally.tried, tally.outcomes);
                println!("{}: {tried} inputs, {outcomes} outcomes", target.name);
                true
            }
            Err(crash) => {
                let saved = corpus.save_crash(&crash.input);
                let place =
                    saved.map_or_else(|error| error.to_string(), |it| it.display().to_string());
                let (name, said) = (target.name, crash.said);
                eprintln!("{name}: FAILED by the seed {seed}: {said}\n    {place}");
                false
            }
        },
    };
    // Whoever waits for it may be gone.
    ended.send(held).ok();
}
