// The timeline as lanes: a card for each event in the lane of its agent, and a line from each cause to what rests on it.
// Only what is in view is drawn.

import { h, replace, s } from "../dom.js";
import { causes, layout } from "../lanes.js";

/** @typedef {import("../lanes.js").Spot} Spot */
/** @typedef {import("../lanes.js").Arc} Arc */

const ROW = 80;
const CARD = 62;
const GAP = 26;
const LANE_MIN = 146;
const LANE_MAX = 330;
const AROUND = 12;

export class Drawing {
  /**
   * @param {import("../lanes.js").Entry[]} timeline
   * @param {(index: number) => void} chosen
   */
  constructor(timeline, chosen) {
    this.chosen = chosen;
    this.plan = layout(timeline);
    this.selected = -1;
    /** @type {Set<number>} */
    this.lit = new Set();
    this.width = LANE_MIN;
    this.heads = h("div", { class: "lane-heads" });
    this.lines = s("svg", { class: "lane-lines", "aria-hidden": "true" });
    this.cards = h("ol", { class: "lane-cards" });
    this.sheet = h("div", { class: "lane-sheet" }, this.lines, this.cards);
    this.element = h("div", { class: "lanes", tabindex: "0", role: "group", "aria-label": "Timeline, one lane for each agent" }, this.heads, this.sheet);
    this.drawnAt = 0;
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  fit() {
    const lanes = Math.max(1, this.plan.lanes.length);
    this.width = Math.max(LANE_MIN, Math.min(LANE_MAX, (this.element.clientWidth - 8) / lanes));
    const [width, height] = [this.width * lanes, this.plan.rows * ROW + 8];
    for (const part of [this.heads, this.sheet]) part.style.width = `${width}px`;
    this.sheet.style.height = `${height}px`;
    this.lines.setAttribute("width", String(width));
    this.lines.setAttribute("height", String(height));
    replace(this.heads, this.plan.lanes.map((agent) => h("span", { style: { width: `${this.width}px` } }, h("bdi", null, agent === "system" ? "the Field" : agent))));
    this.draw();
  }

  /** @param {number} index */
  select(index) {
    this.selected = index;
    this.lit = index < 0 ? new Set() : causes(this.plan.arcs, index);
    this.draw();
    this.chosen(index);
  }

  /** @param {number} index */
  reveal(index) {
    const spot = this.plan.spots[index];
    if (spot) this.element.scrollTop = Math.max(0, spot.row * ROW - this.element.clientHeight / 2);
  }

  /** What is drawn reaches beyond the view, so not every step asks for another drawing. */
  scrolled() {
    if (Math.abs(this.element.scrollTop - this.drawnAt) > (AROUND / 2) * ROW) this.draw();
  }

  draw() {
    this.drawnAt = this.element.scrollTop;
    const first = Math.floor(this.element.scrollTop / ROW) - AROUND;
    const last = Math.ceil((this.element.scrollTop + this.element.clientHeight) / ROW) + AROUND;
    const seen = this.plan.spots.filter((spot) => spot.row >= first && spot.row <= last);
    const held = document.activeElement instanceof HTMLElement && this.cards.contains(document.activeElement) ? document.activeElement.dataset["index"] : undefined;
    replace(this.cards, seen.map((spot) => this.card(spot)));
    const row = (/** @type {number} */ index) => this.plan.spots[index]?.row ?? 0;
    const crossing = this.plan.arcs.filter((arc) => row(arc.from) <= last && row(arc.to) >= first);
    // Bright lines are drawn over pale ones.
    crossing.sort((x, y) => Number(this.isLit(x)) - Number(this.isLit(y)));
    replace(this.lines, crossing.map((arc) => this.line(arc)));
    if (held !== undefined) /** @type {HTMLElement | null} */ (this.cards.querySelector(`[data-index="${held}"]`))?.focus({ preventScroll: true });
  }

  /** @param {Arc} arc */
  isLit(arc) {
    return this.lit.has(arc.from) && this.lit.has(arc.to);
  }

  /** @param {Spot} spot */
  card({ index, lane, row, entry }) {
    const dim = this.lit.size > 0 && !this.lit.has(index);
    const at = { left: `${lane * this.width + GAP / 2}px`, top: `${row * ROW + 8}px`, width: `${this.width - GAP}px`, height: `${CARD}px` };
    const choose = () => this.select(this.selected === index ? -1 : index);
    return h("li", null, h("button", {
      type: "button", class: `card kind-${entry.event_type.toLowerCase()}${dim ? " dim" : ""}`, style: at, dataset: { index: String(index) },
      "aria-pressed": String(this.selected === index), onclick: choose,
    }, h("span", { class: "card-head" }, h("span", { class: "clip" }, entry.event_type.replace("_CREATED", "")), h("small", { title: `epoch ${entry.epoch}` }, `ep ${entry.epoch}`)),
    h("span", { class: "card-text", dir: "auto" }, brief(entry.description))));
  }

  /** @param {Arc} arc */
  line(arc) {
    const [from, to] = [this.plan.spots[arc.from], this.plan.spots[arc.to]];
    if (!from || !to) return null;
    const x = (/** @type {Spot} */ spot) => spot.lane * this.width + this.width / 2;
    const [top, bottom] = [from.row * ROW + 8 + CARD, to.row * ROW + 8];
    const lit = this.isLit(arc) ? " lit" : "";
    const kind = arc.kind === "shown" ? " shown" : "";
    if (from.row === to.row) {
      const y = from.row * ROW + 8 + CARD / 2;
      return s("path", { class: `arc${lit}${kind}`, d: `M${x(from)},${y} L${x(to)},${y}` });
    }
    if (from.lane === to.lane && to.row - from.row > 1) {
      const right = (from.lane + 1) * this.width - GAP / 2;
      const [y1, y2] = [top - CARD / 2, bottom + CARD / 2];
      return s("path", { class: `arc${lit}${kind}`, d: `M${right},${y1} C${right + GAP},${y1 + 14} ${right + GAP},${y2 - 14} ${right},${y2}` });
    }
    const bend = Math.min(60, (bottom - top) / 2 + 12);
    return s("path", { class: `arc${lit}${kind}`, d: `M${x(from)},${top} C${x(from)},${top + bend} ${x(to)},${bottom - bend} ${x(to)},${bottom}` });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(this.plan.spots.length - 1, this.selected + step));
    this.reveal(next);
    this.select(next);
    /** @type {HTMLElement | null} */ (this.cards.querySelector(`[data-index="${next}"]`))?.focus({ preventScroll: true });
  }
}

/** What a card has room for: not what its kind says already. @param {string} description */
const brief = (description) => description.replace(/^Recorded (?:\w+ )?[\w ]+?: |^Conflict between \S+ and \S+ found by \w+ check: /, "").slice(0, 220);
