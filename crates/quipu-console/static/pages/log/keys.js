// Keys: who may come in, and how far. A secret is shown once, when its key is made.

import { call, get, post, whoIsThis } from "../../api.js";
import { h, replace, said } from "../../dom.js";
import { commandBlock, confirm, empty, failure, moment, panel, statusTag } from "../../widgets.js";

const LEVELS = [[0, "auditor"], [2, "observer"], [4, "agent"], [6, "senior agent"], [8, "session creator"], [10, "operator"]];

/** @param {import("../../app.js").Context} context */
export async function showKeys({ root, signal }) {
  const list = h("div", { class: "table-scroll" });
  const made = h("div", { role: "status" });
  const draw = (/** @type {any[]} */ keys) => replace(list, table(keys, async (key) => {
    const own = key.id === whoIsThis()?.key_id;
    const words = h("p", null, "What is sent with it is refused from then on. ", own ? h("strong", null, "It is the key that you are signed in with.") : "");
    if (!(await confirm(`Revoke the key of ${key.agent === "*" ? "any agent" : key.agent}?`, words, "Revoke"))) return;
    draw((await call("DELETE", `/v1/keys/${encodeURIComponent(key.id)}`, { signal })).keys);
  }));
  const form = createForm(async (body) => {
    const created = await post("/v1/keys", body, { signal });
    replace(made, panel("The new key", h("p", null, "Copy it now: it is stored nowhere and cannot be shown again."), commandBlock(created.secret)));
    draw((await get("/v1/keys", { signal })).keys);
  });
  root.append(panel("New key", form), made, panel("Keys", list));
  draw((await get("/v1/keys", { signal })).keys);
}

/** @param {any[]} keys @param {(key: any) => Promise<void>} revoke */
function table(keys, revoke) {
  if (keys.length === 0) {
    return empty("No key was ever made", "Under --dev nobody is asked for one. Without it, the first start prints the operator's key.", "quipu key create --agent ana --authority 4");
  }
  return h("table", null,
    h("thead", null, h("tr", null, ["Key", "Agent", "Authority", "Roles", "Field", "Label", "Made", ""].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", null, [...keys].reverse().map((key) => h("tr", null,
      h("td", { class: "mono" }, key.id), h("td", null, key.agent === "*" ? "any" : said(key.agent)), h("td", null, key.authority),
      h("td", null, key.roles.length > 0 ? said(key.roles.join(", ")) : ""),
      h("td", null, key.field ?? "any"), h("td", null, key.label ? said(key.label) : ""), h("td", { class: "nowrap" }, moment(key.created_at_ms)),
      h("td", null, key.revoked_at_ms ? statusTag("revoked") : h("button", { class: "danger", type: "button", onclick: () => revoke(key), "aria-label": `Revoke ${key.id}` }, "Revoke"))))));
}

/** @param {(body: unknown) => Promise<void>} create */
function createForm(create) {
  const problem = h("div");
  const text = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ hint) => h("label", { class: "field" }, label, h("input", { name, placeholder: hint }));
  const level = h("select", { name: "authority" }, LEVELS.map(([value, name]) => h("option", { value, selected: value === 4 }, `${value} · ${name}`)));
  const form = h("form", { class: "filters" },
    text("agent", "Agent", "any"), h("label", { class: "field" }, "Authority", level), text("roles", "Roles", "lead, reviewer"), text("field", "Field", "any"), text("label", "Label", "what it is for"),
    h("button", { class: "primary", type: "submit" }, "Make a key"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const value = (/** @type {string} */ name) => String(data.get(name) ?? "").trim() || undefined;
    try {
      const roles = (value("roles") ?? "").split(",").map((role) => role.trim()).filter((role) => role !== "");
      await create({ agent: value("agent"), authority: Number(data.get("authority")), roles, field: value("field"), label: value("label") });
      form.reset();
      replace(problem);
    } catch (error) {
      replace(problem, failure(error));
    }
  });
  return h("div", null, form, problem);
}
