// Conflicts: an inbox for humans. What disagrees, why, what each way to settle it would do, and settling it.

import { may } from "../api.js";
import { findConflict, open, openConflicts, settledConflicts } from "../conflict/list.js";
import { effects, ending, settle, votes } from "../conflict/settle.js";
import { reason, sides } from "../conflict/sides.js";
import { h, replace } from "../dom.js";
import { follow } from "../following.js";
import { plain, things } from "../format.js";
import { href } from "../router.js";
import { curl, empty, failure, panel, statusTag } from "../widgets.js";

/** @typedef {import("../conflict/list.js").Conflict} Conflict */

/** @type {import("../app.js").Page} */
export const page = {
  title: "Conflicts",
  lead: "Where agents disagree. Compare the two units, see what each way to settle it would do, and decide.",
  async show({ root, route, signal }) {
    const [id] = route.args;
    const settled = route.query.get("show") === "settled";
    const inbox = h("nav", { class: "inbox", "aria-label": "Conflicts" });
    const detail = h("div", { class: "detail" });
    replace(root, tabs(settled), h("div", { class: "split" }, inbox, detail));
    const load = async () => {
      const found = settled ? await settledConflicts() : await openConflicts();
      if (signal.aborted) return;
      drawInbox(inbox, found, id ?? found[0]?.id, settled);
      return found;
    };
    const found = (await load()) ?? [];
    let known = found.length;
    follow(async () => {
      const next = await load();
      if (next && known === 0 && next.length > 0 && !id) drawFirst(detail, next, signal, settled);
      if (next) known = next.length;
    }, signal);
    if (id) await drawOne(detail, id, found, signal);
    else drawFirst(detail, found, signal, settled);
  },
};

/** @param {boolean} settled */
function tabs(settled) {
  const tab = (/** @type {string} */ text, /** @type {string} */ target, /** @type {boolean} */ current) =>
    h("a", { href: target, "aria-current": current ? "page" : null }, text);
  return h("div", { class: "tabs" }, tab("Waiting", href("conflicts"), !settled), may(4) ? tab("Settled", href("conflicts", [], { show: "settled" }), settled) : null);
}

/** @param {HTMLElement} inbox @param {Conflict[]} found @param {string | undefined} id @param {boolean} settled */
function drawInbox(inbox, found, id, settled) {
  const query = settled ? { show: "settled" } : {};
  replace(inbox, h("p", { class: "note" }, `${things(found.length, "conflict")} ${settled ? "settled" : "waiting"}`),
    h("ul", null, found.map((one) => h("li", null,
      h("a", { href: href("conflicts", [one.id], query), "aria-current": one.id === id ? "page" : null },
        h("span", { class: "ranked-head" }, statusTag(one.status), h("span", { class: "note" }, `${plain(one.type)}, ${one.detected_by}`)),
        h("bdi", { class: "inbox-text" }, one.description))))));
}

/** @param {HTMLElement} detail @param {Conflict[]} found @param {AbortSignal} signal @param {boolean} settled */
function drawFirst(detail, found, signal, settled) {
  const [first] = found;
  if (first) return void drawOne(detail, first.id, found, signal);
  const command = curl("/v1/record", {
    type: "finding", content: "14% a year", intent: { purpose: "Size the market" }, confidence: { score: 0.7, reasoning: "One report" },
    relations: [{ type: "contradicts", target_id: "mem-…" }],
  }, "ana");
  replace(detail, settled
    ? empty("Nothing was settled yet", "What people and agents settle is kept here, with the reason they gave.")
    : empty("Nobody disagrees", "A conflict appears here when the Field notices that two units disagree, or when an agent says so:", command));
}

/** @param {HTMLElement} detail @param {string} id @param {Conflict[]} found @param {AbortSignal} signal */
async function drawOne(detail, id, found, signal) {
  try {
    const conflict = found.find((one) => one.id === id) ?? (await findConflict(id));
    if (!conflict) return void replace(detail, failure(new Error("There is no such conflict, or this key may not see it.")));
    const known = await open(conflict);
    const cast = await votes(known).catch(() => null);
    if (signal.aborted) return;
    const winner = conflict.resolution?.winner_id ?? null;
    const units = h("div", null, sides(known, winner));
    const settling = h("div");
    replace(detail, panel("Why this is a conflict", reason(known)), units, ending(known), cast, settling);
    if (conflict.status === "resolved") return;
    replace(settling, panel("Settle it", settle(known, {
      foreseen: (prevails) => replace(units, sides(known, prevails)),
      settled: async (response) => {
        const after = await open(response.conflict).catch(() => ({ ...known, conflict: response.conflict }));
        replace(units, sides(after, response.conflict.resolution?.winner_id ?? null));
        const next = response.status === "resolved" ? null : h("button", { type: "button", onclick: () => drawOne(detail, id, [response.conflict], signal) }, "Go on");
        replace(settling, h("section", { class: "panel done", role: "status" }, effects(after, response, "did"), next));
      },
    })));
  } catch (error) {
    if (!signal.aborted) replace(detail, failure(error));
  }
}
