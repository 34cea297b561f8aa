// A long list of the server, fetched in pages as they come into view. Pages that were scrolled past are not asked for.

const PAGE = 100;
const KEPT = 60;

/**
 * @template T
 * @typedef {(skip: number, limit: number, signal: AbortSignal) => Promise<T[]>} Fetch
 */

/** @template T */
export class Paged {
  /**
   * @param {Fetch<T>} fetch
   * @param {() => void} arrived called when rows have come
   * @param {(error: unknown) => void} failed
   */
  constructor(fetch, arrived, failed) {
    this.fetch = fetch;
    this.arrived = arrived;
    this.failed = failed;
    /** @type {Map<number, T[]>} */
    this.pages = new Map();
    /** @type {Map<number, AbortController>} */
    this.asked = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** @param {number} index @returns {T | undefined} */
  at(index) {
    return this.pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** These rows are looked at now. @param {number} first @param {number} last */
  want(first, last) {
    clearTimeout(this.timer);
    const from = Math.floor(first / PAGE);
    const to = Math.floor(Math.max(first, last - 1) / PAGE);
    for (const [page, asked] of this.asked) {
      if (page < from - 1 || page > to + 1) {
        asked.abort();
        this.asked.delete(page);
      }
    }
    /** @type {number[]} */
    const missing = [];
    for (let page = from; page <= to; page += 1) if (!this.pages.has(page) && !this.asked.has(page)) missing.push(page);
    // Who scrolls fast wants the place where the scrolling ends.
    if (missing.length > 0) this.timer = setTimeout(() => missing.forEach((page) => this.load(page)), 40);
  }

  /** Rows that were added at the end, where they follow what is here; what they do not follow is fetched when it is looked at. @param {number} from @param {T[]} rows */
  add(from, rows) {
    rows.forEach((row, offset) => {
      const [page, place] = [Math.floor((from + offset) / PAGE), (from + offset) % PAGE];
      const held = this.pages.get(page) ?? (place === 0 ? [] : undefined);
      if (held?.length === place) this.put(page, [...held, row]);
      else this.drop(page);
    });
  }

  /** @param {number} page @param {T[]} rows */
  put(page, rows) {
    this.pages.delete(page);
    this.pages.set(page, rows);
    const oldest = this.pages.keys().next();
    if (this.pages.size > KEPT && !oldest.done) this.pages.delete(oldest.value);
  }

  /** @param {number} page */
  async load(page) {
    if (this.pages.has(page) || this.asked.has(page)) return;
    const controller = new AbortController();
    this.asked.set(page, controller);
    try {
      const rows = await this.fetch(page * PAGE, PAGE, controller.signal);
      if (controller.signal.aborted) return;
      this.put(page, rows);
      this.arrived();
    } catch (error) {
      if (!controller.signal.aborted) this.failed(error);
    } finally {
      if (this.asked.get(page) === controller) this.asked.delete(page);
    }
  }

  /** Forgets the pages that hold these rows. @param {number} from @param {number} to */
  forget(from, to) {
    for (let page = Math.floor(from / PAGE); page * PAGE < to; page += 1) this.drop(page);
  }

  /** Forgets a page, also one that is on its way: it was asked for before what is new. @param {number} page */
  drop(page) {
    this.pages.delete(page);
    this.asked.get(page)?.abort();
    this.asked.delete(page);
  }

  /** Forgets everything. */
  clear() {
    clearTimeout(this.timer);
    for (const asked of this.asked.values()) asked.abort();
    this.asked.clear();
    this.pages.clear();
  }
}
