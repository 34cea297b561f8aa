// The editor of a replay: the mode, where to begin, and which answers are to be others. Nothing is asked of anybody: a
// replay takes recorded answers and yours.

import { post } from "../api.js";
import { h, replace } from "../dom.js";
import { parse } from "../receipt/strict.js";
import { go } from "../router.js";
import { failure, panel } from "../widgets.js";
import { crumbs } from "./detail.js";
import { hasEnded, path, pretty, readEvents, readTask, recording } from "./read.js";

/** @typedef {import("./read.js").Answer} Answer */

/** @type {[string, string, string][]} */
const MODES = [
  ["with_overrides", "With other answers", "What if somebody had said something else? Change one answer or several."],
  ["exact", "Exactly", "The same again, event by event. It shows that the recording is whole."],
  ["from_checkpoint", "From a checkpoint", "Begin where the worker set one; answers after it may be changed."],
];

/** @param {HTMLElement} root @param {string} id @param {AbortSignal} signal */
export async function replayEditor(root, id, signal) {
  const task = await readTask(id);
  const events = await readEvents(id);
  const { answers, checkpoints } = await recording(task, events);
  if (signal.aborted) return;
  if (!hasEnded(task)) return void replace(root, crumbs(task), h("p", { class: "note" }, "The Task is not over. It can be replayed when it is."));
  const overrides = answers.map((answer) => new Override(answer));
  const order = new Map(events.map((event, index) => [event.id, index]));
  const problem = h("div", { role: "alert" });
  const start = h("label", { class: "field" }, "Begin at", h("select", { name: "checkpoint" }, checkpoints.map((one) => h("option", { value: one.id }, one.label))));
  const others = h("div", { class: "overrides" }, overrides.map((one) => one.element));
  const form = h("form", { class: "detail", "aria-label": "Replay" },
    panel("How?", h("div", { class: "modes" }, MODES.filter(([name]) => name !== "from_checkpoint" || checkpoints.length > 0).map(([name, title, text], index) =>
      h("label", { class: "strategy" }, h("input", { type: "radio", name: "mode", value: name, checked: index === 0 }), h("span", null, h("strong", null, title), h("span", { class: "note" }, text))))), start),
    panel("Answers", others, answers.length === 0 && h("p", { class: "note" }, "This Task recorded no answer under a key, so there is nothing to change.")),
    panel("Who runs it?", h("label", { class: "strategy" }, h("input", { type: "radio", name: "executor", value: "in_process", checked: true }), h("span", null, h("strong", null, "The server"), h("span", { class: "note" }, "It derives the run from the log, at once."))),
      h("label", { class: "strategy" }, h("input", { type: "radio", name: "executor", value: "worker" }), h("span", null, h("strong", null, "A worker"), h("span", { class: "note" }, "The Task waits until your agent claims it and asks the server for each answer: what would it have made of it?")))),
    h("label", { class: "field" }, "Why", h("input", { name: "reason", placeholder: "what if the database had said otherwise" })), problem,
    h("div", { class: "buttons" }, h("button", { class: "primary", type: "submit" }, "Run the replay")));
  const mode = () => String(new FormData(form).get("mode"));
  const adapt = () => {
    start.hidden = mode() !== "from_checkpoint";
    const from = checkpoints.find((one) => one.id === new FormData(form).get("checkpoint"));
    const begin = mode() === "from_checkpoint" && from ? order.get(from.event_id) ?? 0 : -1;
    for (const one of overrides) one.offer(mode() !== "exact" && (order.get(one.answer.event_id) ?? 0) > begin);
  };
  form.addEventListener("change", adapt);
  form.addEventListener("input", () => replace(problem));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const made = await post(`${path(id)}/replay`, request(new FormData(form), overrides));
      go("tasks", [made.id, "compare"]);
    } catch (error) {
      replace(problem, failure(error));
    }
  });
  replace(root, crumbs(task), form);
  adapt();
}

/** @param {FormData} data @param {Override[]} overrides */
function request(data, overrides) {
  const mode = String(data.get("mode"));
  const changed = overrides.filter((one) => one.isOn());
  if (mode === "with_overrides" && changed.length === 0) throw new Error("Change at least one answer, or replay it exactly.");
  const override = Object.fromEntries(changed.map((one) => [one.answer.key, one.substitute()]));
  const reason = String(data.get("reason") ?? "").trim();
  return {
    mode,
    ...(changed.length > 0 ? { override } : {}),
    ...(mode === "from_checkpoint" ? { checkpoint_id: String(data.get("checkpoint")) } : {}),
    ...(reason ? { reason } : {}),
    metadata: { executor: String(data.get("executor")) },
  };
}

/** One answer that may be replaced by another. */
class Override {
  /** @param {Answer} answer */
  constructor(answer) {
    this.answer = answer;
    this.offered = true;
    this.box = h("input", { type: "checkbox" });
    this.text = h("textarea", { rows: 4, class: "mono", "aria-label": `What ${answer.key} says instead, as JSON`, value: answer.known ? JSON.stringify(answer.value, null, 2) : "" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.editor = h("div", { class: "override-editor" },
      h("div", null, h("h3", null, "Recorded"), answer.known ? h("pre", { class: "value" }, pretty(answer.value)) : h("p", { class: "note" }, "This key may not see it.")),
      h("div", null, h("h3", null, "Instead"), this.text, this.problem));
    this.element = h("div", { class: "override" },
      h("label", null, this.box, " ", h("span", { class: "mono" }, answer.key), h("span", { class: "note" }, ` ${answer.kind}`)), this.editor);
    this.box.addEventListener("change", () => this.draw());
    this.text.addEventListener("input", () => this.check());
    this.draw();
  }

  isOn() {
    return this.offered && this.box.checked;
  }

  /** @param {boolean} offered */
  offer(offered) {
    this.offered = offered;
    this.box.disabled = !offered;
    this.draw();
  }

  draw() {
    this.editor.hidden = !this.isOn();
  }

  check() {
    try {
      parse(this.text.value);
      replace(this.problem);
    } catch (error) {
      replace(this.problem, error instanceof Error ? error.message : String(error));
    }
  }

  substitute() {
    try {
      return { kind: this.answer.kind, value: parse(this.text.value), visibility: "public" };
    } catch (error) {
      this.check();
      throw new Error(`${this.answer.key}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
