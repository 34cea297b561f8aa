//! HANDOFF: section 8.2 of the catalogue. The protocol demands it from Level 2 on without a contract, so everything
//! but its presence is our reading.

use serde_json::{Value, json};

use crate::{
    actors::{
        agent::Agent,
        case::Case,
        check::{Checked, ensure, same, wrong},
        json::{JsonAccess, with},
        unit::{committed, finding},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l2_handoff_01_moves_work_to_another_agent,
        "COO-2 L2-8",
        "An offer of a task with its context is taken."
    ),
    rule!(
        Reading,
        l2_handoff_02_an_offer_is_answered_with_the_package,
        "L2-8",
        "The handoff has giver, receiver, task, context and status."
    ),
    rule!(
        Must,
        l2_handoff_03_the_context_is_structured,
        "COO-2 L2-8",
        "The given context comes back in its parts."
    ),
    rule!(
        Reading,
        l2_handoff_04_the_field_completes_the_package,
        "L2-8",
        "Units of the task and open questions are added."
    ),
    rule!(
        Reading,
        l2_handoff_05_open_conflicts_are_in_the_package,
        "L2-8",
        "Unresolved conflicts of the task's units are added."
    ),
    rule!(
        Reading,
        l2_handoff_06_the_receiver_accepts,
        "COO-2",
        "offered to accepted, by the receiver."
    ),
    rule!(
        Reading,
        l2_handoff_07_the_receiver_rejects,
        "COO-2",
        "offered to rejected, by the receiver."
    ),
    rule!(Reading, l2_handoff_08_the_giver_cancels, "COO-2", "offered to cancelled, by the giver."),
    rule!(
        Reading,
        l2_handoff_09_only_the_receiver_answers,
        "COO-2",
        "Nobody else accepts or rejects an offer."
    ),
    rule!(
        Reading,
        l2_handoff_10_an_answered_offer_is_closed,
        "COO-7",
        "accepted, rejected and cancelled are terminal: INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l2_handoff_11_an_unknown_handoff_is_not_found,
        "COO-7",
        "An unknown id answers UNIT_NOT_FOUND."
    ),
    rule!(Reading, l2_handoff_12_lists_offers, "COO-2", "list has the offer for both sides."),
    rule!(
        Reading,
        l2_handoff_13_an_unknown_receiver_is_refused,
        "COO-2",
        "An offer to nobody is refused."
    ),
    rule!(
        Reading,
        l3_handoff_14_accepting_reassigns_the_task,
        "COO-5",
        "The receiver owns the task after accepting."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Reading,
        l2_handoff_15_refuses_bad_requests,
        "COO-2",
        "Unknown actions and missing keys are refused."
    ),
    rule!(Must, l2_handoff_16_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
];

/// An offer between two fresh agents.
struct Offer {
    giver: Agent,
    taker: Agent,
    id: String,
    handoff: Value,
}

fn offer_payload(task: &str, to: &str) -> Value {
    json!({
        "action": "offer", "task_id": task, "to_agent": to, "reason": "My shift ends",
        "context": {
            "summary": "Half of it is done", "open_questions": ["Who has the key?"],
            "decisions": ["Use the back door"], "assumptions": ["It is raining"],
            "next_steps": ["Fetch the key"],
        },
    })
}

fn offer_of(case: &mut Case, task: &str) -> Checked<Offer> {
    let (giver, taker) = (case.agent("worker")?, case.agent("worker")?);
    offer_between(giver, taker, task)
}

fn offer_between(giver: Agent, taker: Agent, task: &str) -> Checked<Offer> {
    let answer = giver.ok("HANDOFF", offer_payload(task, &taker.id))?;
    same("status", answer.text("/status")?, "offered")?;
    let handoff = answer.at("/handoff")?.clone();
    let id = handoff.get("id").or_else(|| handoff.get("handoff_id")).and_then(Value::as_str);
    let Some(id) = id.map(str::to_owned) else { return wrong("the handoff has no id") };
    Ok(Offer { giver, taker, id, handoff })
}

fn offer(case: &mut Case) -> Checked<Offer> {
    let task = format!("task-{}", case.token);
    offer_of(case, &task)
}

impl Offer {
    fn act(&self, action: &str) -> Value {
        json!({"action": action, "handoff_id": self.id, "reason": "It had to be"})
    }
}

fn l2_handoff_01_moves_work_to_another_agent(case: &mut Case) -> Checked {
    let offer = offer(case)?;
    offer.taker.ok("HANDOFF", offer.act("accept")).map(drop)
}

fn l2_handoff_02_an_offer_is_answered_with_the_package(case: &mut Case) -> Checked {
    let offer = offer(case)?;
    same("task_id", offer.handoff.text("/task_id")?, format!("task-{}", case.token).as_str())?;
    same("to_agent", offer.handoff.text("/to_agent")?, offer.taker.id.as_str())?;
    same("from_agent", offer.handoff.text("/from_agent")?, offer.giver.id.as_str())?;
    same("status", offer.handoff.text("/status")?, "offered")?;
    same("reason", offer.handoff.text("/reason")?, "My shift ends")
}

fn l2_handoff_03_the_context_is_structured(case: &mut Case) -> Checked {
    let offer = offer(case)?;
    let context = offer.handoff.at("/context")?;
    same("summary", context.text("/summary")?, "Half of it is done")?;
    for (key, text) in [
        ("/decisions", "Use the back door"),
        ("/assumptions", "It is raining"),
        ("/next_steps", "Fetch the key"),
        ("/open_questions", "Who has the key?"),
    ] {
        ensure(
            context.texts(key)?.iter().any(|entry| entry == text),
            format!("{key} lacks {text:?}"),
        )?;
    }
    Ok(())
}

fn l2_handoff_04_the_field_completes_the_package(case: &mut Case) -> Checked {
    let task = format!("task-{}", case.token);
    let (giver, taker) = (case.agent("worker")?, case.agent("worker")?);
    let intent = json!({"intent": {"purpose": "Serve the task", "task_id": task}});
    let unit = giver.record(with(finding(case.words("The lock is rusty")), intent.clone()))?;
    let asked = committed("question", case.words("Where is the oil?"));
    let asked = giver.record(with(asked, intent))?;
    let offer = offer_between(giver, taker, &task)?;
    let ids = offer.handoff.texts("/context/memory_unit_ids")?;
    ensure(ids.contains(&unit.id), format!("memory_unit_ids is {ids:?}"))?;
    let questions = offer.handoff.at("/context/open_questions")?.to_string();
    let named = questions.contains(&asked.id) || questions.contains(&asked.content);
    ensure(named, format!("open_questions is {questions}"))
}

fn l2_handoff_05_open_conflicts_are_in_the_package(case: &mut Case) -> Checked {
    let task = format!("task-{}", case.token);
    let (giver, taker) = (case.agent("worker")?, case.agent("worker")?);
    let intent = json!({"intent": {"purpose": "Serve the task", "task_id": task}});
    let dispute = case.dispute_between(giver.clone(), taker.clone(), intent.clone(), intent)?;
    let offer = offer_between(giver, taker, &task)?;
    let ids = offer.handoff.texts("/context/conflict_ids")?;
    ensure(ids.contains(&dispute.id), format!("conflict_ids is {ids:?}"))
}

fn answered(case: &mut Case, action: &str, by_giver: bool, status: &str) -> Checked<Offer> {
    let offer = offer(case)?;
    let agent = if by_giver { &offer.giver } else { &offer.taker };
    let answer = agent.ok("HANDOFF", offer.act(action))?;
    same("status", answer.text("/status")?, status)?;
    same("handoff.status", answer.text("/handoff/status")?, status)?;
    Ok(offer)
}

fn l2_handoff_06_the_receiver_accepts(case: &mut Case) -> Checked {
    answered(case, "accept", false, "accepted").map(drop)
}

fn l2_handoff_07_the_receiver_rejects(case: &mut Case) -> Checked {
    answered(case, "reject", false, "rejected").map(drop)
}

fn l2_handoff_08_the_giver_cancels(case: &mut Case) -> Checked {
    answered(case, "cancel", true, "cancelled").map(drop)
}

fn l2_handoff_09_only_the_receiver_answers(case: &mut Case) -> Checked {
    let offer = offer(case)?;
    let other = case.agent_with(json!({"role": "worker"}))?;
    for action in ["accept", "reject"] {
        other.refused_somehow("HANDOFF", offer.act(action))?;
        offer.giver.refused_somehow("HANDOFF", offer.act(action))?;
    }
    offer.taker.ok("HANDOFF", offer.act("accept")).map(drop)
}

fn l2_handoff_10_an_answered_offer_is_closed(case: &mut Case) -> Checked {
    for (action, by_giver, status) in [
        ("accept", false, "accepted"),
        ("reject", false, "rejected"),
        ("cancel", true, "cancelled"),
    ] {
        let offer = answered(case, action, by_giver, status)?;
        for again in ["accept", "reject"] {
            offer.taker.refused("HANDOFF", offer.act(again), "INVALID_TRANSITION")?;
        }
        offer.giver.refused("HANDOFF", offer.act("cancel"), "INVALID_TRANSITION")?;
    }
    Ok(())
}

fn l2_handoff_11_an_unknown_handoff_is_not_found(case: &mut Case) -> Checked {
    let agent = case.agent("worker")?;
    let payload = json!({"action": "accept", "handoff_id": format!("handoff-{}", case.token)});
    agent.refused("HANDOFF", payload, "UNIT_NOT_FOUND").map(drop)
}

fn l2_handoff_12_lists_offers(case: &mut Case) -> Checked {
    let offer = offer(case)?;
    for agent in [&offer.giver, &offer.taker] {
        let answer = agent.ok("HANDOFF", json!({"action": "list"}))?;
        let ours = |entry: &Value| {
            entry["id"] == offer.id.as_str() || entry["handoff_id"] == offer.id.as_str()
        };
        ensure(
            answer.list("/handoffs")?.iter().any(ours),
            format!("{} does not see it", agent.id),
        )?;
    }
    Ok(())
}

fn l2_handoff_13_an_unknown_receiver_is_refused(case: &mut Case) -> Checked {
    let (giver, nobody) = (case.agent("worker")?, case.fresh_id());
    let task = format!("task-{}", case.token);
    giver.refused_somehow("HANDOFF", offer_payload(&task, &nobody)).map(drop)
}

fn l3_handoff_14_accepting_reassigns_the_task(case: &mut Case) -> Checked {
    let task = case.task_in("in_progress")?;
    let taker = case.agent("worker")?;
    let offer = offer_between(task.worker.clone(), taker, &task.id)?;
    offer.taker.ok("HANDOFF", offer.act("accept"))?;
    same("assigned_to", task.get()?.text("/assigned_to")?, offer.taker.id.as_str())
}

fn l2_handoff_15_refuses_bad_requests(case: &mut Case) -> Checked {
    let (giver, taker) = (case.agent("worker")?, case.agent("worker")?);
    let task = format!("task-{}", case.token);
    let good = offer_payload(&task, &taker.id);
    giver.refused_somehow("HANDOFF", with(good.clone(), json!({"action": "throw"})))?;
    giver.refused_somehow("HANDOFF", crate::actors::json::without(good.clone(), "to_agent"))?;
    giver.refused_somehow("HANDOFF", crate::actors::json::without(good, "task_id"))?;
    giver.refused_somehow("HANDOFF", json!({"action": "accept"})).map(drop)
}

fn l2_handoff_16_refuses_a_stranger(case: &mut Case) -> Checked {
    let taker = case.agent("worker")?;
    let task = format!("task-{}", case.token);
    let payload = offer_payload(&task, &taker.id);
    case.stranger().refused("HANDOFF", payload, "AGENT_NOT_REGISTERED").map(drop)
}
