//! Inputs that members lend to the modules of their own Tasks in a Session. They are held in memory and written nowhere: a
//! restart loses them, another node does not have them, a fork does not get them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use quipu_wire::harn::{GivenInput, InputSnapshot, InputSpec, InputValue};

/// How much one giver may have in one Session, and all givers together.
const GIVER_INPUTS_MAX: usize = 256;
const GIVER_BYTES_MAX: usize = 1024 * 1024;
const ALL_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How many givers there may be. A Session counts each of its givers.
const GIVERS_MAX: usize = 4096;
/// How many sources of snapshots are remembered of one giver.
const SOURCES_MAX: usize = 16;

/// Whose inputs, and in which Session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Giver {
    pub(crate) session: String,
    pub(crate) agent: String,
}

/// Why an input is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error("spec.lifetime.unix_ms: must be in the future")]
    Over,
    #[error("spec.name: there is one of that name; say `replace`")]
    Taken,
    #[error(
        "the inputs of one giver in a session are at most {GIVER_INPUTS_MAX}, with {GIVER_BYTES_MAX} bytes"
    )]
    TooMuch,
    #[error("this server holds no more inputs now")]
    Full,
}

#[derive(Clone, Default)]
pub(crate) struct GivenInputs(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    by_giver: BTreeMap<Giver, Given>,
}

#[derive(Default, Clone)]
struct Given {
    inputs: BTreeMap<String, Input>,
    /// The newest snapshot of each source.
    revisions: BTreeMap<String, u64>,
}

#[derive(Clone, PartialEq, Eq)]
struct Input {
    spec: InputSpec,
    value: InputValue,
    /// The source whose snapshot brought it.
    source: Option<String>,
}

impl std::fmt::Debug for GivenInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GivenInputs(..)")
    }
}

impl Given {
    fn bytes(&self) -> usize {
        let inputs = self.inputs.values();
        inputs.map(|input| input.spec.name.len() + input.value.0.len()).sum()
    }

    fn expire(&mut self, now_ms: u64) {
        self.inputs.retain(|_, input| input.spec.until_ms.is_none_or(|until| until > now_ms));
    }

    fn fits(&self) -> bool {
        self.inputs.len() <= GIVER_INPUTS_MAX && self.bytes() <= GIVER_BYTES_MAX
    }
}

impl Held {
    /// Takes up what a giver has after a change, if there is room for it.
    fn keep(&mut self, giver: &Giver, given: Given) -> Result<(), NotTaken> {
        if !given.fits() {
            return Err(NotTaken::TooMuch);
        }
        let others = self.by_giver.iter().filter(|(other, _)| *other != giver);
        let (count, bytes) = others.fold((0, 0), |(count, bytes): (usize, usize), (_, given)| {
            (count + 1, bytes + given.bytes())
        });
        if count >= GIVERS_MAX || bytes + given.bytes() > ALL_BYTES_MAX {
            return Err(NotTaken::Full);
        }
        self.by_giver.insert(giver.clone(), given);
        Ok(())
    }

    fn of(&self, giver: &Giver, now_ms: u64) -> Given {
        let mut given = self.by_giver.get(giver).cloned().unwrap_or_default();
        given.expire(now_ms);
        given
    }
}

impl GivenInputs {
    fn with<T>(&self, use_held: impl FnOnce(&mut Held) -> T) -> T {
        use_held(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets what is over: of whom `still` does not say that it may lend, and what was to be kept no longer.
    pub(crate) fn forget_old(&self, now_ms: u64, still: impl Fn(&Giver) -> bool) {
        self.with(|held| {
            held.by_giver.retain(|giver, given| {
                given.expire(now_ms);
                still(giver) && !(given.inputs.is_empty() && given.revisions.is_empty())
            });
        });
    }

    pub(crate) fn put(
        &self,
        giver: &Giver,
        input: GivenInput,
        replace: bool,
        now_ms: u64,
    ) -> Result<(), NotTaken> {
        let GivenInput { spec, value } = input;
        check_time(&spec, now_ms)?;
        self.with(|held| {
            let mut given = held.of(giver, now_ms);
            let input = Input { spec, value, source: None };
            let before = given.inputs.get(&input.spec.name);
            let same = before.is_some_and(|it| it.spec == input.spec && it.value == input.value);
            if before.is_some() && !replace && !same {
                return Err(NotTaken::Taken);
            }
            given.inputs.insert(input.spec.name.clone(), input);
            held.keep(giver, given)
        })
    }

    /// Puts all inputs of a source in the place of those that it had; whether it was newer than the last. All or nothing.
    pub(crate) fn sync(
        &self,
        giver: &Giver,
        snapshot: InputSnapshot,
        now_ms: u64,
    ) -> Result<bool, NotTaken> {
        let InputSnapshot { source, revision, inputs } = snapshot;
        inputs.iter().try_for_each(|input| check_time(&input.spec, now_ms))?;
        self.with(|held| {
            let mut given = held.of(giver, now_ms);
            let known = given.revisions.get(&source);
            if known.is_some_and(|known| revision <= *known) {
                return Ok(false);
            }
            if known.is_none() && given.revisions.len() >= SOURCES_MAX {
                return Err(NotTaken::TooMuch);
            }
            given.inputs.retain(|_, input| input.source.as_ref() != Some(&source));
            for GivenInput { spec, value } in inputs {
                let input = Input { spec, value, source: Some(source.clone()) };
                if given.inputs.insert(input.spec.name.clone(), input).is_some() {
                    return Err(NotTaken::Taken);
                }
            }
            given.revisions.insert(source, revision);
            held.keep(giver, given).map(|()| true)
        })
    }

    pub(crate) fn remove(&self, giver: &Giver, name: &str, now_ms: u64) -> bool {
        self.with(|held| {
            let mut given = held.of(giver, now_ms);
            let removed = given.inputs.remove(name).is_some();
            // Less than there was always fits.
            held.by_giver.insert(giver.clone(), given);
            removed
        })
    }

    /// What a giver has in a Session, by the names.
    pub(crate) fn list(&self, giver: &Giver, now_ms: u64) -> Vec<GivenInput> {
        let given = self.with(|held| held.of(giver, now_ms));
        let inputs = given.inputs.into_values();
        inputs.map(|Input { spec, value, .. }| GivenInput { spec, value }).collect()
    }
}

fn check_time(spec: &InputSpec, now_ms: u64) -> Result<(), NotTaken> {
    if spec.until_ms.is_some_and(|until| until <= now_ms) { Err(NotTaken::Over) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quipu_wire::harn::InputKind;

    fn giver() -> Giver {
        Giver { session: "session_1".to_owned(), agent: "ada".to_owned() }
    }

    fn input(name: &str, value: &str, until_ms: Option<u64>) -> GivenInput {
        let spec = InputSpec { name: name.to_owned(), kind: InputKind::Secret, until_ms };
        GivenInput { spec, value: InputValue(value.to_owned()) }
    }

    fn names(held: &GivenInputs, now_ms: u64) -> Vec<String> {
        held.list(&giver(), now_ms).into_iter().map(|input| input.spec.name).collect()
    }

    fn snapshot(revision: u64, inputs: Vec<GivenInput>) -> InputSnapshot {
        InputSnapshot { source: "ide".to_owned(), revision, inputs }
    }

    #[test]
    fn an_input_is_there_until_its_time_and_replaced_only_by_saying_so() {
        let held = GivenInputs::default();
        assert_eq!(held.put(&giver(), input("A", "1", Some(10)), false, 10), Err(NotTaken::Over));
        held.put(&giver(), input("A", "1", Some(11)), false, 10).unwrap();
        held.put(&giver(), input("A", "1", Some(11)), false, 10).unwrap();
        assert_eq!(held.put(&giver(), input("A", "2", None), false, 10), Err(NotTaken::Taken));
        assert_eq!((names(&held, 10), names(&held, 11)), (vec!["A".to_owned()], vec![]));
        held.put(&giver(), input("A", "2", None), true, 10).unwrap();
        assert!(held.remove(&giver(), "A", 10) && !held.remove(&giver(), "A", 10));
    }

    #[test]
    fn a_snapshot_takes_the_place_of_its_source_alone_and_an_older_one_changes_nothing() {
        let held = GivenInputs::default();
        held.put(&giver(), input("OWN", "1", None), false, 0).unwrap();
        let first = vec![input("A", "1", None), input("B", "1", None)];
        assert_eq!(held.sync(&giver(), snapshot(2, first), 0), Ok(true));
        assert_eq!(held.sync(&giver(), snapshot(1, Vec::new()), 0), Ok(false));
        assert_eq!(names(&held, 0), ["A", "B", "OWN"]);
        assert_eq!(held.sync(&giver(), snapshot(3, vec![input("B", "2", None)]), 0), Ok(true));
        assert_eq!(names(&held, 0), ["B", "OWN"]);
        let takes = snapshot(4, vec![input("C", "1", None), input("OWN", "x", None)]);
        assert_eq!(held.sync(&giver(), takes, 0), Err(NotTaken::Taken));
        assert_eq!(names(&held, 0), ["B", "OWN"], "all or nothing");
    }

    #[test]
    fn what_is_held_is_bounded_for_one_and_for_all() {
        let held = GivenInputs::default();
        let large = "x".repeat(60_000);
        let put = |name: String| held.put(&giver(), input(&name, &large, None), false, 0);
        let taken = (0..100).take_while(|number| put(format!("A{number}")).is_ok()).count();
        assert_eq!(taken, GIVER_BYTES_MAX / 60_002);
        let others = GivenInputs::default();
        let of =
            |number: usize| Giver { session: format!("session_{number}"), agent: "a".to_owned() };
        for number in 0..GIVERS_MAX {
            others.put(&of(number), input("A", "1", None), false, 0).unwrap();
        }
        let one_more = others.put(&of(GIVERS_MAX), input("A", "1", None), false, 0);
        assert_eq!(one_more, Err(NotTaken::Full));
        others.forget_old(0, |giver| giver.session != "session_0");
        others.put(&of(GIVERS_MAX), input("A", "1", None), false, 0).unwrap();
    }
}
