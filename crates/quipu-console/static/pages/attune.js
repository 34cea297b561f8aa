// Attune: what would this agent be given? One setting, or two side by side.

import { get, list, may, post, whoIsThis } from "../api.js";
import { answer, legend } from "../attune/answer.js";
import { settingForm } from "../attune/form.js";
import { moves, NAMES, question, readSetting, toQuery, unbounded } from "../attune/setting.js";
import { h, replace } from "../dom.js";
import { here, setQuery } from "../router.js";
import { agents as listAgents } from "../speaker.js";
import { curl, empty, failure } from "../widgets.js";

/** @typedef {import("../attune/setting.js").Setting} Setting */
/** @typedef {import("../attune/setting.js").Ranked} Ranked */
/** @typedef {import("../speaker.js").Agent} Agent */

const PREVIEW_AUTHORITY = 8;

/** @type {import("../app.js").Page} */
export const page = {
  title: "Attune",
  lead: "What would this agent be given? See the ranking, why each unit is in it, and what the budget cut. Looking changes nothing.",
  async show({ root, actions, signal }) {
    const [agents, sessions, status] = await Promise.all([ownAgents(), sessionNames(), get("/v1/field/status")]);
    if (signal.aborted) return;
    if (agents.length === 0) {
      replace(root, empty("No agent takes part yet", "Register one, and this page shows what it would be given.",
        curl("/v1/register", { id: "ana", role: "researcher", interests: ["growth"] })));
      return;
    }
    const now = status.epoch;
    const compare = () => here().query.has("b.agent");
    const draw = () => {
      const sides = compare() ? ["", "b."] : [""];
      const toggle = h("button", { type: "button", onclick: () => toggleCompare(draw) }, compare() ? "One setting only" : "Compare with another…");
      replace(actions, toggle);
      const columns = sides.map((prefix) => column(prefix, agents, sessions, now));
      replace(root, legend(), h("div", { class: sides.length > 1 ? "columns two" : "columns" }, columns.map((one) => one.element)));
      ask(columns, signal);
    };
    draw();
  },
};

/** @param {() => void} draw */
function toggleCompare(draw) {
  const { query } = here();
  const off = Object.fromEntries(NAMES.map((name) => [`b.${name}`, null]));
  const first = readSetting(query, "");
  setQuery(query.has("b.agent") ? off : { ...toQuery(first, "b."), "b.agent": first.agent || "-" });
  draw();
}

/** @returns {Promise<Agent[]>} the agents that this key may speak for */
async function ownAgents() {
  const me = whoIsThis();
  const all = await listAgents();
  return me && me.agent !== "*" ? all.filter((agent) => agent.id === me.agent) : all;
}

async function sessionNames() {
  const found = await list("/v1/sessions").catch(() => []);
  return found.map((session) => session.id).filter((id) => id !== "session_default");
}

/** @typedef {{ prefix: string, element: HTMLElement, body: HTMLElement, setting: Setting, agent: Agent | undefined, again: (() => void) | null }} Column */

/** @param {string} prefix @param {Agent[]} agents @param {string[]} sessions @param {number} now @returns {Column} */
function column(prefix, agents, sessions, now) {
  const setting = readSetting(here().query, prefix);
  const body = h("div", { "aria-live": "polite" });
  /** @type {Column} */
  const made = { prefix, element: h("section"), body, setting, agent: agents.find((one) => one.id === setting.agent) ?? agents[0], again: null };
  const label = prefix ? "The other setting" : "The setting";
  const form = settingForm(setting, {
    agents, sessions, now, label,
    change(next) {
      Object.assign(made.setting, next);
      made.agent = agents.find((one) => one.id === next.agent);
      setQuery(toQuery(next, prefix));
      made.again?.();
    },
  });
  made.element = h("section", { class: "panel", "aria-label": label }, form, body);
  return made;
}

/** Asks for every column; a change asks again. @param {Column[]} columns @param {AbortSignal} signal */
function ask(columns, signal) {
  let turn = 0;
  const run = async () => {
    const mine = (turn += 1);
    const answers = await Promise.all(columns.map((one) => given(one).catch((error) => ({ error }))));
    if (signal.aborted || mine !== turn) return;
    const [first, second] = answers;
    columns.forEach((one, index) => {
      const own = answers[index];
      if (!own) return;
      if ("error" in own) return void replace(one.body, failure(own.error, run));
      const other = index === 0 ? second : first;
      const moved = other && !("error" in other) ? moves(other.response.record, own.response.record) : null;
      replace(one.body, answer({ ...own, moved }));
    });
  };
  for (const one of columns) one.again = run;
  run();
}

/** @param {Column} one */
async function given({ setting, agent }) {
  if (!agent) throw new Error("Choose an agent.");
  const asked = question(setting, agent.role, may(PREVIEW_AUTHORITY));
  const options = { agent: agent.id, ...(setting.session ? { session: setting.session } : {}) };
  const response = await post("/v1/attune", asked, options);
  // Without leave to look unseen, one look is enough.
  if (!may(PREVIEW_AUTHORITY)) return { response, all: response.record, units: asked.scope.max_units };
  const { record: all } = await post("/v1/attune", unbounded(asked), options);
  const why = new Map(all.map((/** @type {Ranked} */ ranked) => [ranked.memory_unit.id, ranked.explanation]));
  const record = response.record.map((/** @type {Ranked} */ ranked) => ({ ...ranked, explanation: why.get(ranked.memory_unit.id) }));
  return { response: { ...response, record }, all, units: asked.scope.max_units };
}
