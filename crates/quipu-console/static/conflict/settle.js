// Settling a conflict: the strategies, each with what would come of it as the Field itself foresees it, a rationale, and
// the votes that were cast.

import { ApiError, may } from "../api.js";
import { h, replace } from "../dom.js";
import { plain, things } from "../format.js";
import { speaker } from "../speaker.js";
import { agentLink, failure } from "../widgets.js";
import { ballots, merge } from "./list.js";

/** @typedef {import("./list.js").Case} Case */

const MERGE = 6;
const BALLOT = 4;
const HUMAN = 10;

/** @type {[string, string, string][]} name, title, who prevails */
const STRATEGIES = [
  ["confidence_weighted", "The surer author", "The unit with the higher confidence prevails."],
  ["evidence_count", "More evidence", "The unit that more units support, or that lists more evidence, prevails."],
  ["last_write_wins", "The later word", "The newer unit prevails."],
  ["authority", "The higher authority", "The unit of the author with more authority prevails; above both, you may name one."],
  ["synthesis", "A synthesis", "You write what is true; it becomes a unit of its own and replaces both."],
  ["human_escalation", "By a human", "It waits for somebody with authority 10; on an escalated conflict it is your own decision."],
  ["vote", "A vote", "Each agent has a ballot; at the quorum the unit with more of them prevails."],
];
const NAMES_WINNER = new Set(["authority", "human_escalation", "vote"]);

/**
 * @param {Case} found
 * @param {{ foreseen: (winner: string | null) => void, settled: (response: any) => void }} tell
 */
export function settle(found, tell) {
  const { conflict } = found;
  const escalated = conflict.status === "escalated";
  const needed = escalated ? HUMAN : conflict.status === "resolving" ? BALLOT : MERGE;
  if (!may(needed)) {
    return h("p", { class: "note" }, `Settling it takes a key of authority ${needed}${escalated ? ": the conflict waits for a human" : ""}.`);
  }
  const offered = STRATEGIES.filter(([name]) => (name === "vote" ? !escalated : may(MERGE)));
  const first = conflict.status === "resolving" ? "vote" : escalated ? "human_escalation" : offered[0]?.[0];
  const effect = h("div", { class: "effect", "aria-live": "polite" });
  const problem = h("p", { class: "problem", role: "alert" });
  const winner = h("fieldset", { class: "choice" }, h("legend", null, "Which one?"), choice("A", conflict.unit_a), choice("B", conflict.unit_b));
  const synthesis = h("label", { class: "field" }, "What is true instead", h("textarea", { name: "synthesis", rows: 3 }));
  const rationale = h("label", { class: "field" }, "Why", h("textarea", { name: "rationale", rows: 2, placeholder: "The reason stays in the log for good" }));
  const form = h("form", { class: "settle", "aria-label": "Settle the conflict" },
    h("fieldset", { class: "strategies" }, h("legend", null, "How?"), offered.map(([name, title, text]) => strategy(name, title, text, name === first))),
    h("div", { class: "settle-rest" }, winner, synthesis, effect, rationale, problem,
      h("div", { class: "buttons" }, h("span", { class: "note grow" }, "Settled by ", h("strong", null, speaker())), h("button", { class: "primary", type: "submit" }, "Settle it"))));

  const how = () => {
    const data = new FormData(form);
    const text = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
    const name = text("strategy");
    const chosen = NAMES_WINNER.has(name) ? text("winner") : "";
    return { strategy: name, rationale: text("rationale"), ...(chosen ? { winner: chosen } : {}), ...(name === "synthesis" && text("synthesis") ? { synthesis: text("synthesis") } : {}) };
  };
  let turn = 0;
  const foresee = async () => {
    const asked = how();
    winner.hidden = !NAMES_WINNER.has(asked.strategy) || (asked.strategy === "human_escalation" && !escalated);
    synthesis.hidden = asked.strategy !== "synthesis";
    const mine = (turn += 1);
    const said = await foreseen(found, asked);
    if (mine !== turn) return;
    replace(effect, said.shown);
    tell.foreseen(said.winner);
  };
  form.addEventListener("change", foresee);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const asked = how();
    if (!asked.rationale) return void replace(problem, "Say why: the reason is part of the record.");
    replace(problem);
    try {
      tell.settled(await merge(found, asked));
    } catch (error) {
      replace(problem, failure(error));
    }
  });
  foresee();
  return form;
}

/** @param {string} letter @param {string} id */
const choice = (letter, id) => h("label", null, h("input", { type: "radio", name: "winner", value: id, checked: letter === "A" }), ` ${letter}`);

/** @param {string} name @param {string} title @param {string} text @param {boolean} checked */
const strategy = (name, title, text, checked) => h("label", { class: "strategy" },
  h("input", { type: "radio", name: "strategy", value: name, checked }),
  h("span", null, h("strong", null, title), h("span", { class: "note" }, text)));

/** @param {Case} found @param {{ strategy: string, rationale: string, winner?: string, synthesis?: string }} asked */
async function foreseen(found, asked) {
  if (asked.strategy === "synthesis" && !asked.synthesis) return { shown: h("p", { class: "note" }, "Write it, and see what would come of it."), winner: null };
  try {
    const response = await merge(found, { ...asked, rationale: asked.rationale || "to see what would come of it", dryRun: true });
    return { shown: effects(found, response, "would"), winner: response.conflict.resolution?.winner_id ?? null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { shown: h("p", { class: "note bad" }, `This would be refused: ${error.message}`), winner: null };
  }
}

/**
 * What came of a MERGE, or would.
 * @param {Case} found
 * @param {any} response
 * @param {"would" | "did"} mood
 */
export function effects({ conflict }, response, mood) {
  const letter = (/** @type {string} */ id) => (id === conflict.unit_a ? "A" : id === conflict.unit_b ? "B" : id);
  const would = mood === "would";
  const { side_effects: effect, vote } = response;
  const winner = response.conflict.resolution?.winner_id;
  const lines = [
    response.status === "escalated" && (would ? "It would wait for a human with authority 10." : "It waits for a human with authority 10."),
    response.status === "pending_vote" && (would ? "Your ballot would be counted, and it would wait for more." : "Your ballot is counted; it waits for more."),
    winner && (would ? `${letter(winner)} would prevail.` : `${letter(winner)} prevailed.`),
    effect.new_unit_id && (would ? "Your text would become a unit of its own." : "Your text is a unit of its own now."),
    effect.superseded_units.length > 0 && `${effect.superseded_units.map(letter).join(" and ")} ${would ? "would be" : effect.superseded_units.length > 1 ? "are" : "is"} superseded, and no longer given to agents.`,
    vote && `Ballots: ${vote.unit_a} for A, ${vote.unit_b} for B; it takes ${vote.quorum}.`,
    effect.notified_agents.length > 0 && `${would ? "To be told" : "Told"}: ${effect.notified_agents.join(", ")}.`,
  ];
  return h("div", { class: "effect-box" }, h("h3", null, would ? "What would come of it" : "Done"),
    h("ul", null, lines.filter(Boolean).map((line) => h("li", null, String(line)))),
    (response.warnings ?? []).map((/** @type {string} */ text) => h("p", { class: "note warn" }, text)));
}

/** The votes of an open vote. @param {Case} found */
export async function votes(found) {
  const cast = await ballots(found);
  if (cast.length === 0) return null;
  const letter = (/** @type {string} */ id) => (id === found.conflict.unit_a ? "A" : "B");
  return h("section", { class: "panel" }, h("h2", null, `A vote is in progress: ${things(cast.length, "ballot")}`),
    h("ul", { class: "history" }, cast.map((ballot) => h("li", null, agentLink(ballot.agent), ` voted for `, h("strong", null, letter(ballot.choice)),
      ballot.why ? [": ", h("bdi", null, ballot.why)] : null, h("span", { class: "muted" }, `, epoch ${ballot.epoch}`)))));
}

/** How a conflict ended. @param {Case} found */
export function ending({ conflict }) {
  const end = conflict.resolution;
  if (!end) return null;
  const letter = end.winner_id === conflict.unit_a ? "A" : end.winner_id === conflict.unit_b ? "B" : null;
  const how = conflict.status === "escalated" ? "Waits for a human" : letter ? `${letter} prevailed` : "A synthesis replaced both";
  return h("section", { class: "panel" }, h("h2", null, how),
    h("p", null, agentLink(end.resolved_by), `, by ${plain(end.strategy)} at epoch ${end.epoch_resolved}: `, h("bdi", null, end.rationale)));
}
