// Overview: the Field as it is now, and as it changes.

import { get, may, whoIsThis } from "../api.js";
import { tellCommit } from "../commits.js";
import { h, replace, said } from "../dom.js";
import { follow } from "../following.js";
import { count, short, things } from "../format.js";
import { onNews } from "../live.js";
import { sparkline } from "../plot.js";
import { href } from "../router.js";
import { agentLink, curl, empty, figure, hash, moment, panel, statusTag } from "../widgets.js";

/** @typedef {import("../live.js").Commit} Commit */

const SECONDS = 120;
const FEED = 12;
/** How far back the log is read for the plots. */
const PAST = 100;
/** How long news may gather before everything is counted anew. */
const PAUSE_MS = 100;

/** @type {import("../app.js").Page} */
export const page = {
  title: "Overview",
  lead: "What the agents of this Field know, what they are doing, and whether everything is in order.",
  async show({ root, signal }) {
    const figures = h("div", { class: "figures" });
    const feed = h("ol", { class: "feed" });
    const agents = h("div", { class: "table-scroll" });
    const logFacts = h("div");
    const rates = new Rates();
    /** @type {Commit[]} */
    let recent = [];

    const draw = async () => {
      const [status, known, runtime] = await Promise.all([
        get("/v1/field/status", { signal }), get("/v1/agents", { signal }), get("/v1/runtime", { signal }).catch(() => null)]);
      if (signal.aborted) return;
      replace(figures, ...drawFigures(status, runtime));
      replace(agents, drawAgents(known.agents));
      drawLog(logFacts, status, signal);
      if (status.position === 0 && !root.querySelector(".first-steps")) root.prepend(firstSteps());
      if (status.position > 0) root.querySelector(".first-steps")?.remove();
    };

    const drawFeed = (/** @type {Commit[]} */ added, highlight = true) => {
      const fresh = new Set(added.map((commit) => commit.position));
      const all = [...added, ...recent.filter((commit) => !fresh.has(commit.position))];
      recent = all.sort((one, other) => other.position - one.position).slice(0, FEED);
      replace(feed, recent.map((commit) => feedRow(commit, highlight && fresh.has(commit.position))));
    };

    onNews((news) => {
      rates.add(news);
      if (news.commits.length > 0) drawFeed(news.commits);
    }, signal);
    await draw();
    if (may(8)) {
      const past = await lastCommits(PAST, signal);
      rates.remember(past);
      drawFeed(past.slice(-FEED), false);
    }
    root.append(figures,
      h("div", { class: "grid two" }, panel("Agents", agents), panel("The log", logFacts)),
      h("div", { class: "grid three" }, ...rates.panels()),
      panel("Activity", may(8) ? feed : h("p", { class: "muted" }, `Commits are shown to keys of authority 8; this one has ${whoIsThis()?.authority}.`)));
    if (may(8) && recent.length === 0) replace(feed, h("li", null, h("span", { class: "muted" }, "Nothing yet")));
    follow(draw, signal, () => PAUSE_MS);
    const timer = setInterval(() => rates.tick(), 1000);
    signal.addEventListener("abort", () => clearInterval(timer));
  },
};

/** @param {any} status @param {any | null} runtime */
function drawFigures(status, runtime) {
  const open = status.conflicts.total - (status.conflicts.by_status.resolved ?? 0);
  const byStatus = Object.entries(status.units.by_status ?? {}).map(([name, n]) => `${count(Number(n))} ${name}`).join(", ");
  const link = (/** @type {HTMLElement} */ box, /** @type {string} */ address, attention = false) => {
    const anchor = h("a", { class: `${box.className}${attention ? " attention" : ""}`, href: address });
    anchor.append(...box.childNodes);
    return anchor;
  };
  return [
    link(figure("Memory units", status.units.total, byStatus), href("memory")),
    link(figure("Open conflicts", open, open ? "wait for a decision" : "nothing to settle"), href("conflicts"), open > 0),
    link(figure("Tasks", runtime?.task_count ?? 0, things(Math.max(0, (runtime?.session_count ?? 1) - 1), "session")), href("tasks")),
    figure("Agents", status.agents, "registered now"),
    figure("Epoch", status.epoch, "logical clock"),
    link(figure("Commits", status.position, h("span", { class: "mono" }, short(status.head, 10))), href("log")),
  ];
}

/** @param {any[]} agents */
function drawAgents(agents) {
  if (agents.length === 0) {
    return empty("No agent is registered", "An agent joins with REGISTER and is listed here with what it works on.",
      curl("/v1/register", { id: "ana", role: "researcher", interests: ["cargo bikes"] }));
  }
  return h("table", null,
    h("thead", null, h("tr", null, ["Agent", "Role", "Status", "Task", "Authority"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", null, agents.slice(0, 100).map((agent) => h("tr", null,
      h("td", null, agentLink(agent.id)), h("td", null, said(agent.role)), h("td", null, statusTag(agent.status)),
      h("td", null, agent.current_task_id ? h("a", { href: href("tasks", [agent.current_task_id]) }, said(agent.current_task_id)) : h("span", { class: "muted" }, "–")),
      h("td", { class: "number" }, agent.authority_level)))));
}

/** @param {HTMLElement} place @param {any} status @param {AbortSignal} signal */
async function drawLog(place, status, signal) {
  const row = (/** @type {string} */ name, /** @type {import("../dom.js").Child} */ value) => [h("dt", null, name), h("dd", null, value)];
  let signed = "";
  try {
    signed = await get("/v1/log/checkpoint", { as: "text", signal });
  } catch {
    // It is said below that there is none.
  }
  const ready = await get("/readyz", { also: 503, signal }).catch(() => null);
  if (signal.aborted) return;
  const [origin = "", size = "", root = ""] = signed.split("\n");
  const check = ready?.fields?.find((/** @type {any} */ field) => field.name === status.field);
  const whole = check?.background_check;
  replace(place, h("dl", { class: "facts" },
    row("Head", h("span", null, `commit ${count(status.position)} `, hash(status.head, 20))),
    row("Checkpoint", signed ? h("span", null, h("span", { class: "status status-active" }, "signed"), ` ${things(Number(size), "commit")}, root `, hash(root, 14)) : h("span", { class: "status status-failed" }, "not available")),
    row("Signed by", signed ? origin : "–"),
    row("Writes", (check ? check.ready : ready?.status === "ready") ? h("span", { class: "status status-active" }, "accepted") : h("span", null, h("span", { class: "status status-failed" }, "refused"), ` ${check?.reason ?? ""}`)),
    whole?.of ? row("Check of old commits", `${count(whole.checked)} of ${count(whole.of)}`) : null,
  ));
}

/** @param {Commit} commit @param {boolean} fresh */
function feedRow(commit, fresh) {
  return h("li", { class: fresh ? "arrived" : "" }, h("a", { class: "number mono", href: href("log", [String(commit.position)]) }, `#${commit.position}`),
    h("span", { class: "clip" }, tellCommit(commit)), h("span", { class: "muted small nowrap" }, moment(commit.header.time_ms)));
}

/** @param {number} most @param {AbortSignal} signal @returns {Promise<Commit[]>} */
async function lastCommits(most, signal) {
  const { head } = await get("/v1/log", { query: { limit: 1 }, signal });
  const from = Math.max(1, head.position - most + 1);
  return (await get("/v1/log", { query: { from, limit: most }, signal })).commits;
}

/** What happens each second, for the last two minutes. */
class Rates {
  constructor() {
    this.series = ["Commits", "Units recorded", "Conflicts found"].map((name) => ({
      name, values: Array(SECONDS).fill(0), plot: h("div", { class: "plot" }),
    }));
    this.position = 0;
    this.draw();
  }

  /** Puts what happened before the page was opened where it belongs. @param {Commit[]} commits */
  remember(commits) {
    for (const commit of commits) {
      const place = SECONDS - 1 - Math.floor((Date.now() - commit.header.time_ms) / 1000);
      if (place < 0 || place >= SECONDS) continue;
      this.note(commit.header.events.map((/** @type {any} */ sealed) => sealed.event.kind), 1, place);
    }
    this.draw();
  }

  /** @param {string[]} kinds @param {number} commits @param {number} place */
  note(kinds, commits, place) {
    const of = (/** @type {string} */ kind) => kinds.filter((other) => other === kind).length;
    [commits, of("unit.recorded"), of("conflict.detected")].forEach((n, index) => {
      const series = this.series[index];
      if (series) series.values[place] += n;
    });
  }

  /** @param {import("../live.js").News} news */
  add(news) {
    const events = news.commits.flatMap((commit) => commit.header.events).map((/** @type {any} */ sealed) => sealed.event.kind);
    const commits = news.commits.length || (this.position ? news.head.position - this.position : 1);
    this.position = news.head.position;
    this.note(events, commits, SECONDS - 1);
    this.draw();
  }

  tick() {
    for (const { values } of this.series) {
      values.shift();
      values.push(0);
    }
    this.draw();
  }

  draw() {
    for (const { name, values, plot } of this.series) {
      const minute = values.slice(-60).reduce((all, n) => all + n, 0);
      replace(plot, h("div", { class: "plot-head" }, "in the last minute", h("strong", null, count(minute))),
        sparkline(values, { label: `${name} in each of the last ${SECONDS} seconds` }));
    }
  }

  panels() {
    return this.series.map(({ name, plot }) => panel(name, plot));
  }
}

function firstSteps() {
  const box = empty("Nothing has happened here yet", "These lines make an agent, let it record what it knows, and give that to another agent. Watch this page meanwhile.",
    [curl("/v1/register", { id: "ana", role: "researcher" }),
      curl("/v1/record", { type: "finding", content: "The market grows by 23 percent a year.", intent: { purpose: "Size the market" }, confidence: { score: 0.8, reasoning: "Two reports agree" } }, "ana"),
      curl("/v1/register", { id: "sam", role: "strategist" }),
      curl("/v1/attune", { scope: { role: "strategist" }, context_hint: "how fast does the market grow" }, "sam")].join("\n\n"));
  box.classList.add("first-steps");
  return box;
}
