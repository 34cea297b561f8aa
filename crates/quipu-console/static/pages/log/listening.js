// Sessions, and subscriptions: who works together, and who is told of what.

import { get, list } from "../../api.js";
import { h, said } from "../../dom.js";
import { plain } from "../../format.js";
import { href } from "../../router.js";
import { agentLink, curl, empty, moment, panel, statusTag } from "../../widgets.js";

/** @param {string[]} names @param {HTMLElement[]} rows */
const table = (names, rows) => h("div", { class: "table-scroll" }, h("table", null,
  h("thead", null, h("tr", null, names.map((name) => h("th", { scope: "col" }, name)))), h("tbody", null, rows)));

/** @param {import("../../app.js").Context} context */
export async function showSessions({ root, signal }) {
  const sessions = (await list("/v1/sessions", { signal })).reverse();
  const own = sessions.filter((session) => session.id !== "session_default");
  if (own.length === 0) {
    root.append(empty("No session was opened", "A session keeps the work of some agents together, and apart from the rest.",
      curl("/v1/session", { action: "start", session: { purpose: "Plan the launch" } }, "ana")));
    return;
  }
  root.append(panel("Sessions", table(["Session", "State", "Summary", "Opened", "Changed", ""], own.map((session) => h("tr", null,
    h("td", { class: "mono" }, said(session.id)), h("td", null, statusTag(session.state)), h("td", null, session.summary ? said(session.summary) : ""),
    h("td", { class: "nowrap" }, moment(session.created_at)), h("td", { class: "nowrap" }, moment(session.updated_at)),
    h("td", { class: "nowrap" }, h("a", { href: href("memory", [], { session: session.id }) }, "its units"), " · ", h("a", { href: href("replay", ["session", session.id]) }, "replay")))))));
}

/** @param {import("../../app.js").Context} context */
export async function showSubscriptions({ root, signal }) {
  const { subscriptions } = await get("/v1/subscriptions", { signal });
  if (subscriptions.length === 0) {
    root.append(empty("Nobody subscribes", "An agent that subscribes is told of events as they happen and need not poll.",
      curl("/v1/subscribe", { action: "subscribe", subscription: { events: ["memory.recorded", "conflict.detected"] } }, "ana")));
    return;
  }
  root.append(panel("Subscriptions", table(["Subscription", "Agent", "Is told of", "Least relevance", "Since epoch"], subscriptions.map((/** @type {any} */ entry) => h("tr", null,
    h("td", { class: "mono" }, entry.id), h("td", null, agentLink(entry.agent_id)), h("td", null, entry.events.map(plain).join(", ")),
    h("td", { class: "number" }, entry.min_relevance ?? "–"), h("td", { class: "number" }, entry.epoch_created))))));
}
