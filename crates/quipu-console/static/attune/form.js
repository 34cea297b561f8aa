// The form of one setting. It asks again when something was changed, and the URL follows.

import { h } from "../dom.js";
import { NAMES } from "./setting.js";

/** @typedef {import("./setting.js").Setting} Setting */
/** @typedef {import("../speaker.js").Agent} Agent */

/**
 * @param {Setting} setting
 * @param {{ agents: Agent[], sessions: string[], now: number, label: string, change: (setting: Setting) => void }} given
 */
export function settingForm(setting, { agents, sessions, now, label, change }) {
  const chosen = agents.find((agent) => agent.id === setting.agent) ?? agents[0];
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const data = new FormData(form);
    change(/** @type {Setting} */ (Object.fromEntries(NAMES.map((name) => [name, String(data.get(name) ?? "").trim()]))));
  };
  const option = (/** @type {string} */ value, /** @type {string} */ text, /** @type {string} */ current) =>
    h("option", { value, selected: value === current }, text);
  const form = h("form", { class: "setting", "aria-label": label, onsubmit: submit, onchange: submit },
    field("Agent", h("select", { name: "agent" }, agents.map((agent) => option(agent.id, `${agent.id} · ${agent.role}`, chosen?.id ?? "")))),
    field("Session", h("select", { name: "session" }, option("", "none", setting.session), sessions.map((id) => option(id, id, setting.session)))),
    field("Role", h("input", { name: "role", value: setting.role, placeholder: chosen?.role ?? "" })),
    field("What it is about to do", h("input", { name: "hint", type: "search", value: setting.hint, placeholder: "context hint, such as: write the pricing page" }), "wide"),
    field("Interests", h("input", { name: "interests", value: setting.interests, placeholder: (chosen?.interests ?? []).join(", ") || "separated by commas" }), "wide"),
    field("Most units", h("input", { name: "units", type: "number", min: 1, max: 200, value: setting.units, placeholder: "10" })),
    field("Most tokens", h("input", { name: "tokens", type: "number", min: 1, value: setting.tokens, placeholder: "no limit" })),
    field("As of epoch", epochInput(setting.epoch, now)),
    h("button", { class: "primary", type: "submit" }, "Ask"));
  return form;
}

/** @param {string} name @param {HTMLElement} input @param {string} [more] */
const field = (name, input, more = "") => h("label", { class: `field ${more}` }, name, input);

/** A number and a slider that say the same. @param {string} epoch @param {number} now */
function epochInput(epoch, now) {
  const number = h("input", { name: "epoch", type: "number", min: 0, max: now, value: epoch, placeholder: `now (${now})`, "aria-label": "As of epoch" });
  const slider = h("input", { type: "range", min: 0, max: now, value: epoch || now, "aria-label": "Travel to an epoch" });
  slider.addEventListener("input", () => (number.value = Number(slider.value) >= now ? "" : slider.value));
  number.addEventListener("input", () => (slider.value = number.value || String(now)));
  return h("span", { class: "epoch" }, number, slider);
}
