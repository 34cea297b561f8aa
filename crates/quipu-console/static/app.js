// Begins: theme, navigation, sign-in, the live connection, and the page that the URL names.

import { ApiError, bus, identify, whoIsThis } from "./api.js";
import { h, replace } from "./dom.js";
import * as live from "./live.js";
import { drawNav, PAGES } from "./nav.js";
import { here } from "./router.js";
import { watchSignIn } from "./sign_in.js";
import * as theme from "./theme.js";
import { failure } from "./widgets.js";

/** @typedef {import("./router.js").Route} Route */
/**
 * @typedef {object} Context what a page is given
 * @property {HTMLElement} root where it draws
 * @property {HTMLElement} actions the place for buttons beside its title
 * @property {Route} route
 * @property {AbortSignal} signal aborts when the page is left
 * @property {(error: unknown) => void} fail shows an error in words, over the page
 */
/**
 * @typedef {object} Page
 * @property {string} title
 * @property {string} lead one sentence: what the page is for
 * @property {(context: Context) => void | Promise<void>} show
 */

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
/** @type {AbortController | null} */
let leaving = null;
let shown = "";

/** Draws the page of the present URL. */
async function show() {
  const route = here();
  leaving?.abort();
  const controller = new AbortController();
  leaving = controller;
  const entry = PAGES.find((page) => page.id === route.page) ?? PAGES[0];
  if (!entry) return;
  drawNav(entry.id);
  const root = h("div", { class: "page" });
  const actions = h("div", { class: "actions" });
  try {
    /** @type {{ page: Page }} */
    const { page } = await entry.load();
    if (controller.signal.aborted) return;
    document.title = `${page.title} · Quipu`;
    const lead = h("p", { class: "lead" }, page.lead);
    const head = h("header", { class: "page-head" }, h("div", null, h("h1", null, page.title), lead), actions);
    replace(main, head, root);
    if (shown && shown !== entry.id) main.focus({ preventScroll: true });
    shown = entry.id;
    const fail = (/** @type {unknown} */ error) => {
      if (controller.signal.aborted) return;
      replace(root, failure(error, show));
      // Whoever waits for a server that is gone need not press anything once it is back.
      if (error instanceof ApiError && error.status === 0) bus.addEventListener("reached", show, { once: true, signal: controller.signal });
    };
    await Promise.resolve(page.show({ root, actions, route, signal: controller.signal, fail })).catch(fail);
  } catch (error) {
    if (!controller.signal.aborted) replace(main, failure(error, show));
  }
}

/** @param {import("./live.js").State} state */
function tellState(state) {
  if (state === "gone") {
    const text = "The server does not answer. What you see may be old; this page catches up when it is back.";
    replace(notice, h("div", { class: "banner warn" }, h("span", { class: "spinner" }), text));
  } else {
    replace(notice);
  }
  drawNav(here().page);
}

/** @param {KeyboardEvent} event */
function shortcut(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target.matches("input, textarea, select, [contenteditable]")) return;
  const number = Number(event.key);
  const page = number >= 1 ? PAGES[number - 1] : undefined;
  if (page) location.hash = `#/${page.id}`;
  if (event.key === "/") {
    const search = /** @type {HTMLElement | null} */ (main.querySelector("input[type=search]"));
    if (search) event.preventDefault();
    search?.focus();
  }
}

async function begin() {
  theme.apply();
  drawNav(here().page);
  watchSignIn();
  addEventListener("hashchange", show);
  addEventListener("keydown", shortcut);
  for (;;) {
    try {
      await identify();
      break;
    } catch (error) {
      replace(main, failure(error));
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
  live.onState(tellState);
  let field = whoIsThis();
  bus.addEventListener("me", () => {
    // Another key may see other things; the URL, and so the page, stays.
    if (field !== whoIsThis()) show();
    field = whoIsThis();
  });
  await show();
}

begin();
