// The two units of a conflict side by side, with the words that differ marked.

import { diff } from "../diff.js";
import { h } from "../dom.js";
import { count, plain } from "../format.js";
import { marked } from "../marked.js";
import { href } from "../router.js";
import { agentLink, confidence, facts, moment, statusTag, typeTag, unitLink } from "../widgets.js";

/** @typedef {import("./list.js").Case} Case */

/** Characters of a text that are compared and shown; the unit's own page has all of it. */
const COMPARED = 20_000;

/** How each way of finding a conflict is told. @type {Record<string, string>} */
const FOUND = {
  explicit: "Said by the author of the newer unit, with a contradicts relation.",
  semantic: "Found by the Field: two statements say nearly the same and one thing differs.",
  logical: "Found by the Field: an assumption of one clashes with what the other says.",
  temporal: "Found by the Field: the newer unit is less sure than the older one.",
};

/** @param {Case} found */
export function reason({ conflict }) {
  const sure = /sure(?:ness)?[^0-9]{0,12}([01]?\.\d+)/i.exec(conflict.description)?.[1];
  return facts([
    ["What disagrees", h("bdi", null, conflict.description)],
    ["How it was found", FOUND[conflict.detected_by] ?? conflict.detected_by],
    ["Sureness", conflict.detected_by === "explicit" ? "an author's word, not a guess" : sure ?? null],
    ["Kind", plain(conflict.type)],
    ["The story", h("a", { href: href("replay", ["conflict", conflict.id]) }, "How it came about")],
  ]);
}

/** @param {Case} found @param {string | null} [winner] the unit that prevailed, or would */
export function sides(found, winner = null) {
  const { a, b } = found;
  const pieces = diff(a.content.slice(0, COMPARED), b.content.slice(0, COMPARED));
  return h("div", { class: "columns two sides" },
    side("A", "older", a, pieces.left, found, winner), side("B", "newer", b, pieces.right, found, winner));
}

/**
 * @param {string} letter
 * @param {string} age
 * @param {any} unit
 * @param {import("../diff.js").Piece[]} pieces
 * @param {Case} found
 * @param {string | null} winner
 */
function side(letter, age, unit, pieces, { authors }, winner) {
  const { agent_id: author, agent_role: role, timestamp, session_id: session } = unit.source;
  const text = marked(pieces);
  const evidence = unit.confidence?.evidence ?? [];
  const authority = authors.get(author);
  const fate = winner === null ? "" : winner === unit.id ? " prevails" : " loses";
  return h("article", { class: `panel side${fate}`, "aria-label": `Unit ${letter}, the ${age} one` },
    h("p", { class: "ranked-head" }, h("strong", { class: "letter" }, letter), typeTag(unit.type), statusTag(unit.status), h("span", { class: "grow" }), unitLink(unit.id)),
    h("p", { class: "unit-text", dir: "auto", tabindex: "0" }, text, unit.content.length > COMPARED ? "…" : null),
    unit.content.length > COMPARED && h("p", { class: "note" }, `The first ${count(COMPARED)} of ${count(unit.content.length)} characters; the unit's page has all of it.`),
    facts([
      ["Author", [agentLink(author), `, ${plain(role)}`, authority === undefined ? null : `, authority ${authority}`]],
      ["Confidence", confidence(unit.confidence?.score)],
      ["Because", unit.confidence?.reasoning && h("bdi", null, unit.confidence.reasoning)],
      ["Evidence", evidence.length > 0 ? evidence.map((/** @type {string} */ text) => h("div", null, h("bdi", null, text))) : "none"],
      ["Purpose", h("bdi", null, unit.intent?.purpose ?? "")],
      ["Recorded", [moment(timestamp), ` at epoch ${count(unit.epoch)}`, session ? ` in ${session}` : ""]],
    ]));
}
