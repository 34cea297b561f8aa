// What a commit did, in a line. Headers hold no free text, so the line is made of kinds and ids.

import { h, said } from "./dom.js";
import { plain, things } from "./format.js";
import { href } from "./router.js";
import { agentLink, unitLink } from "./widgets.js";

/** @typedef {import("./live.js").Commit} Commit */
/** @typedef {import("./dom.js").Child} Child */

/** @param {Commit} commit @returns {HTMLElement} */
export function tellCommit(commit) {
  const events = commit.header.events.map((/** @type {any} */ sealed) => sealed.event);
  const told = events.slice(0, 3).flatMap((/** @type {any} */ event, /** @type {number} */ index) => [index > 0 ? ", " : " ", ...tellEvent(event)]);
  const more = events.length > 3 ? ` and ${events.length - 3} more` : "";
  const actor = commit.header.actor;
  return h("span", null, actor ? agentLink(actor) : h("span", { class: "muted" }, "the Field"), ...told, more);
}

/** @param {any} event @returns {Child[]} */
function tellEvent(event) {
  switch (event.kind) {
    case "agent.registered": return [`joined as ${event.role}`];
    case "agent.deregistered": return ["left"];
    case "unit.recorded": return [`recorded ${article(event.type)} ${plain(event.type)} `, unitLink(event.unit)];
    case "unit.status_changed": return [`${plain(event.to ?? event.status ?? "changed")}: `, event.unit ? unitLink(event.unit) : ""];
    case "conflict.detected": return [h("a", { href: href("conflicts", [event.conflict]) }, "a conflict"), " was found"];
    case "conflict.resolved": return ["settled ", h("a", { href: href("conflicts", [event.conflict]) }, "a conflict")];
    case "units.archived": return [`archived ${things(event.units?.length ?? 0, "unit")}`];
    case "units.purged": return [`purged ${things(event.units?.length ?? 0, "unit")}`];
    default: return [h("code", { class: "kind" }, event.kind), subject(event)];
  }
}

/** What an event is about. @param {any} event @returns {Child} */
function subject(event) {
  if (event.unit) return unitLink(event.unit);
  const task = event.task ?? event.handoff?.task;
  if (typeof task === "string") return h("a", { href: href("tasks", [task]) }, said(task));
  for (const name of ["session", "agent", "subscription", "id"]) if (typeof event[name] === "string") return said(event[name]);
  return "";
}

/** @param {string} word */
const article = (word) => (/^[aeiou]/.test(word) ? "an" : "a");
