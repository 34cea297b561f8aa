// Memory: all units as a stream that can be filtered and searched, and one unit by itself.

import { get, whoIsThis } from "../api.js";
import { h, replace } from "../dom.js";
import { follow } from "../following.js";
import { ago, plain, things } from "../format.js";
import { onNews } from "../live.js";
import { Paged } from "../paged.js";
import { go, here, setQuery } from "../router.js";
import { VirtualList } from "../virtual.js";
import { curl, empty } from "../widgets.js";
import { showUnit } from "./unit.js";

export const TYPES = ["finding", "decision", "observation", "intention", "assumption", "constraint", "question", "contradiction", "synthesis", "correction", "human_directive"];
const STATUSES = ["active", "contested", "superseded", "retracted"];
const AGES = /** @type {const} */ ([["", "any time"], ["3600000", "last hour"], ["86400000", "last day"], ["604800000", "last week"]]);
const ROW_HEIGHT = 52;
/** How much of a content a row can show. */
const CHARS = 300;
/** How many new units are fetched with the news of them. */
const GROWN = 20;
const FILTERS = ["q", "type", "status", "agent", "session", "task", "age"];

/** @type {import("../app.js").Page} */
export const page = {
  title: "Memory",
  lead: "Everything the agents have recorded, newest first: what they found, decided and assumed, how sure they were, and why.",
  async show(context) {
    const [id] = context.route.args;
    if (id) await showUnit(context, id);
    else await showStream(context);
  },
};

/** What the URL asks for, as the API takes it. */
function asked() {
  const { query } = here();
  const age = Number(query.get("age"));
  return {
    q: query.get("q"), type: query.get("type"), status: query.get("status"), agent: query.get("agent"),
    session: query.get("session"), task: query.get("task"), since_ms: age ? Date.now() - age : null,
  };
}

/** @param {import("../app.js").Context} context */
async function showStream({ root, signal, fail }) {
  const summary = h("p", { class: "muted small", role: "status" });
  const place = h("div", { class: "page" });
  let query = asked();
  let total = 0;

  // Places are counted from the oldest unit, so they stay the same while more are recorded.
  const paged = new Paged(
    async (skip, limit, aborted) => (await get("/v1/units", { query: { ...query, order: "oldest", skip, limit, content_chars: CHARS }, signal: aborted })).units,
    () => stream.refresh(),
    (error) => fail(error));
  const stream = new VirtualList({
    label: "Memory units",
    rowHeight: ROW_HEIGHT,
    fill: (row, index) => fillRow(row, paged.at(total - 1 - index)),
    open: (index) => {
      const unit = /** @type {any} */ (paged.at(total - 1 - index));
      if (unit) go("memory", [unit.id]);
    },
    inView: (first, last) => {
      if (total > 0) paged.want(Math.max(0, total - last), Math.max(1, total - first));
    },
  });
  const filtered = () => FILTERS.some((name) => here().query.has(name));

  const load = async () => {
    query = asked();
    const found = await get("/v1/units", { query: { ...query, limit: 1, content_chars: 1 }, signal });
    if (signal.aborted) return;
    paged.clear();
    total = found.total;
    replace(summary, `${things(total, "unit")}${filtered() ? " match" : ""}`);
    if (total === 0) replace(place, filtered() ? noMatch() : noUnits());
    else if (!stream.element.isConnected) replace(place, stream.element);
    stream.setCount(total);
    stream.refresh();
  };

  /** New units are put on top; what is being read stays where it is. */
  const grow = async () => {
    const found = await get("/v1/units", { query: { ...query, limit: GROWN, content_chars: CHARS }, signal });
    if (signal.aborted || found.total === total) return;
    if (total === 0 || found.total < total) return load();
    const added = found.total - total;
    const rows = found.units.slice(0, added).reverse();
    paged.forget(total, found.total - rows.length);
    paged.add(found.total - rows.length, rows);
    total = found.total;
    replace(summary, `${things(total, "unit")}${filtered() ? " match" : ""}`);
    stream.shift(added);
  };

  root.append(filterBar(() => {
    stream.element.scrollTop = 0;
    load().catch(fail);
  }, signal), summary, place);
  await load();
  let changed = false;
  onNews((news) => {
    const kinds = news.commits.flatMap((commit) => commit.header.events).map((/** @type {any} */ sealed) => sealed.event.kind);
    // Who is not told of commits cannot know what they changed.
    changed ||= news.commits.length === 0 || kinds.some((kind) => /status_changed|retracted|archived|purged|resolved/.test(kind));
  }, signal);
  follow(async () => {
    const stale = changed;
    changed = false;
    await grow();
    if (!stale) return;
    paged.clear();
    stream.refresh();
  }, signal);
}

/** @typedef {Record<"box" | "type" | "content" | "about" | "status" | "meter" | "score" | "time", HTMLElement>} Parts */

/** The parts of each row. They are made once and told anew, which is what keeps scrolling smooth. @type {WeakMap<HTMLElement, Parts>} */
const made = new WeakMap();

/** @returns {Parts} */
function makeRow() {
  const [type, status, meter, score, time] = [h("span"), h("span"), h("span"), h("span"), h("time", { class: "muted small" })];
  const [content, about] = [h("bdi", { dir: "auto" }), h("bdi", { dir: "auto" })];
  const box = h("div", { class: "unit-row" }, h("span", null, type),
    h("span", { class: "told" }, h("span", { class: "clip" }, content), h("span", { class: "clip" }, h("small", null, about))),
    h("span", null, status), h("span", { class: "confidence" }, h("span", { class: "meter", "aria-hidden": "true" }, meter), score), time);
  return { box, type, content, about, status, meter, score, time };
}

/** @param {HTMLElement} row @param {any} unit */
function fillRow(row, unit) {
  let parts = made.get(row);
  if (!parts) {
    parts = makeRow();
    made.set(row, parts);
    row.append(parts.box);
  }
  parts.box.classList.toggle("waiting", !unit);
  if (!unit) return;
  const { source, intent } = unit;
  const status = unit.archived ? "archived" : unit.status;
  const score = unit.confidence?.score;
  const session = source.session_id ? ` in ${source.session_id}` : "";
  const task = intent.task_id ? ` for ${intent.task_id}` : "";
  parts.type.className = `type type-${unit.type}`;
  parts.type.textContent = plain(unit.type);
  parts.content.textContent = unit.content.slice(0, CHARS);
  parts.about.textContent = `${source.agent_id}${session}${task} · ${intent.purpose.slice(0, 200)}`;
  parts.status.className = `status status-${status}`;
  parts.status.textContent = status;
  parts.meter.style.width = `${Math.round((score ?? 0) * 100)}%`;
  parts.score.textContent = score === undefined || score === null ? "–" : score.toFixed(2);
  parts.time.textContent = ago(source.timestamp);
  parts.time.title = source.timestamp;
}

/** @param {() => void} changed @param {AbortSignal} signal */
function filterBar(changed, signal) {
  const { query } = here();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const set = (/** @type {string} */ name, /** @type {string} */ value, wait = 0) => {
    clearTimeout(timer);
    setQuery({ [name]: value });
    timer = setTimeout(changed, wait);
  };
  const input = (/** @type {string} */ name, /** @type {string} */ label, type = "text") => h("input", {
    type, name, placeholder: label, "aria-label": label, value: query.get(name) ?? "", size: type === "search" ? 30 : 11,
    oninput: (/** @type {Event} */ event) => set(name, /** @type {HTMLInputElement} */ (event.target).value.trim(), 180),
  });
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {readonly (readonly [string, string])[]} */ options) => h("select", {
    name, "aria-label": label, onchange: (/** @type {Event} */ event) => set(name, /** @type {HTMLSelectElement} */ (event.target).value),
  }, options.map(([value, text]) => h("option", { value, selected: value === (query.get(name) ?? "") }, text)));
  const words = (/** @type {string[]} */ all, /** @type {string} */ any) => /** @type {[string, string][]} */ ([["", any], ...all.map((word) => [word, plain(word)])]);
  return h("form", { class: "filters", role: "search", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    input("q", "Search all texts", "search"),
    select("type", "Type", words(TYPES, "any type")),
    select("status", "Status", words(STATUSES, "any status")),
    select("age", "Time", AGES),
    input("agent", "Agent"), input("task", "Task"), input("session", "Session"));
}

function noUnits() {
  const agent = whoIsThis()?.agent;
  return empty("Nothing has been recorded yet", "A unit says what an agent knows, why it recorded it and how sure it is. This records the first one:",
    curl("/v1/record", {
      type: "finding", content: "The European market for cargo bikes grows by 23 percent a year.",
      intent: { purpose: "Size the market" }, confidence: { score: 0.8, reasoning: "Two trade reports agree" },
    }, agent && agent !== "*" ? agent : "ana"));
}

function noMatch() {
  const box = empty("No unit matches", "A unit must have every word of the search, in whatever form, and pass every filter.");
  box.append(h("button", {
    type: "button", onclick: () => go("memory"),
  }, "Show all units"));
  return box;
}
