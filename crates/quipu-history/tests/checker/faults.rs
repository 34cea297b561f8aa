//! Each kind of fault, put into a sound history, is caught.

use quipu_history::{
    Answer, Done, Entry, Event, Fact, INITIAL_VALUE, Member, Observed, ObservedDocument, Outcome,
    Read, Request, Violation, Write, explain, judge,
};

use crate::{
    deciding::{done, seal},
    sim::{History, simulate},
    state::observed_at,
};

const SEEDS: u64 = 250;
/// A fault that finds no place in a history proves nothing, so it must find one this often.
const PLACES_MIN: usize = 20;

/// Puts a fault into many histories, and shows that it is caught wherever it finds a place.
fn caught_by(
    fault: impl Fn(&mut History) -> Option<()>,
    judge: impl Fn(&History) -> Result<(), Violation>,
) -> Vec<&'static str> {
    let mut rules = Vec::new();
    for seed in 0..SEEDS {
        let mut history = simulate(seed);
        if fault(&mut history).is_none() {
            continue;
        }
        match judge(&history) {
            Err(violation) => rules.push(violation.rule),
            Ok(()) => panic!("seed {seed} passes: {:#?}", history.log),
        }
    }
    assert!(rules.len() >= PLACES_MIN, "only {} places", rules.len());
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn with_log(history: &History) -> Result<(), Violation> {
    judge(&history.events, &[history.log.0.clone(), history.log.0.clone()]).map(drop)
}

fn without_log(history: &History) -> Result<(), Violation> {
    explain(&history.events).map(drop)
}

fn answer_with(event: &mut Event, at: u64, with: Answer) {
    event.outcome = Outcome::Answered { position: Some(at), answer: with };
}

fn is_of(entry: &Entry, event: &Event) -> bool {
    let message = event.write().map(|(message, _)| message);
    entry.actor == event.agent && message.is_some() && entry.message.as_ref() == message
}

fn acknowledged(history: &History, entry: &Entry) -> bool {
    let done = |event: &&Event| matches!(event.answer(), Some(Answer::Done(_)));
    history.events.iter().filter(done).any(|event| is_of(entry, event))
}

fn first_asked(history: &History, entry: &Entry) -> u64 {
    let of = history.events.iter().filter(|event| is_of(entry, event));
    of.map(|event| event.invoked_us).min().unwrap()
}

/// Whether the log says which message a commit is of.
fn is_witnessed(entry: &Entry) -> bool {
    !matches!(entry.facts[0], Fact::Other(_))
}

fn lose_a_write(history: &mut History) -> Option<()> {
    let known = |entry: &Entry| is_witnessed(entry) && acknowledged(history, entry);
    let last = history.log.0.iter().rposition(known)?;
    history.log.0.remove(last);
    seal(&mut history.log.0);
    Some(())
}

fn apply_twice(history: &mut History) -> Option<()> {
    let again = history.log.0.last()?.clone();
    history.log.0.push(again);
    seal(&mut history.log.0);
    Some(())
}

/// The refused claim or retraction is answered as if it had won too.
fn let_two_win(history: &mut History) -> Option<()> {
    // Who won must know it, else the other could have won instead; and clients must know the unit.
    let known = history.log.0.iter().filter(|entry| acknowledged(history, entry));
    let known: Vec<Fact> = known.flat_map(|entry| entry.facts.clone()).collect();
    let won = |write: &Write| {
        known.iter().any(|fact| match (fact, write) {
            (Fact::Retracted(won), Write::Retract { unit }) => {
                won == unit && known.contains(&Fact::Recorded(unit.clone()))
            }
            (Fact::Claimed { task: won, .. }, Write::Claim { task }) => won == task,
            _ => false,
        })
    };
    let lost = |event: &&mut Event| {
        matches!(event.answer(), Some(Answer::Refused(code)) if code == "INVALID_TRANSITION")
            && event.write().is_some_and(|(_, write)| won(write))
    };
    let event = history.events.iter_mut().find(lost)?;
    let at = event.reported_position()?;
    answer_with(event, at, Answer::Done(Done { epoch: Some(3 * at), made: None }));
    Some(())
}

/// Two commits change places although one was answered before the other was asked for.
fn swap_positions(history: &mut History) -> Option<()> {
    let answered = |entry: &Entry| {
        let of = history.events.iter().filter(|event| is_of(entry, event));
        of.filter_map(|event| event.returned_us).min().unwrap_or(u64::MAX)
    };
    let pairs = history.log.0.windows(2);
    let ordered = |pair: &[Entry]| {
        pair.iter().all(is_witnessed) && answered(&pair[0]) < first_asked(history, &pair[1])
    };
    let at = pairs.enumerate().find_map(|(at, pair)| (at > 8 && ordered(pair)).then_some(at))?;
    history.log.0.swap(at, at + 1);
    seal(&mut history.log.0);
    // Only the order is wrong: every answer fits the place where its commit is now.
    for event in &mut history.events {
        let entry = history.log.0.iter().find(|entry| is_of(entry, event));
        if let (Some(entry), Some(Answer::Done(_))) = (entry, event.answer()) {
            answer_with(event, event.reported_position()?.max(entry.position), done(entry));
        }
    }
    Some(())
}

/// A read shows what was there before the position that it asked for.
fn show_the_past(history: &mut History) -> Option<()> {
    let log = history.log.0.clone();
    for event in &mut history.events {
        let (Request::Read(read), Some(min)) = (event.request.clone(), event.min_position) else {
            continue;
        };
        if matches!(read, Read::Document { .. }) {
            // The log does not say what is in it: see `forget_an_update`.
            continue;
        }
        let reported = event.reported_position()?;
        let now: Vec<Observed> = (min..=reported).map(|at| observed_at(&read, &log, at)).collect();
        let past = (0..min).map(|at| observed_at(&read, &log, at)).find(|seen| !now.contains(seen));
        if let Some(past) = past {
            answer_with(event, reported, Answer::Observed(past));
            return Some(());
        }
    }
    None
}

/// A read shows what was asked for only after it was answered.
fn show_the_future(history: &mut History) -> Option<()> {
    let log = history.log.0.clone();
    let asked: Vec<u64> = log.iter().map(|entry| first_asked(history, entry)).collect();
    for event in &mut history.events {
        let (Some(read), Some(returned)) = (event.read().cloned(), event.returned_us) else {
            continue;
        };
        let mut later = asked.iter().zip(1_u64..).zip(&log);
        let later = later.find(|((asked, _), entry)| **asked > returned && is_witnessed(entry));
        if let Some(((_, position), _)) = later {
            answer_with(event, position, Answer::Observed(observed_at(&read, &log, position)));
            return Some(());
        }
    }
    None
}

/// A read has not what was there early and stayed, but what came later.
fn tear(history: &mut History) -> Option<()> {
    let facts: Vec<&Fact> = history.log.0.iter().flat_map(|entry| &entry.facts).collect();
    let unit =
        |fact: &&Fact| if let Fact::Recorded(unit) = fact { Some(unit.clone()) } else { None };
    let recorded: Vec<String> = facts.iter().filter_map(unit).collect();
    for event in &mut history.events {
        let reported = event.reported_position();
        let Some(Answer::Observed(Observed::Units(units))) = event.answer() else { continue };
        let is_seen = |unit: &&String| units.contains_key(*unit);
        let mut seen = recorded.iter().filter(is_seen);
        let stays = |unit: &&String| !facts.contains(&&Fact::Retracted((*unit).clone()));
        let (Some(early), Some(last)) = (seen.clone().find(stays), seen.next_back()) else {
            continue;
        };
        if early != last {
            let mut units = units.clone();
            units.remove(early);
            answer_with(event, reported?, Answer::Observed(Observed::Units(units)));
            return Some(());
        }
    }
    None
}

/// An acknowledged change of the document's name is gone, as when two nodes write the whole of it at once.
fn forget_an_update(history: &mut History) -> Option<()> {
    let named = |event: &Event| {
        let (_, Write::Put { member: Member::Name, .. }) = event.write()? else { return None };
        Some((event.returned_us?, event.reported_position()?))
    };
    let named: Vec<(u64, u64)> = history.events.iter().filter_map(named).collect();
    for event in &mut history.events {
        let (reported, asked) = (event.reported_position(), event.min_position.unwrap_or_default());
        let Some(Answer::Observed(Observed::Document(Some(seen)))) = event.answer() else {
            continue;
        };
        let before =
            |(returned, reported): &(u64, u64)| *returned < event.invoked_us && *reported <= asked;
        if named.iter().any(before) {
            let seen = ObservedDocument { name: INITIAL_VALUE.to_owned(), ..seen.clone() };
            answer_with(event, reported?, Answer::Observed(Observed::Document(Some(seen))));
            return Some(());
        }
    }
    None
}

fn refuse_wrongly(history: &mut History) -> Option<()> {
    let log = history.log.0.clone();
    let claims = |event: &&mut Event| {
        let claim = matches!(event.write(), Some((_, Write::Claim { .. })));
        claim && matches!(event.answer(), Some(Answer::Done(_)))
    };
    let event = history.events.iter_mut().find(claims)?;
    let (reported, (message, write)) = (event.reported_position()?, event.write()?);
    assert!(log.iter().any(|entry| is_of(entry, event)), "{message} {write:?}");
    answer_with(event, reported, Answer::Refused("INVALID_TRANSITION".to_owned()));
    Some(())
}

fn tell_another_text(history: &mut History) -> Option<()> {
    let event = history.events.iter_mut().find(
        |event| matches!(event.answer(), Some(Answer::Observed(Observed::Unit(Some(unit)))) if unit.active),
    )?;
    let (reported, Some(Answer::Observed(Observed::Unit(Some(unit))))) =
        (event.reported_position()?, event.answer())
    else {
        return None;
    };
    let mut unit = unit.clone();
    unit.content.push('!');
    answer_with(event, reported, Answer::Observed(Observed::Unit(Some(unit))));
    Some(())
}

#[test]
fn a_lost_write_is_caught() {
    assert!(caught_by(lose_a_write, with_log).contains(&"lost"));
}

#[test]
fn a_write_that_was_applied_twice_is_caught() {
    assert_eq!(caught_by(apply_twice, with_log), ["once"]);
}

#[test]
fn two_winners_are_caught_with_the_log_and_without() {
    assert_eq!(caught_by(let_two_win, with_log), ["lost"]);
    assert_eq!(caught_by(let_two_win, without_log), ["search"]);
}

#[test]
fn swapped_positions_are_caught() {
    assert!(caught_by(swap_positions, with_log).contains(&"real time"));
}

#[test]
fn an_answer_from_the_past_is_caught() {
    assert_eq!(caught_by(show_the_past, with_log), ["read"]);
}

#[test]
fn an_answer_from_the_future_is_caught() {
    assert!(caught_by(show_the_future, with_log).contains(&"real time"));
}

#[test]
fn an_answer_that_was_never_the_state_is_caught() {
    assert_eq!(caught_by(tear, with_log), ["read"]);
    assert_eq!(caught_by(tell_another_text, with_log), ["read"]);
}

#[test]
fn an_update_that_is_forgotten_is_caught() {
    assert_eq!(caught_by(forget_an_update, with_log), ["search"]);
}

#[test]
fn a_wrong_refusal_is_caught() {
    let rules = caught_by(refuse_wrongly, with_log);
    assert!(rules.contains(&"refused"), "{rules:?}");
}

#[test]
fn nodes_that_disagree_are_caught() {
    let apart = |history: &History| {
        let mut other = history.log.0.clone();
        let last = other.last_mut().unwrap();
        last.hash.push('!');
        judge(&history.events, &[history.log.0.clone(), other]).map(drop)
    };
    assert_eq!(caught_by(|_| Some(()), apart), ["agreement"]);
}

#[test]
fn a_violation_shows_few_events_and_how_they_were_answered() {
    let broken = |seed| {
        let mut history = simulate(seed);
        let_two_win(&mut history).map(|()| history)
    };
    let history = (0..SEEDS).find_map(broken).unwrap();
    let violation = explain(&history.events).unwrap_err();
    assert!(violation.events.len() <= 6, "{}", violation.describe(&history.events, &[]));
    let reported = violation.describe(&history.events, &history.log.0);
    assert!(reported.contains("Done") && reported.contains("client"), "{reported}");
}
