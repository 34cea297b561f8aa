// One real call of each tool, in an order in which each finds what it needs.

import assert from "node:assert/strict";

/// Calls all of them by `call(tool, arguments)`.
export async function everyTool(call, finding) {
  for (const id of ["ana", "sam"]) {
    assert.equal((await call("register", { id, role: "analyst" })).status, "registered");
  }
  const first = await call("record", { agent_id: "ana", ...finding("The market grows by 23% a year.") });
  const relations = [{ type: "contradicts", target_id: first.memory_unit_id }];
  const confidence = { score: 0.4, reasoning: "one report" };
  const second = await call("record", {
    agent_id: "sam",
    ...finding("The market grows by 14% a year.", { relations, confidence }),
  });
  const [conflict_id] = second.conflicts_detected;
  const attuned = await call("attune", { agent_id: "sam", scope: { role: "analyst", max_units: 5 } });
  assert.equal(attuned.conflicts[0].id, conflict_id);
  const detected = await call("detect", { agent_id: "ana", mode: "list" });
  assert.equal(detected.conflicts[0].id, conflict_id);
  const resolution = { rationale: "The better founded one." };
  const merged = await call("merge", { agent_id: "ana", conflict_id, strategy: "confidence_weighted", resolution });
  assert.equal(merged.conflict.resolution.winner_id, first.memory_unit_id);
  const replayed = await call("replay", { agent_id: "ana", target_type: "conflict", target_id: conflict_id });
  assert.ok(replayed.timeline.length > 2);
  await work(call);
  const compacted = await call("compact", { agent_id: "ana", strategy: "archive", filter: { status: ["superseded"] } });
  assert.equal(compacted.units_affected, 1);
  assert.equal((await call("deregister", { agent_id: "sam" })).status, "ok");
}

async function work(call) {
  const goal = { goal: "Size Europe" };
  const opened = await call("session", { agent_id: "ana", action: "create", session_id: "q1", session: goal });
  assert.deepEqual(opened.session.members, ["ana"]);
  const task = { id: "task-sizing", title: "Size the market", intent: { purpose: "to plan the year" } };
  const made = await call("coordinate", { agent_id: "ana", action: "create", task, assignee: "ana" });
  assert.equal(made.task.status, "assigned");
  const offer = { action: "offer", task_id: task.id, to_agent: "sam", reason: "My shift ends" };
  const offered = await call("handoff", { agent_id: "ana", ...offer });
  const taken = await call("handoff", { agent_id: "sam", action: "accept", handoff_id: offered.handoff.id });
  assert.equal(taken.status, "accepted");
}
