// One Task: what it was asked, what came of it, its events as they happen, what was recorded under keys, checkpoints, and
// its replays.

import { may } from "../api.js";
import { h, replace } from "../dom.js";
import { follow } from "../following.js";
import { things } from "../format.js";
import { inputText } from "../replay/target.js";
import { href } from "../router.js";
import { agentLink, facts, hash, moment, panel, statusTag, unitLink } from "../widgets.js";
import { hasEnded, outcomeOf, pretty, readEvents, readTask, recording, replaysOf, WORK } from "./read.js";

/** @param {HTMLElement} root @param {HTMLElement} actions @param {string} id @param {AbortSignal} signal */
export async function taskDetail(root, actions, id, signal) {
  let task = await readTask(id);
  const events = await readEvents(id);
  if (signal.aborted) return;
  const [facts_, log, rest] = [h("div"), h("div"), h("div", { class: "grid two" })];
  replace(root, crumbs(task), h("div", { class: "task-grid" }, h("div", { class: "detail" }, facts_, rest), log));
  const draw = async () => {
    replace(actions, buttons(task));
    replace(log, panel(`Events, ${things(events.length, "event")}`, eventList(events)));
    const [outcome, found, replays] = await Promise.all([outcomeOf(id), recording(task, events), replaysOf(task)]);
    if (signal.aborted) return;
    replace(facts_, panel(inputText(task) || "Task", summary(task, outcome)));
    replace(rest, answers(found), checkpoints(found), replayList(replays));
  };
  await draw();
  follow(async () => {
    const news = await readEvents(id, events.at(-1)?.id);
    if (signal.aborted || news.length === 0) return;
    events.push(...news);
    task = await readTask(id);
    await draw();
  }, signal);
}

/** @param {any} task */
export function crumbs(task) {
  const source = task.parent_task_id;
  return h("p", { class: "crumbs" }, h("a", { href: href("tasks") }, "Tasks"), " / ", source ? [h("a", { href: href("tasks", [source]) }, "its source"), " / "] : null,
    h("a", { href: href("tasks", [task.id]), class: "mono" }, task.id));
}

/** @param {any} task */
function buttons(task) {
  const link = (/** @type {string} */ text, /** @type {string} */ part, primary = false) => h("a", { class: primary ? "button primary" : "button", href: href("tasks", [task.id, part]) }, text);
  return [
    task.parent_task_id ? link("Compare with its source", "compare", true) : null,
    hasEnded(task) && may(WORK) ? link("Replay…", "replay", !task.parent_task_id) : null,
    task.receipt_id ? link("Receipt", "receipt") : null,
    h("a", { class: "button", href: href("replay", ["task", task.id]) }, "Timeline"),
  ];
}

/** @param {any} task @param {any} outcome */
function summary(task, outcome) {
  const output = outcome?.metadata?.output;
  return facts([
    ["State", statusTag(task.status)],
    ["Outcome", outcome ? h("bdi", null, outcome.summary) : hasEnded(task) ? "none" : "not yet"],
    ["Output", output === undefined ? null : h("pre", { class: "value" }, pretty(output))],
    ["Failure", task.failure ? [h("strong", null, task.failure.code), ": ", h("bdi", null, task.failure.message)] : null],
    ["Agent", task.assigned_agent_id ? agentLink(task.assigned_agent_id) : "nobody yet"],
    ["Submitted", [moment(task.created_at), " by ", agentLink(task.created_by)]],
    ["Ended", task.completed_at ? moment(task.completed_at) : null],
    ["Session", task.session_id],
    ["Replay of", task.parent_task_id ? h("a", { href: href("tasks", [task.parent_task_id]), class: "mono" }, task.parent_task_id) : null],
  ]);
}

/** @param {any[]} events */
export function eventList(events) {
  return h("ol", { class: "events" }, events.map((event) => h("li", { class: event.replayed ? "replayed" : "" }, h("span", { class: "mono" }, event.event), eventNote(event),
    h("span", { class: "note nowrap" }, moment(event.created_at)))));
}

/** What an event says, in one line. @param {any} event */
export function eventNote(event) {
  const { status: _, redacted, ...rest } = event.payload ?? {};
  const text = rest.key ?? rest.label ?? rest.source_task_id ?? Object.values(rest).find((value) => typeof value === "string") ?? "";
  return h("span", { class: "event-note" }, /^mem-[0-9a-z]{26}$/.test(String(text)) ? unitLink(String(text)) : h("bdi", null, String(text)), redacted ? h("small", { class: "muted" }, ` (${redacted})`) : null,
    event.replay?.override_key ? h("span", { class: "status status-contested" }, "overridden") : null);
}

/** @param {import("./read.js").Recording} found */
function answers({ answers: all }) {
  const list = all.map((one) => h("details", { class: "answer-key" }, h("summary", null, h("span", { class: "mono" }, one.key), h("span", { class: "note" }, ` ${one.kind}`)),
    one.known ? h("pre", { class: "value" }, pretty(one.value)) : h("p", { class: "note" }, one.artifact_id ? `in Artifact ${one.artifact_id}` : "This key may not see the value."),
    one.sha256 ? h("p", { class: "note" }, hash(one.sha256, 24)) : null));
  return panel("Answers by key", list.length > 0 ? list : h("p", { class: "note" }, "Nothing was recorded under a key. What a worker gets from outside belongs under one: llm:…, mcp:…, time:…"));
}

/** @param {import("./read.js").Recording} found */
function checkpoints({ checkpoints: all }) {
  return panel("Checkpoints", all.length > 0 ? h("ul", { class: "linked" }, all.map((one) => h("li", null, h("strong", null, one.label), " ", hash(one.id, 18))))
    : h("p", { class: "note" }, "None. A worker sets one where a replay may begin."));
}

/** @param {any[]} replays */
function replayList(replays) {
  return panel("Replays", replays.length > 0 ? h("ul", { class: "linked" }, replays.map((one) => h("li", null, statusTag(one.status), " ",
    h("a", { class: "mono", href: href("tasks", [one.id, "compare"]) }, one.id), " ", h("span", { class: "note" }, moment(one.created_at)))))
    : h("p", { class: "note" }, "None yet."));
}
