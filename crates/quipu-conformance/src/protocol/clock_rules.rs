//! Cases on the logical clock: section 1.2 of the catalogue.

use serde_json::json;

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_clock_01_record_answers_the_epoch_of_the_unit,
        "CLK-4 REC-5",
        "RECORD returns the epoch that the Field gave the unit."
    ),
    rule!(
        Must,
        l0_clock_02_a_unit_cannot_choose_its_epoch,
        "CLK-4 MU-5",
        "An epoch in the payload is not honoured."
    ),
    rule!(
        Must,
        l1_clock_03_each_record_advances_the_clock,
        "CLK-2 L1-3",
        "Each RECORD has a larger epoch than the one before."
    ),
    rule!(
        Must,
        l1_clock_04_a_message_ahead_pulls_the_clock_along,
        "CLK-3 L1-3",
        "The clock goes to max(local, message) + 1 at least."
    ),
    rule!(
        Must,
        l1_clock_05_a_message_behind_does_not_turn_the_clock_back,
        "CLK-3 L1-3",
        "An old epoch in a message leaves the clock where it is."
    ),
    rule!(
        Reading,
        l1_clock_06_a_message_one_ahead_is_answered_with_its_successor,
        "CLK-5",
        "One tick per message: sent at n, answered with n + 1."
    ),
    rule!(
        Reading,
        l1_clock_07_attune_ticks_too,
        "A-01 A-03",
        "ATTUNE takes a tick of its own, so that polling repeats nothing."
    ),
    rule!(
        Reading,
        l1_clock_08_refuses_an_epoch_beyond_two_to_the_53,
        "A-06 CLK-6",
        "A hostile epoch does not wear the clock out."
    ),
    rule!(
        Reading,
        l2_clock_09_conflict_and_record_share_the_epoch,
        "CLK-5",
        "Side events of an operation share its epoch."
    )
    .needing(&["REPLAY"]),
];

fn l0_clock_01_record_answers_the_epoch_of_the_unit(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("clockmaker")?, case.agent("analyst")?);
    let unit = author.record(finding(case.words("The tower was repaired")))?;
    same("epoch", reader.sees(&unit)?.integer("/epoch")?, unit.epoch)
}

fn l0_clock_02_a_unit_cannot_choose_its_epoch(case: &mut Case) -> Checked {
    let author = case.agent("clockmaker")?;
    let payload =
        with(finding(case.words("The tower was repaired")), json!({"epoch": 424_242_424}));
    let reply = author.send("RECORD", payload)?;
    let epoch = reply.body.get("epoch");
    ensure(epoch != Some(&json!(424_242_424)), "the epoch of the payload was taken")
}

fn l1_clock_03_each_record_advances_the_clock(case: &mut Case) -> Checked {
    let author = case.agent("clockmaker")?;
    let mut last = 0;
    for _ in 0..4 {
        let unit = author.record(finding(case.words("The bell was rung")))?;
        ensure(unit.epoch > last, format!("epoch {} follows {last}", unit.epoch))?;
        last = unit.epoch;
    }
    Ok(())
}

/// Records at an epoch this far from the Field's own. Returns the epochs that were sent and answered.
fn record_at(case: &mut Case, ahead: u64) -> Checked<(u64, u64)> {
    let author = case.agent("clockmaker")?;
    let now = author.record(finding(case.words("The bell was rung")))?.epoch;
    let payload = finding(case.words("The bell was mended"));
    let message = with(author.message("RECORD", payload), json!({"epoch": now + ahead}));
    let answer = author.deliver("/v1/record", &message)?.done("RECORD")?;
    Ok((now + ahead, answer.integer("/epoch")?))
}

fn l1_clock_04_a_message_ahead_pulls_the_clock_along(case: &mut Case) -> Checked {
    let (sent, got) = record_at(case, 50)?;
    ensure(got > sent, format!("sent at {sent}, answered {got}"))
}

fn l1_clock_05_a_message_behind_does_not_turn_the_clock_back(case: &mut Case) -> Checked {
    let author = case.agent("clockmaker")?;
    let now = author.record(finding(case.words("The bell was rung")))?.epoch;
    let payload = finding(case.words("The bell was mended"));
    let message = with(author.message("RECORD", payload), json!({"epoch": 0}));
    let later = author.deliver("/v1/record", &message)?.done("RECORD")?.integer("/epoch")?;
    ensure(later > now, format!("epoch {later} follows {now}"))
}

fn l1_clock_06_a_message_one_ahead_is_answered_with_its_successor(case: &mut Case) -> Checked {
    // Far enough ahead that no other traffic overtakes the message.
    let (sent, got) = record_at(case, 1_000)?;
    same("epoch", got, sent + 1)
}

fn l1_clock_07_attune_ticks_too(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("clockmaker")?, case.agent("analyst")?);
    let unit = author.record(finding(case.words("The bell was rung")))?;
    let told = reader.attune(json!({"max_units": 1}))?.integer("/epoch")?;
    ensure(told > unit.epoch, format!("ATTUNE says {told} after a unit at {}", unit.epoch))?;
    let next = author.record(finding(case.words("The bell was mended")))?;
    ensure(next.epoch >= told, format!("a unit at {} after ATTUNE said {told}", next.epoch))
}

fn l1_clock_08_refuses_an_epoch_beyond_two_to_the_53(case: &mut Case) -> Checked {
    let author = case.agent("clockmaker")?;
    let payload = finding(case.words("The bell was rung"));
    let hostile = with(author.message("RECORD", payload), json!({"epoch": 1_u64 << 53}));
    author.deliver("/v1/record", &hostile)?.is_refused("RECORD at epoch 2^53")?;
    author.record(finding(case.words("The bell was mended"))).map(drop)
}

fn l2_clock_09_conflict_and_record_share_the_epoch(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let story = dispute.author_a.replay("conflict", &dispute.id, "full_trace")?;
    let created = story.list("/timeline")?.iter().find(|e| e["event_type"] == "CONFLICT_CREATED");
    same("epoch", created.cloned().unwrap_or_default().integer("/epoch")?, dispute.newer.epoch)
}
