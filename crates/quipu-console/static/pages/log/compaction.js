// Compaction: what is no longer needed at hand is archived, summarized or purged. First it is shown what that would touch.

import { get, may, post, whoIsThis } from "../../api.js";
import { h, replace, said } from "../../dom.js";
import { begin, plain, size, things } from "../../format.js";
import { confirm, failure, panel, statusTag, typeTag, unitLink } from "../../widgets.js";
import { TYPES } from "../memory.js";

const STRATEGIES = /** @type {const} */ ([
  ["archive", 6, "left out of ATTUNE unless asked for; the texts stay"],
  ["summarize", 6, "units that say it in brief take their place"],
  ["purge", 10, "the texts are erased for good; a tombstone stays"],
]);
const SHOWN = 20;

/** @param {any} answer */
const survives = (answer) => (answer.fidelity ? `, ${Math.round(answer.fidelity.overall * 100)} % of what they name and answer survives` : "");

/** @param {import("../../app.js").Context} context */
export async function showCompaction({ root, signal }) {
  const { agents } = await get("/v1/agents", { signal });
  const me = whoIsThis();
  const own = me && me.agent !== "*" ? me.agent : null;
  const result = h("div", { role: "status" });
  if (agents.length === 0) {
    root.append(panel("Compaction", h("p", { class: "muted" }, "COMPACT is asked for by a registered agent, and none is registered.")));
    return;
  }
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {[string, string][]} */ options) => h("label", { class: "field" }, label, h("select", { name }, options.map(([value, text]) => h("option", { value }, text))));
  const allowed = STRATEGIES.filter(([, authority]) => may(authority));
  const form = h("form", { class: "filters" },
    select("strategy", "Strategy", allowed.map(([name, , what]) => [name, `${name}: ${what}`])),
    select("agent", "As agent", (own ? [own] : agents.map((/** @type {any} */ agent) => agent.id)).map((/** @type {string} */ id) => [id, id])),
    h("label", { class: "field" }, "Older than (epochs)", h("input", { name: "age", type: "number", min: "0", value: "100" })),
    select("type", "Type", [["", "any"], ...TYPES.map((type) => /** @type {[string, string]} */ ([type, plain(type)]))]),
    select("status", "Status", [["", "any"], ["superseded", "superseded"], ["retracted", "retracted"], ["active", "active"]]),
    h("label", { class: "field" }, "Session", h("input", { name: "session", placeholder: "any" })),
    h("button", { class: "primary", type: "submit" }, "Show what it would touch"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { body, agent } = read(form);
    try {
      const tried = await post("/v1/compact", { ...body, dry_run: true }, { agent, signal });
      await foresee(result, tried, body, agent, signal);
    } catch (error) {
      replace(result, failure(error));
    }
  });
  root.append(panel("Compaction", h("p", { class: "muted" }, "Nothing is done until you have seen what it would touch and said yes. No commit is ever deleted: the chain stays whole."), form), result);
}

/** @param {HTMLFormElement} form */
function read(form) {
  const data = new FormData(form);
  const value = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
  const filter = {
    ...(value("age") && { max_age_epochs: Number(value("age")) }), ...(value("session") && { session_id: value("session") }),
    ...(value("type") && { types: [value("type")] }), ...(value("status") && { status: [value("status")] }),
  };
  return { body: { strategy: value("strategy"), filter }, agent: value("agent") };
}

/**
 * @param {HTMLElement} result @param {any} tried
 * @param {{ strategy: string, filter: Record<string, unknown> }} body @param {string} agent @param {AbortSignal} signal
 */
async function foresee(result, tried, body, agent, signal) {
  const named = (tried.units ?? []).slice(0, SHOWN);
  const units = (await Promise.all(named.map((/** @type {string} */ id) => get(`/v1/units/${encodeURIComponent(id)}`, { signal }).catch(() => null)))).filter(Boolean);
  const rows = units.map((unit) => h("tr", null, h("td", null, typeTag(unit.type)), h("td", null, said(unit.content.slice(0, 160))), h("td", null, statusTag(unit.status)), h("td", null, unitLink(unit.id))));
  const more = tried.units_affected - units.length;
  const carryOut = async () => {
    const words = body.strategy === "purge" ? "Their texts are erased for good. This cannot be taken back." : "They are left out of ATTUNE unless asked for.";
    if (!(await confirm(`${begin(body.strategy)} ${things(tried.units_affected, "unit")}?`, h("p", null, words), `Yes, ${body.strategy}`))) return;
    try {
      const done = await post("/v1/compact", body, { agent, signal });
      const freed = done.storage_reclaimed_bytes === null ? "" : `, ${size(done.storage_reclaimed_bytes)} of text erased`;
      const briefs = done.synthesis_units_created ? `, ${things(done.synthesis_units_created, "summary", "summaries")} recorded` : "";
      replace(result, panel("Done", h("p", null, `${things(done.units_affected, "unit")} touched${briefs}${survives(done)}${freed}.`), ...(done.warnings ?? []).map((/** @type {string} */ warning) => h("p", { class: "muted" }, said(warning)))));
    } catch (error) {
      replace(result, failure(error));
    }
  };
  replace(result, panel(`It would ${body.strategy} ${things(tried.units_affected, "unit")}${survives(tried)}`,
    tried.units_affected === 0 ? h("p", { class: "muted" }, "No unit passes these filters.") : null,
    rows.length ? h("div", { class: "table-scroll" }, h("table", null, h("tbody", null, rows))) : null,
    ...(tried.syntheses ?? []).slice(0, SHOWN).map((/** @type {any} */ it) => h("pre", { class: "value" }, said(it.content))),
    more > 0 ? h("p", { class: "muted" }, `and ${things(more, "more unit")}`) : null,
    tried.units_affected > 0 ? h("p", null, h("button", { class: "danger", type: "button", onclick: carryOut }, `${begin(body.strategy)} them…`)) : null));
}
