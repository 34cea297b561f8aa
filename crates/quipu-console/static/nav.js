// The navigation on the left: the pages, the Field, who is signed in, and whether the server is there.

import { bus, chooseField, field, get, may, signOut, whoIsThis } from "./api.js";
import { h, replace, s } from "./dom.js";
import { onState } from "./live.js";
import * as theme from "./theme.js";
import { confirm } from "./widgets.js";

/**
 * @typedef {object} Entry
 * @property {string} id
 * @property {string} name
 * @property {string} icon the path of its drawing, 20 by 20
 * @property {number} authority below it, the page is not offered
 * @property {() => Promise<{ page: import("./app.js").Page }>} load
 */

/** @type {Entry[]} */
export const PAGES = [
  {
    id: "overview", name: "Overview", authority: 0, load: () => import("./pages/overview.js"),
    icon: "M3 3h6v8H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 13h6v4H3z",
  },
  {
    id: "memory", name: "Memory", authority: 2, load: () => import("./pages/memory.js"),
    icon: "M4 4h12M4 8h12M4 12h8M4 16h5",
  },
  {
    id: "attune", name: "Attune", authority: 2, load: () => import("./pages/attune.js"),
    icon: "M10 10m-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0M10 10m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0M10 1v3M10 16v3M1 10h3M16 10h3",
  },
  {
    id: "conflicts", name: "Conflicts", authority: 2, load: () => import("./pages/conflicts.js"),
    icon: "M3 5h5l4 10h5M3 15h5l1.5-3.7M12.2 8.7L14 5h3M15 3l2 2-2 2M15 13l2 2-2 2",
  },
  {
    id: "replay", name: "Replay", authority: 2, load: () => import("./pages/replay.js"),
    icon: "M4 10a6 6 0 1 0 2-4.5M3 3v4h4M10 7v3.5l2.5 1.5",
  },
  {
    id: "tasks", name: "Tasks", authority: 2, load: () => import("./pages/tasks.js"),
    icon: "M3 5l1.5 1.5L7 4M3 10l1.5 1.5L7 9M3 15l1.5 1.5L7 14M10 5h7M10 10h7M10 15h7",
  },
  {
    id: "log", name: "Log & operations", authority: 0, load: () => import("./pages/log.js"),
    icon: "M10 2v3M10 8v3M10 14v4M10 5m-1.5 1.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0M8.5 12.5a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0",
  },
];

const WORDS = { connecting: "connecting", live: "live", gone: "server gone" };

/** @type {import("./live.js").State} */
let connection = "connecting";
/** @type {string[]} */
let fields = [];
let drawn = "overview";

/** @param {string} page the page that is shown */
export function drawNav(page) {
  drawn = page;
  const nav = /** @type {HTMLElement} */ (document.getElementById("nav"));
  const me = whoIsThis();
  const pages = PAGES.filter((entry) => me === null || may(entry.authority));
  replace(nav,
    h("a", { class: "brand", href: "#/overview" }, h("img", { src: "/console/icon.svg", alt: "", width: 26, height: 26 }), "Quipu"),
    h("ul", { class: "pages" }, pages.map((entry) => item(entry, page))),
    h("div", { class: "nav-foot" },
      h("p", { class: `connection ${connection}`, title: "The connection to the server" }, h("span", { class: "dot" }), WORDS[connection]),
      me && fieldChoice(me),
      me && identity(me),
      h("button", { class: "quiet", type: "button", onclick: theme.toggle }, "Light / dark")));
}

/** @param {Entry} entry @param {string} page */
function item(entry, page) {
  const icon = s("svg", { viewBox: "0 0 20 20", class: "icon", "aria-hidden": "true" }, s("path", { d: entry.icon }));
  const key = h("kbd", { "aria-hidden": "true" }, String(PAGES.indexOf(entry) + 1));
  const current = entry.id === page ? "page" : null;
  return h("li", null, h("a", { href: `#/${entry.id}`, "aria-current": current }, icon, h("span", null, entry.name), key));
}

/** @param {import("./api.js").Me} me */
function fieldChoice(me) {
  if (me.field) return h("p", { class: "who" }, "Field ", h("strong", null, me.field));
  const chosen = field() || "default";
  const names = [...new Set(["default", ...fields, chosen])];
  const change = async (/** @type {Event} */ event) => {
    const name = /** @type {HTMLSelectElement} */ (event.target).value || (await askField());
    if (name) chooseField(name);
    else drawNav(drawn);
  };
  const options = names.map((name) => h("option", { value: name, selected: name === chosen }, name));
  options.push(h("option", { value: "" }, "another…"));
  return h("label", { class: "field-choice" }, "Field", h("select", { onchange: change }, options));
}

/** A Field that nobody has asked for since the start is not listed, but can be named. @returns {Promise<string>} */
async function askField() {
  const input = h("input", { name: "field", pattern: "[a-z0-9][a-z0-9_\\-]{0,62}", required: true, autocomplete: "off" });
  const words = h("label", { class: "field" }, "Its name", input);
  return (await confirm("Another Field", words, "Go there", "primary")) ? input.value : "";
}

/** @param {import("./api.js").Me} me */
function identity(me) {
  if (me.dev) return h("p", { class: "who" }, "no keys needed (", h("code", null, "--dev"), ")");
  const name = me.agent === "*" ? "any agent" : me.agent;
  return h("p", { class: "who" },
    h("span", { title: `key ${me.key_id}` }, name), `, authority ${me.authority} `,
    h("button", { class: "link", type: "button", onclick: signOut }, "sign out"));
}

onState((state) => {
  connection = state;
  drawNav(drawn);
});

bus.addEventListener("me", async () => {
  drawNav(drawn);
  try {
    const ready = await get("/readyz", { also: 503 });
    fields = (ready.fields ?? []).map((/** @type {{ name: string }} */ entry) => entry.name);
    drawNav(drawn);
  } catch {
    // Without the list there is still the default Field.
  }
});
