// What an agent would be given: the ranked units, each with the share of every factor in its score, and what was cut.

import { h } from "../dom.js";
import { count, plain, things } from "../format.js";
import { stack } from "../plot.js";
import { agentLink, statusTag, typeTag, unitLink } from "../widgets.js";
import { cut } from "./setting.js";

/** @typedef {import("./setting.js").Ranked} Ranked */
/** @typedef {{ response: any, all: Ranked[], units: number, moved: Map<string, number | null> | null }} Given */

/** More of a text does not fit into its three lines. */
const SHOWN_CHARS = 800;

/** What each factor means, in the order in which their shares are drawn. @type {[string, string][]} */
export const FACTORS = [
  ["lexical", "words of the hint in the unit, or beside it"],
  ["semantic", "close in meaning to the hint"],
  ["author", "the hint names its author"],
  ["interests", "fits the interests, the task's units, the role"],
  ["task", "belongs to the active task"],
  ["relation", "linked with a unit of the active task"],
  ["type_importance", "how much its type matters"],
  ["standing", "lays down a rule that holds"],
  ["role", "the author's role is close"],
  ["confidence", "how sure its author was"],
  ["recency", "how new it is"],
];

export function legend() {
  const item = ([factor, meaning = ""] = ["", ""]) => h("li", { title: meaning }, h("span", { class: `swatch f-${factor}` }), plain(factor));
  return h("ul", { class: "legend", "aria-label": "What the colours mean" }, FACTORS.map((entry) => item(entry)));
}

/** @param {Given} given */
export function answer(given) {
  const { response, all, units } = given;
  const left = cut(response.record, all, units);
  const scale = Math.max(0.01, ...all.map((ranked) => ranked.relevance_score));
  const rows = response.record.map((/** @type {Ranked} */ ranked, /** @type {number} */ index) => row(ranked, index + 1, scale, given));
  return h("div", { class: "answer" },
    head(given, left.length),
    rows.length > 0 ? h("ol", { class: "ranked" }, rows) : h("p", { class: "muted" }, "This agent would be given nothing."),
    left.length > 0 && h("details", { class: "cut", open: rows.length < 6 },
      h("summary", null, `Cut: ${things(left.length, "unit")} that came next`),
      h("ol", { class: "ranked" }, left.map(({ ranked, rank, why }) => row(ranked, rank, scale, given, why)))));
}

/** @param {Given} given @param {number} left */
function head({ response }, left) {
  const { units_returned: returned, units_available: available, tokens_used: used, tokens_budget: budget } = response.context_budget;
  const parts = [
    `${count(returned)} of ${things(available, "unit")}`,
    budget ? `${count(used)} of ${things(budget, "token")}` : "",
    response.as_of_epoch === undefined ? `epoch ${count(response.epoch)}, now` : `as of epoch ${count(response.as_of_epoch)}`,
    left > 0 ? `${count(left)} cut` : "",
  ];
  const traced = response.trace_id && h("p", { class: "note warn" },
    "This look was noted in the log as if the agent had been shown it. A key of authority 8 looks without a trace.");
  const warnings = (response.warnings ?? []).map((/** @type {string} */ text) => h("p", { class: "note" }, text));
  return h("div", { class: "answer-head" }, h("p", null, h("strong", null, parts[0] ?? ""), parts.slice(1).filter(Boolean).map((part) => ` · ${part}`)), traced, warnings);
}

/** @param {Ranked} ranked @param {number} rank @param {number} scale @param {Given} given @param {"tokens" | "units"} [why] */
function row(ranked, rank, scale, { moved }, why) {
  const unit = ranked.memory_unit;
  const factors = ranked.explanation?.factors ?? [];
  const shares = FACTORS.map(([factor]) => ({ label: plain(factor), class: `f-${factor}`, value: factors.find((one) => one.factor === factor)?.contribution ?? 0 }));
  const told = shares.filter((share) => share.value > 0).map((share) => `${share.label} ${share.value.toFixed(2)}`).join(", ");
  return h("li", { class: why ? "ranked-row left-out" : "ranked-row", dataset: { unit: unit.id } },
    h("span", { class: "rank" }, String(rank), moved && !why ? mark(moved.get(unit.id)) : null),
    h("div", { class: "grow" },
      h("p", { class: "ranked-head" }, typeTag(unit.type), agentLink(unit.source.agent_id), unit.status === "contested" ? statusTag(unit.status) : null,
        ranked.format === "summary" ? h("span", { class: "status", title: "The budget had no room for all of it" }, "in brief") : null,
        why ? h("span", { class: "status status-failed" }, why === "tokens" ? "did not fit into the tokens" : "beyond the most units") : null,
        h("span", { class: "grow" }), unitLink(unit.id), h("strong", { class: "score", title: "Relevance, comparable within one answer only" }, ranked.relevance_score.toFixed(2))),
      h("p", { class: "ranked-text", dir: "auto" }, unit.content.slice(0, SHOWN_CHARS)),
      stack(shares, { label: `Score ${ranked.relevance_score.toFixed(2)}: ${told || "nothing"}`, whole: scale }),
      h("details", { class: "why" }, h("summary", null, ranked.relevance_reason), factorTable(factors, ranked.explanation?.diversity_discount ?? 0))));
}

/** @param {number | null | undefined} places */
function mark(places) {
  if (places === undefined || places === 0) return null;
  if (places === null) return h("span", { class: "moved new", title: "Not in the other answer" }, "new");
  const up = places > 0;
  return h("span", { class: up ? "moved up" : "moved down", title: `${up ? "Up" : "Down"} from the other answer` }, `${up ? "▲" : "▼"}${Math.abs(places)}`);
}

/** @param {{ factor: string, value: number, weight: number, contribution: number }[]} factors @param {number} discount */
function factorTable(factors, discount) {
  const head = ["Factor", "Value", "Weight", "Share of the score"].map((name, index) => h("th", { class: index ? "number" : null, scope: "col" }, name));
  const cell = (/** @type {number} */ value) => h("td", { class: "number" }, value.toFixed(3));
  const rows = factors.map((one) => h("tr", null,
    h("td", null, h("span", { class: `swatch f-${one.factor}` }), plain(one.factor)), cell(one.value), cell(one.weight), cell(one.contribution)));
  const off = discount > 0 && h("tr", null, h("td", { colspan: 3 }, "taken off, because the same author stands above"), h("td", { class: "number" }, `−${(discount * 100).toFixed(0)} %`));
  return h("table", { class: "factors" }, h("thead", null, h("tr", null, head)), h("tbody", null, rows, off));
}
