//! COMPACT: section 3.9 of the catalogue. Every case works inside a session of its own, so that it changes no other
//! units. For the same reason no case purges with an empty filter: a Field that does not refuse it would lose
//! everything.

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::Agent,
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
        room::Room,
        unit::{Unit, committed, draft, finding},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l2_compact_01_the_log_keeps_what_is_archived,
        "CMP-1",
        "REPLAY tells an archived unit as before."
    )
    .needing(&["REPLAY"]),
    rule!(
        Must,
        l2_compact_02_archived_units_are_left_out,
        "CMP-2 ATT-9 L2-10",
        "ATTUNE gives archived units no more."
    ),
    rule!(
        Reading,
        l2_compact_03_archived_units_come_on_demand,
        "ATT-9 A-18",
        "scope.include_archived gives them."
    ),
    rule!(
        Must,
        l2_compact_04_summarize_makes_a_synthesis,
        "CMP-3",
        "A synthesis elaborates each original, and these are archived."
    ),
    rule!(
        Must,
        l2_compact_05_no_match_is_ok,
        "CMP-5",
        "A filter that matches nothing answers ok and 0."
    ),
    rule!(
        Must,
        l2_compact_06_answers_with_its_counts,
        "CMP-2",
        "The answer has status, units_affected, synthesis_units_created and storage_reclaimed_bytes."
    ),
    rule!(Must, l2_compact_07_filters_by_type, "CMP-2", "filter.types leaves other types alone."),
    rule!(
        Must,
        l2_compact_08_filters_by_status,
        "CMP-2",
        "filter.status leaves other statuses alone."
    ),
    rule!(
        Must,
        l2_compact_09_filters_by_age,
        "CMP-2 A-17",
        "filter.max_age_epochs leaves younger units alone."
    ),
    rule!(
        Must,
        l2_compact_10_filters_by_session,
        "CMP-2",
        "filter.session_id leaves other sessions alone."
    ),
    rule!(
        Must,
        l2_compact_11_refuses_an_unknown_strategy,
        "CMP-6",
        "A strategy outside of the three is refused."
    ),
    rule!(
        Reading,
        l2_compact_12_archiving_twice_affects_nothing_more,
        "CMP-5",
        "What is archived is not archived again."
    ),
    rule!(
        Must,
        l3_compact_13_purge_deletes_from_the_active_store,
        "CMP-4 CMP-6 L3-7",
        "A purged unit is not given, not even on demand."
    ),
    rule!(
        Must,
        l3_compact_14_purge_leaves_a_tombstone,
        "CMP-1 CMP-4",
        "REPLAY of a purged unit still answers, and tells of the purge."
    )
    .needing(&["REPLAY"]),
    rule!(
        Reading,
        l3_compact_15_a_purged_text_is_nowhere,
        "CMP-4",
        "REPLAY of a purged unit does not repeat its text."
    )
    .needing(&["REPLAY"]),
    rule!(Must, l2_compact_17_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
    rule!(
        Reading,
        l2_compact_18_a_synthesis_of_units_has_their_words,
        "CMP-3 A-26",
        "The synthesis has confidence and a text."
    ),
];

/// A session with an author, a reader and a keeper.
struct Store {
    room: Room,
    author: Agent,
    reader: Agent,
}

fn store(case: &mut Case) -> Checked<Store> {
    let room = case.room()?;
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let (author, reader) = (room.joined(&author)?, room.joined(&reader)?);
    Ok(Store { room, author, reader })
}

impl Store {
    /// Sends a COMPACT that is limited to this session.
    fn compact(&self, strategy: &str, filter: Value) -> Checked<Value> {
        let filter = with(json!({"session_id": self.room.id}), filter);
        self.room.creator.ok("COMPACT", json!({"strategy": strategy, "filter": filter}))
    }

    fn units(&self, case: &Case, count: usize) -> Checked<Vec<Unit>> {
        (0..count).map(|_| self.author.record(finding(case.words("A crate was stacked")))).collect()
    }

    fn finds_archived(&self, unit: &Unit) -> Checked<bool> {
        Ok(self.reader.finds(unit, json!({"include_archived": true}))?.is_some())
    }
}

fn l2_compact_01_the_log_keeps_what_is_archived(case: &mut Case) -> Checked {
    let store = store(case)?;
    let unit = store.units(case, 1)?.remove(0);
    let before = store.reader.replay("memory_unit", &unit.id, "full_trace")?;
    store.compact("archive", json!({}))?;
    let after = store.reader.replay("memory_unit", &unit.id, "full_trace")?;
    for event in before.list("/timeline")? {
        ensure(after.list("/timeline")?.contains(event), format!("{event} is gone"))?;
    }
    Ok(())
}

fn l2_compact_02_archived_units_are_left_out(case: &mut Case) -> Checked {
    let store = store(case)?;
    let units = store.units(case, 2)?;
    let answer = store.compact("archive", json!({}))?;
    same("units_affected", answer.integer("/units_affected")?, 2)?;
    units.iter().try_for_each(|unit| store.reader.misses(unit))
}

fn l2_compact_03_archived_units_come_on_demand(case: &mut Case) -> Checked {
    let store = store(case)?;
    let unit = store.units(case, 1)?.remove(0);
    store.compact("archive", json!({}))?;
    store.reader.misses(&unit)?;
    ensure(store.finds_archived(&unit)?, "include_archived does not give an archived unit")
}

/// Summarizes three units and returns the syntheses that the reader sees.
fn summarized(case: &mut Case) -> Checked<(Store, Vec<Unit>, Vec<Value>)> {
    let store = store(case)?;
    let units = store.units(case, 3)?;
    let answer = store.compact("summarize", json!({"status": ["active"]}))?;
    same("units_affected", answer.integer("/units_affected")?, 3)?;
    let made = answer.integer("/synthesis_units_created")?;
    ensure(made >= 1, "no synthesis was made")?;
    let given = store.reader.attune_since(units[0].epoch, json!({}))?;
    let given = given.list("/record")?.iter().map(|item| item["memory_unit"].clone());
    let syntheses: Vec<Value> = given.filter(|unit| unit["type"] == "synthesis").collect();
    same("syntheses given", Ok(made), u64::try_from(syntheses.len()))?;
    Ok((store, units, syntheses))
}

fn l2_compact_04_summarize_makes_a_synthesis(case: &mut Case) -> Checked {
    let (store, units, syntheses) = summarized(case)?;
    let relations: Vec<&Value> =
        syntheses.iter().filter_map(|unit| unit["relations"].as_array()).flatten().collect();
    for unit in &units {
        let named = relations
            .iter()
            .any(|r| r["type"] == "elaborates" && r["target_id"] == unit.id.as_str());
        ensure(named, format!("no synthesis elaborates {}", unit.id))?;
        store.reader.misses(unit)?;
    }
    Ok(())
}

fn l2_compact_05_no_match_is_ok(case: &mut Case) -> Checked {
    let store = store(case)?;
    store.units(case, 1)?;
    for strategy in ["archive", "summarize"] {
        let answer = store.compact(strategy, json!({"types": ["human_directive"]}))?;
        same("status", answer.text("/status")?, "ok")?;
        same("units_affected", answer.integer("/units_affected")?, 0)?;
        same("synthesis_units_created", answer.integer("/synthesis_units_created")?, 0)?;
    }
    Ok(())
}

fn l2_compact_06_answers_with_its_counts(case: &mut Case) -> Checked {
    let store = store(case)?;
    store.units(case, 2)?;
    let answer = store.compact("archive", json!({}))?;
    same("status", answer.text("/status")?, "ok")?;
    same("units_affected", answer.integer("/units_affected")?, 2)?;
    same("synthesis_units_created", answer.integer("/synthesis_units_created")?, 0)?;
    answer.has_keys("the answer", &["storage_reclaimed_bytes"])
}

fn l2_compact_07_filters_by_type(case: &mut Case) -> Checked {
    let store = store(case)?;
    let kept = store.units(case, 1)?.remove(0);
    let gone = store.author.record(committed("question", case.words("Is it full?")))?;
    let answer = store.compact("archive", json!({"types": ["question"]}))?;
    same("units_affected", answer.integer("/units_affected")?, 1)?;
    store.reader.misses(&gone)?;
    store.reader.sees(&kept).map(drop)
}

fn l2_compact_08_filters_by_status(case: &mut Case) -> Checked {
    let store = store(case)?;
    let kept = store.units(case, 1)?.remove(0);
    let gone = store.author.record(draft(case.words("A crate may be full")))?;
    let answer = store.compact("archive", json!({"status": ["draft"]}))?;
    same("units_affected", answer.integer("/units_affected")?, 1)?;
    store.reader.misses(&gone)?;
    store.reader.sees(&kept).map(drop)
}

fn l2_compact_09_filters_by_age(case: &mut Case) -> Checked {
    let store = store(case)?;
    let old = store.units(case, 1)?.remove(0);
    // Advance the clock: age is counted in epochs, not in time.
    let payload = finding(case.words("A crate was moved"));
    let later = with(store.author.message("RECORD", payload), json!({"epoch": old.epoch + 900}));
    let later = store.author.deliver("/v1/record", &later)?.done("RECORD")?;
    let answer = store.compact("archive", json!({"max_age_epochs": 400}))?;
    same("units_affected", answer.integer("/units_affected")?, 1)?;
    store.reader.misses(&old)?;
    let young = Unit { id: later.text("/memory_unit_id")?.to_owned(), ..old };
    store.reader.sees(&young).map(drop)
}

fn l2_compact_10_filters_by_session(case: &mut Case) -> Checked {
    let (mine, other) = (store(case)?, store(case)?);
    let kept = other.units(case, 1)?.remove(0);
    mine.units(case, 1)?;
    same("units_affected", mine.compact("archive", json!({}))?.integer("/units_affected")?, 1)?;
    other.reader.sees(&kept).map(drop)
}

fn l2_compact_11_refuses_an_unknown_strategy(case: &mut Case) -> Checked {
    let store = store(case)?;
    let filter = json!({"session_id": store.room.id});
    let creator = &store.room.creator;
    creator.refused_somehow("COMPACT", json!({"strategy": "burn", "filter": filter}))?;
    creator.refused_somehow("COMPACT", json!({"filter": filter})).map(drop)
}

fn l2_compact_12_archiving_twice_affects_nothing_more(case: &mut Case) -> Checked {
    let store = store(case)?;
    store.units(case, 2)?;
    store.compact("archive", json!({}))?;
    same("units_affected", store.compact("archive", json!({}))?.integer("/units_affected")?, 0)
}

fn l3_compact_13_purge_deletes_from_the_active_store(case: &mut Case) -> Checked {
    let store = store(case)?;
    let unit = store.units(case, 1)?.remove(0);
    let answer = store.compact("purge", json!({"types": ["finding"]}))?;
    same("units_affected", answer.integer("/units_affected")?, 1)?;
    ensure(!store.finds_archived(&unit)?, "a purged unit is given")
}

/// A purged unit and the REPLAY about it.
fn purged(case: &mut Case) -> Checked<(Unit, Value)> {
    let store = store(case)?;
    let unit = store.units(case, 1)?.remove(0);
    store.compact("purge", json!({"types": ["finding"]}))?;
    let story = store.reader.replay("memory_unit", &unit.id, "full_trace")?;
    Ok((unit, story))
}

fn l3_compact_14_purge_leaves_a_tombstone(case: &mut Case) -> Checked {
    let (unit, story) = purged(case)?;
    let events = story.list("/timeline")?;
    let own = |event: &&Value| event["memory_unit_id"] == unit.id.as_str();
    ensure(events.iter().any(|e| own(&e) && e["event_type"] == "RECORD"), "its RECORD is gone")?;
    let later = |event: &&Value| event["epoch"].as_u64() > Some(unit.epoch);
    let tombstone = events.iter().find(|e| own(e) && later(e)).cloned().unwrap_or_default();
    // The event of a purge must remain visible, with its reason.
    ensure(!tombstone.text("/description")?.trim().is_empty(), "the tombstone gives no reason")
}

fn l3_compact_15_a_purged_text_is_nowhere(case: &mut Case) -> Checked {
    let (unit, story) = purged(case)?;
    let word = unit.content.split(' ').next_back().unwrap_or_default();
    ensure(!story.to_string().contains(word), format!("the text is still told: {story}"))
}

fn l2_compact_17_refuses_a_stranger(case: &mut Case) -> Checked {
    let payload = json!({"strategy": "archive", "filter": {"types": ["human_directive"], "max_age_epochs": 9_000_000}});
    case.stranger().refused("COMPACT", payload, "AGENT_NOT_REGISTERED").map(drop)
}

fn l2_compact_18_a_synthesis_of_units_has_their_words(case: &mut Case) -> Checked {
    let (_, _, syntheses) = summarized(case)?;
    for unit in syntheses {
        ensure(!unit.text("/content")?.is_empty(), "the synthesis is empty")?;
        ensure(unit.text("/content")?.contains(&case.token), "no word of the units is in it")?;
        unit.number("/confidence/score")?;
        unit.text("/confidence/reasoning")?;
        ensure(!unit.text("/intent/purpose")?.is_empty(), "it has no intent")?;
    }
    Ok(())
}
