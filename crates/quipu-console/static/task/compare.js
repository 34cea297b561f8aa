// A replay beside its source: event by event, with the first one that differs, the answers that were changed, and what
// came of both.

import { get } from "../api.js";
import { diff } from "../diff.js";
import { h, replace } from "../dom.js";
import { marked } from "../marked.js";
import { href } from "../router.js";
import { facts, hash, panel, statusTag } from "../widgets.js";
import { crumbs, eventNote } from "./detail.js";
import { ended, exported, path, pretty, readEvents, readTask, valuesByKey } from "./read.js";

/** @param {HTMLElement} root @param {HTMLElement} actions @param {string} id of the replay @param {AbortSignal} signal */
export async function compare(root, actions, id, signal) {
  const begun = await readTask(id);
  if (!begun.parent_task_id) return void replace(root, crumbs(begun), h("p", { class: "note" }, "This Task is no replay; there is nothing to compare it with."));
  replace(root, crumbs(begun), h("p", { class: "note", role: "status" }, begun.assigned_agent_id || begun.status !== "SUBMITTED" ? "The replay is running…"
    : "The replay waits for a worker to claim it; this page goes on when it is done."));
  const replay = await ended(id, signal);
  if (signal.aborted) return;
  const source = replay.parent_task_id;
  const [found, before, after, first, second] = await Promise.all([
    get(`${path(id)}/divergence`), readEvents(source), readEvents(id), exported(source), exported(id)]);
  if (signal.aborted) return;
  replace(actions, h("a", { class: "button primary", href: href("tasks", [id, "receipt"]) }, "Check its receipt"), h("a", { class: "button", href: href("tasks", [source, "replay"]) }, "Another replay…"));
  replace(root, crumbs(replay), verdict(found, replay, before), h("div", { class: "grid two" }, changes(found, valuesByKey(first), valuesByKey(second)), outputs(found)), panel("Event by event", sideBySide(found, before, after)));
}

/** The event at which they part, in words. @param {any} at @param {any[]} before the source's events */
function what(at, before) {
  const index = before.findIndex((one) => one.id === at.source?.event_id);
  const key = before[index]?.payload?.key;
  const name = key ? `the answer ${key}` : at.source?.event ?? at.replay?.event ?? "";
  return index < 0 ? name : `event ${index + 1}, ${name}`;
}

/** @param {any} found @param {any} replay @param {any[]} before */
function verdict(found, replay, before) {
  const at = found.first_difference;
  const text = !found.diverged ? "The replay is the same as its source, event by event."
    : at ? `They part at ${what(at, before)}.` : "They differ in what came of them.";
  const failed = replay.failure && h("p", { class: "note bad" }, replay.failure.message);
  return h("section", { class: found.diverged ? "panel verdict diverged" : "panel verdict same", role: "status" },
    h("h2", null, found.diverged ? "Diverged" : "Identical"), h("p", null, text), failed, h("p", null, statusTag(replay.status)));
}

/** @param {any} found @param {Map<string, unknown>} before what was recorded @param {Map<string, unknown>} after what the replay was given */
function changes(found, before, after) {
  const value = (/** @type {Map<string, unknown>} */ values, /** @type {string} */ key, /** @type {string | null} */ digest) =>
    values.has(key) ? h("pre", { class: "value" }, pretty(values.get(key))) : digest ? hash(digest, 24) : "nothing";
  const one = (/** @type {any} */ change) => h("div", null, h("h3", { class: "mono" }, change.key, change.overridden ? [" ", h("span", { class: "status status-contested" }, "overridden")] : null),
    facts([["Source", value(before, change.key, change.source_sha256)], ["Replay", value(after, change.key, change.replay_sha256)]]));
  const drift = found.request_drift.map((/** @type {any} */ entry) => h("li", null, h("span", { class: "mono" }, entry.key), " was asked otherwise"));
  return panel("Changed answers", found.dependencies.length > 0 ? found.dependencies.map(one) : h("p", { class: "note" }, "None."), drift.length > 0 && h("ul", { class: "linked" }, drift));
}

/** @param {any} found */
function outputs({ output }) {
  const [left, right] = [pretty(output.source ?? null), pretty(output.replay ?? null)];
  const pieces = diff(left, right);
  const text = (/** @type {import("../diff.js").Piece[]} */ all) => h("pre", { class: "value" }, marked(all));
  const unknown = output.replay === null || output.replay === undefined;
  return panel("What came of it", output.equal ? h("p", null, "The same: ", h("pre", { class: "value" }, left)) : h("div", { class: "columns two" },
    h("div", null, h("h3", null, "Source"), unknown ? h("pre", { class: "value" }, left) : text(pieces.left)),
    h("div", null, h("h3", null, "Replay"), unknown ? h("p", { class: "note" }, "Nothing ran, so it is not known. Replay it with a worker to find out what the agent would have made of it.") : text(pieces.right))));
}

/** @param {any} found @param {any[]} before @param {any[]} after */
function sideBySide(found, before, after) {
  const repeats = new Map(after.filter((event) => event.replay?.original_event_id).map((event) => [event.replay.original_event_id, event]));
  const own = after.filter((event) => !event.replayed);
  const first = found.first_difference?.source?.event_id;
  const parted = before.findIndex((event) => event.id === first);
  const rows = before.map((event, index) => {
    const again = repeats.get(event.id);
    const mark = event.id === first ? " first-difference" : parted >= 0 && index > parted ? " behind" : "";
    return h("tr", { class: `pair${mark}` },
      h("td", { class: "number muted" }, String(index + 1)),
      h("td", null, h("span", { class: "mono" }, event.event), eventNote(event)),
      h("td", null, again ? [h("span", { class: "mono" }, again.event), eventNote(again)] : h("span", { class: "muted" }, event.event === "receipt.issued" ? "a receipt of its own" : "–")),
      h("td", null, event.id === first ? h("strong", { class: "here" }, "First divergence") : null));
  });
  const head = ["Event", "Source", "Replay", "Mark"].map((name) => h("th", { scope: "col" }, name));
  return h("div", { class: "table-scroll" }, h("table", { class: "pairs" }, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
    h("p", { class: "note" }, `Of its own the replay has ${own.map((event) => event.event).join(", ")}.`));
}
