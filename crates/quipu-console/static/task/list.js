// The list of Tasks, filtered by state and session; both are in the URL.

import { h, replace } from "../dom.js";
import { follow } from "../following.js";
import { things } from "../format.js";
import { inputText } from "../replay/target.js";
import { here, href, setQuery } from "../router.js";
import { agentLink, empty, moment, statusTag } from "../widgets.js";
import { newestTasks } from "./read.js";

const STATES = ["SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"];
const SHOWN = 200;

/** @param {HTMLElement} root @param {AbortSignal} signal */
export async function taskList(root, signal) {
  const body = h("div", { class: "page" });
  /** @type {any[]} */
  let tasks = [];
  const query = () => here().query;
  const draw = () => {
    const state = query().get("status") ?? "";
    const found = tasks.filter((task) => !state || task.status === state);
    if (tasks.length === 0) return void replace(body, nothing());
    const shown = found.slice(0, SHOWN);
    replace(body, h("p", { class: "note", role: "status" }, `${things(found.length, "Task")}${found.length > SHOWN ? `, the newest ${SHOWN} of them` : ""}`), table(shown));
  };
  const load = async () => {
    tasks = await newestTasks(query().get("session"));
    if (!signal.aborted) draw();
  };
  replace(root, filters(draw, load), body);
  await load();
  // Long lists are read again less often.
  follow(load, signal, () => 150 + tasks.length);
}

/** @param {() => void} draw @param {() => void} load */
function filters(draw, load) {
  const chosen = here().query;
  const state = h("select", { "aria-label": "State" }, h("option", { value: "" }, "every state"),
    STATES.map((one) => h("option", { value: one, selected: chosen.get("status") === one }, one.toLowerCase().replaceAll("_", " "))));
  state.addEventListener("change", () => (setQuery({ status: state.value }), draw()));
  const session = h("input", { type: "search", "aria-label": "Session", placeholder: "a session's id", value: chosen.get("session") ?? "" });
  session.addEventListener("change", () => (setQuery({ session: session.value.trim() }), load()));
  return h("div", { class: "filters" }, state, session, h("a", { href: href("tasks", ["receipt"]) }, "Check a receipt…"));
}

function nothing() {
  return empty("No Tasks here", "A Task is a piece of work whose every answer is recorded, so that it can be replayed. Ask the Field something:",
    `curl -s ${location.origin}/v1/tasks -H "Authorization: Bearer $QUIPU_KEY" \\\n  -H 'Harn-Agents-Protocol-Version: agents-protocol-2026-04-25' \\\n  -d '{"session_id": "session_default", "input": "What do we know of the harbour?"}'`);
}

/** @param {any[]} tasks */
function table(tasks) {
  const head = ["State", "What", "Agent", "Begun", "Session"].map((name) => h("th", { scope: "col" }, name));
  const rows = tasks.map((task) => h("tr", null,
    h("td", null, statusTag(task.status)),
    h("td", null, h("a", { href: href("tasks", [task.id]) }, h("bdi", null, inputText(task).slice(0, 160) || task.id)), task.parent_task_id ? [" ", h("span", { class: "status" }, "replay")] : null),
    h("td", null, task.assigned_agent_id ? agentLink(task.assigned_agent_id) : h("span", { class: "muted" }, "nobody yet")),
    h("td", { class: "nowrap" }, moment(task.created_at)),
    h("td", { class: "muted" }, task.session_id)));
  return h("div", { class: "panel table-scroll" }, h("table", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)));
}
