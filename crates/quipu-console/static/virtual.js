// A list that draws only the rows in view, so that a hundred thousand of them scroll like twenty. Rows are of one
// height; elements are used again. Keys: up, down, page up, page down, home, end, enter.

import { h } from "./dom.js";

/** Browsers draw no element that is taller than about this; beyond it, scrolling is scaled. */
const TALLEST = 12_000_000;
const MARGIN_ROWS = 6;

/**
 * @typedef {object} ListOptions
 * @property {string} label what the list is, for who cannot see it
 * @property {number} rowHeight
 * @property {(row: HTMLElement, index: number) => void} fill draws a row
 * @property {(index: number) => void} [open] a row was chosen
 * @property {(first: number, last: number) => void} [inView] which rows are looked at now
 */

export class VirtualList {
  /** @param {ListOptions} options */
  constructor(options) {
    this.options = options;
    this.count = 0;
    this.active = -1;
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    /** @type {HTMLElement[]} */
    this.spare = [];
    this.frame = 0;
    this.spacer = h("div", { class: "virtual-spacer", role: "rowgroup" });
    this.element = h("div", { class: "virtual", role: "grid", tabindex: "0", "aria-label": options.label }, this.spacer);
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.press(event));
    this.element.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** @param {number} count how many rows there are now */
  setCount(count) {
    this.count = count;
    if (this.active >= count) this.active = count - 1;
    this.element.setAttribute("aria-rowcount", String(count));
    this.spacer.style.height = `${Math.min(TALLEST, count * this.options.rowHeight)}px`;
    for (const index of [...this.rows.keys()]) if (index >= count) this.release(index);
    this.schedule();
  }

  /** Rows were added at the top: what is being looked at stays where it is. @param {number} added */
  shift(added) {
    const atTop = this.element.scrollTop < this.options.rowHeight;
    if (this.active >= 0) this.active += added;
    this.setCount(this.count + added);
    if (!atTop) this.element.scrollTop += added * this.options.rowHeight;
    this.refresh();
  }

  /** Draws all rows in view anew. */
  refresh() {
    for (const [index, row] of this.rows) this.draw(row, index);
    this.schedule();
  }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  /** How far the rows must be moved because the spacer is shorter than all of them. */
  offset() {
    const { rowHeight } = this.options;
    const whole = this.count * rowHeight;
    if (whole <= TALLEST) return 0;
    const room = Math.max(1, TALLEST - this.element.clientHeight);
    return (this.element.scrollTop / room) * (whole - TALLEST);
  }

  paint() {
    const { rowHeight, inView } = this.options;
    const offset = this.offset();
    const top = this.element.scrollTop + offset;
    const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN_ROWS);
    const last = Math.min(this.count, Math.ceil((top + this.element.clientHeight) / rowHeight) + MARGIN_ROWS);
    for (const index of [...this.rows.keys()]) if (index < first || index >= last) this.release(index);
    for (let index = first; index < last; index += 1) {
      let row = this.rows.get(index);
      if (!row) {
        row = this.spare.pop() ?? this.fresh();
        this.rows.set(index, row);
        this.draw(row, index);
      }
      row.style.transform = `translateY(${index * rowHeight - offset}px)`;
    }
    inView?.(first, last);
  }

  fresh() {
    const row = h("div", { class: "row", role: "row", style: { height: `${this.options.rowHeight}px` } });
    this.spacer.append(row);
    return row;
  }

  /** @param {HTMLElement} row @param {number} index */
  draw(row, index) {
    row.hidden = false;
    row.id = `row-${index}`;
    row.dataset["index"] = String(index);
    row.setAttribute("aria-rowindex", String(index + 1));
    row.setAttribute("aria-selected", String(index === this.active));
    this.options.fill(row, index);
    // A row of a grid may hold links, an option of a listbox may not.
    row.firstElementChild?.setAttribute("role", "gridcell");
  }

  /** @param {number} index */
  release(index) {
    const row = this.rows.get(index);
    if (!row) return;
    this.rows.delete(index);
    row.hidden = true;
    row.removeAttribute("id");
    this.spare.push(row);
  }

  /** @param {number} index */
  activate(index) {
    const { rowHeight } = this.options;
    const before = this.rows.get(this.active);
    before?.setAttribute("aria-selected", "false");
    this.active = Math.max(0, Math.min(this.count - 1, index));
    const scaled = this.offset();
    const top = this.active * rowHeight - scaled;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + rowHeight - clientHeight;
    this.paint();
    this.rows.get(this.active)?.setAttribute("aria-selected", "true");
    this.element.setAttribute("aria-activedescendant", `row-${this.active}`);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 1);
    /** @type {Record<string, number>} */
    const moves = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page,
      PageUp: this.active - page, Home: 0, End: this.count - 1,
    };
    const next = moves[event.key];
    if (next !== undefined && this.count > 0) {
      event.preventDefault();
      this.activate(next);
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      this.options.open?.(this.active);
    }
  }

  /** @param {MouseEvent} event */
  click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("a, button")) return;
    const row = /** @type {HTMLElement | null} */ (target.closest(".row"));
    if (row) this.options.open?.(Number(row.dataset["index"]));
  }
}
