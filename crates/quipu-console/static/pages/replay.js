// Replay: how something came about, as a lane for each agent.

import { h, replace } from "../dom.js";
import { count, things } from "../format.js";
import { detail, groundsOf, withLinks } from "../replay/detail.js";
import { Drawing } from "../replay/drawing.js";
import { KINDS, offers, tell } from "../replay/target.js";
import { go, here, href, setQuery } from "../router.js";
import { curl, empty, failure, panel } from "../widgets.js";

/** @typedef {import("../replay/target.js").Story} Story */

/** @type {import("../app.js").Page} */
export const page = {
  title: "Replay",
  lead: "How something came about: who did what, what led to what, and what the author of a decision had in front of it.",
  async show({ root, route, signal }) {
    const [kind = "decision", id = ""] = route.args;
    const body = h("div", { class: "page" });
    replace(root, form(kind, id), body);
    if (!id) return drawOffers(body, kind, signal);
    replace(body, h("p", { class: "note" }, "Reading the log…"));
    try {
      const story = await tell(kind, id, route.query.get("depth") ?? "detailed");
      if (!signal.aborted) drawStory(body, story, kind, id);
    } catch (error) {
      if (!signal.aborted) replace(body, failure(error));
    }
  },
};

/** @param {string} kind @param {string} id */
function form(kind, id) {
  const type = h("select", { name: "kind", "aria-label": "What to replay" }, KINDS.map(([value, name]) => h("option", { value, selected: value === kind }, name)));
  const which = h("input", { name: "id", type: "search", value: id, placeholder: "its id, or choose one below", "aria-label": "Id" });
  type.addEventListener("change", () => go("replay", [type.value]));
  return h("form", {
    class: "filters", role: "search",
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      go("replay", which.value.trim() ? [type.value, which.value.trim()] : [type.value]);
    },
  }, type, which, h("button", { class: "primary", type: "submit" }, "Replay"));
}

/** @param {HTMLElement} body @param {string} kind @param {AbortSignal} signal */
async function drawOffers(body, kind, signal) {
  const found = await offers(kind);
  if (signal.aborted) return;
  const name = KINDS.find(([value]) => value === kind)?.[1] ?? kind;
  if (found.length === 0) {
    const command = kind === "task" ? curl("/v1/coordinate", { action: "create", task: { title: "Size the market", intent: { purpose: "Plan the year" } } }, "ana")
      : curl("/v1/record", { type: "decision", content: "We enter the market.", intent: { purpose: "Plan the year" }, confidence: { score: 0.7, reasoning: "It grows" } }, "ana");
    replace(body, empty(`No ${name.toLowerCase()} yet`, "As soon as there is one, this page tells how it came about.", command));
    return;
  }
  replace(body, panel(`${name}s, the newest first`, h("ul", { class: "offers" }, found.map((offer) => h("li", null,
    h("a", { href: href("replay", [kind, offer.id]) }, h("bdi", null, offer.text)), h("span", { class: "note" }, offer.note))))));
}

/** @param {HTMLElement} body @param {Story} story @param {string} kind @param {string} id */
function drawStory(body, story, kind, id) {
  const full = here().query.get("depth") === "full_trace";
  const aside = h("aside", { class: "aside", "aria-label": "The chosen event" });
  const drawing = new Drawing(story.timeline, (index) => {
    setQuery({ at: index < 0 ? null : index });
    const shown = detail(drawing.plan, index, (other) => {
      drawing.reveal(other);
      drawing.select(other);
    });
    replace(aside, shown ?? grounds ?? h("p", { class: "note" }, "Choose an event to see what it rests on."));
  });
  const grounds = kind === "decision" || kind === "memory_unit" ? groundsOf(drawing.plan, id) : null;
  const deeper = href("replay", [kind, id], full ? {} : { depth: "full_trace" });
  const missing = story.total_events - story.timeline.length;
  replace(body,
    panel("The story", h("p", { class: "wrapped", dir: "auto" }, withLinks(story.summary)),
      h("p", { class: "note" }, `${things(story.total_events, "event")} by ${things(story.agents_involved.length, "agent")}. `,
        missing > 0 ? `${count(missing)} of them are not key events. ` : "", h("a", { href: deeper }, full ? "Key events only" : "Full trace"),
        h("span", { class: "arc-key" }, " — a line leads from each cause to what rests on it, a dashed one from what was shown"))),
    h("div", { class: "story" }, drawing.element, aside));
  const at = Number(here().query.get("at") ?? Number.NaN);
  drawing.select(Number.isInteger(at) && at >= 0 && at < story.timeline.length ? at : -1);
  drawing.reveal(drawing.selected);
}
