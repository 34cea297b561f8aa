//! The hunt: one input after the other, those that come to something new kept for more, until something fails, the
//! number of inputs is reached, or somebody calls it off.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{Target, dice::Dice, mutation::mutated};

/// How many inputs are kept for more.
const KEPT_MAX: usize = 2048;

/// How to hunt.
#[derive(Debug)]
pub struct Hunt<'h> {
    /// By which chance.
    pub seed: u64,
    /// How many inputs are made.
    pub inputs: u64,
    /// Says when it is enough.
    pub stop: &'h AtomicBool,
}

/// What a hunt came to without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// How many inputs were tried.
    pub tried: u64,
    /// To how many different things they came.
    pub outcomes: usize,
}

/// An input that made its target fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    pub input: Vec<u8>,
    /// What the target said.
    pub said: String,
}

/// Lets panics of targets go without a word: they are told as crashes.
pub fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Tries one input.
///
/// # Errors
/// Where the target fails.
pub fn try_one(target: &Target, input: &[u8]) -> Result<String, Box<Crash>> {
    catch_unwind(AssertUnwindSafe(|| (target.read)(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let said = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Box::new(Crash { input: input.to_vec(), said: said.to_owned() })
    })
}

/// Tries what is saved, and then what is made of it.
///
/// # Errors
/// At the first input that makes the target fail.
pub fn hunt(target: &Target, saved: &[Vec<u8>], hunt: &Hunt<'_>) -> Result<Tally, Box<Crash>> {
    let (mut kept, mut outcomes) = (saved.to_vec(), BTreeSet::new());
    for input in saved {
        outcomes.insert(try_one(target, input)?);
    }
    let mut dice = Dice::new(hunt.seed);
    let mut tried = 0;
    while tried < hunt.inputs && !hunt.stop.load(Ordering::Relaxed) {
        let from = dice.one_of(&kept).cloned().unwrap_or_default();
        let other = dice.one_of(&kept).cloned().unwrap_or_default();
        let input = mutated(&mut dice, &from, &other, target.words);
        tried += 1;
        if outcomes.insert(try_one(target, &input)?) && kept.len() < KEPT_MAX {
            kept.push(input);
        }
    }
    Ok(Tally { tried, outcomes: outcomes.len() })
}
