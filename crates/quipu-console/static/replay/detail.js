// One event of a timeline in full: what it says, what it rests on, what came of it; and of an ATTUNE, what was shown.

import { h, replace } from "../dom.js";
import { count, plain } from "../format.js";
import { href } from "../router.js";
import { agentLink, facts, moment, panel, typeTag, unitLink } from "../widgets.js";
import { unitOf } from "./target.js";

/** @typedef {import("../lanes.js").Entry} Entry */
/** @typedef {import("../lanes.js").Layout} Layout */

/** A text in which each unit's id is a link to it. @param {string} text */
export const withLinks = (text) => text.split(/(mem-[0-9a-z]{26})/).map((part, index) => (index % 2 ? unitLink(part) : part));

const SHOWN_MOST = 20;
const SHOWN_CHARS = 600;

/**
 * @param {Layout} plan
 * @param {number} index
 * @param {(index: number) => void} choose
 */
export function detail(plan, index, choose) {
  const entry = plan.spots[index]?.entry;
  if (!entry) return null;
  const link = (/** @type {number} */ other, /** @type {string} */ word) => h("li", null,
    h("button", { class: "link", type: "button", onclick: () => choose(other) }, `${plan.spots[other]?.entry.event_type ?? ""}, epoch ${plan.spots[other]?.entry.epoch ?? ""}`),
    h("span", { class: "muted" }, ` ${word}`), h("p", { class: "clip small", dir: "auto" }, plan.spots[other]?.entry.description ?? ""));
  const before = plan.arcs.filter((arc) => arc.to === index).map((arc) => link(arc.from, arc.kind === "shown" ? "was shown" : ""));
  const after = plan.arcs.filter((arc) => arc.from === index).map((arc) => link(arc.to, ""));
  return panel(`${entry.event_type.replaceAll("_", " ")} at epoch ${count(entry.epoch)}`,
    h("p", { class: "wrapped", dir: "auto" }, withLinks(entry.description)),
    facts([
      ["By", entry.agent_id === "system" ? "the Field itself" : agentLink(entry.agent_id)],
      ["When", entry.timestamp ? moment(entry.timestamp) : null],
      ["Unit", entry.memory_unit_id ? unitLink(entry.memory_unit_id) : null],
      ["Task", entry.task_id ? h("a", { href: href("tasks", [entry.task_id]) }, entry.task_id) : null],
    ]),
    (entry.links?.shown?.length ?? 0) > 0 && [h("h3", null, "What was shown, best first"), shownList(entry, new Set())],
    before.length > 0 && [h("h3", null, "It rests on"), h("ul", { class: "linked" }, before)],
    after.length > 0 && [h("h3", null, "What came of it"), h("ul", { class: "linked" }, after)]);
}

/** The units that an ATTUNE returned, with their texts. @param {Entry} entry @param {Set<string>} named ids that are named as grounds */
function shownList(entry, named) {
  const shown = (entry.links?.shown ?? []).slice(0, SHOWN_MOST);
  const more = (entry.links?.shown?.length ?? 0) - shown.length;
  return h("ol", { class: "shown" }, shown.map((one) => {
    const text = h("span", { class: "shown-text" }, "…");
    unitOf(one.memory_unit_id).then((unit) => replace(text, unit ? [typeTag(unit.type), " ", h("bdi", null, unit.content.slice(0, SHOWN_CHARS))] : "(not to be seen any more)"));
    return h("li", null, h("strong", { class: "score" }, one.relevance_score.toFixed(2)), text,
      named.has(one.memory_unit_id) ? h("span", { class: "status status-active", title: "The unit names it in a relation" }, "named") : null, unitLink(one.memory_unit_id));
  }), more > 0 && h("li", { class: "muted" }, `and ${count(more)} more`));
}

/**
 * What the author of a unit had been shown before recording it.
 * @param {Layout} plan
 * @param {string} id
 */
export function groundsOf(plan, id) {
  const own = plan.spots.find((spot) => spot.entry.event_type === "RECORD" && spot.entry.memory_unit_id === id);
  if (!own) return null;
  const author = own.entry.agent_id;
  const looks = plan.arcs.filter((arc) => arc.to === own.index).map((arc) => plan.spots[arc.from]?.entry)
    .filter((entry) => entry?.event_type === "ATTUNE");
  const named = new Set(own.entry.links?.rests_on ?? []);
  const grounds = [...named].filter((one) => one.startsWith("mem-"));
  const shown = looks.flatMap((entry) => (entry ? [
    h("p", { class: "note" }, `At epoch ${count(entry.epoch)}, ${asked(entry.description)}`), shownList(entry, named)] : []));
  return panel(`What ${author} had been shown before it`,
    shown.length > 0 ? shown : h("p", { class: "note" },
      "No ATTUNE of its author was traced before it, so this is not known. Run the server with --trace-attunes, or give the session the policy trace_attunes, to have it from now on."),
    grounds.length > 0 && h("p", { class: "note" }, "It names as its grounds: ", grounds.flatMap((one) => [unitLink(one), " "])));
}

/** What an ATTUNE was asked, without the list of what was shown. @param {string} description */
const asked = (description) => plain(description.replace(/: shown .*$/s, "").replace(/^Attuned/, "attuned"));
