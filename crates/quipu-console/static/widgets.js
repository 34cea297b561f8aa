// What several pages show alike: types, statuses, agents, hashes, empty places, errors, long texts.

import { ApiError, whoIsThis } from "./api.js";
import { h, replace, said } from "./dom.js";
import { ago, count, plain, short, size, when } from "./format.js";
import { href } from "./router.js";

/** @typedef {import("./dom.js").Child} Child */

/** @param {string} type of a unit */
export const typeTag = (type) => h("span", { class: `type type-${type}` }, plain(type));

/** @param {string} status of a unit, a conflict, a task, an agent */
export const statusTag = (status) => h("span", { class: `status status-${status.toLowerCase()}` }, plain(status.toLowerCase()));

/** @param {string} id */
export const agentLink = (id) => h("a", { class: "agent", href: href("memory", [], { agent: id }) }, said(id));

/** @param {string} id @param {Child} [text] */
export const unitLink = (id, text) => h("a", { class: "mono", href: href("memory", [id]) }, text ?? short(id, 14));

/** A moment: how long ago, with the exact time as its title. @param {number | string} time */
export function moment(time) {
  const date = new Date(time);
  return h("time", { datetime: Number.isNaN(date.getTime()) ? null : date.toISOString(), title: when(time) }, ago(time));
}

/** A hash that can be copied whole. @param {string} text @param {number} [length] */
export function hash(text, length = 12) {
  const button = h("button", { class: "hash mono", type: "button", title: `${text}\nClick to copy` }, short(text, length));
  button.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(text).catch(() => undefined);
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 900);
  });
  return button;
}

/** @param {number | null | undefined} score */
export function confidence(score) {
  if (score === null || score === undefined) return h("span", { class: "muted" }, "–");
  const meter = h("span", { class: "meter", "aria-hidden": "true" }, h("span", { style: { width: `${Math.round(score * 100)}%` } }));
  return h("span", { class: "confidence", title: "The author's confidence" }, meter, score.toFixed(2));
}

/**
 * A place with nothing in it: what would be here, and the command that puts something here.
 * @param {string} title
 * @param {string} text
 * @param {string} [command]
 */
export function empty(title, text, command) {
  return h("div", { class: "empty" }, h("h2", null, title), h("p", null, text), command ? commandBlock(command) : null);
}

/** A command to copy. @param {string} command */
export function commandBlock(command) {
  const button = h("button", { class: "quiet copy", type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(command).catch(() => undefined);
    replace(button, "Copied");
  });
  return h("div", { class: "command" }, h("pre", { tabindex: "0" }, command), button);
}

/** A curl line for this server. @param {string} path @param {unknown} [body] @param {string} [agent] */
export function curl(path, body, agent) {
  const key = whoIsThis()?.dev ? "" : ' -H "Authorization: Bearer $QUIPU_KEY"';
  const lines = [`curl -s ${location.origin}${path}${key}`];
  if (agent) lines.push(`  -H 'Akashik-Agent: ${agent}'`);
  if (body !== undefined) lines.push(`  --json '${JSON.stringify(body)}'`);
  return lines.join(" \\\n");
}

/**
 * What went wrong, in words.
 * @param {unknown} error
 * @param {() => void} [again]
 */
export function failure(error, again) {
  const known = error instanceof ApiError;
  const message = error instanceof Error ? error.message : String(error);
  const button = again && h("button", { type: "button", onclick: () => again() }, "Try again");
  return h("div", { class: "failure", role: "alert" },
    h("h2", null, known && error.status === 403 ? "This key may not do that" : known && error.status === 404 ? "Not found" : "That did not work"),
    h("p", null, said(message)),
    known && error.action ? h("p", { class: "muted" }, said(error.action)) : null,
    known && error.code ? h("p", { class: "muted small" }, h("code", null, error.code)) : null,
    button);
}

const SHOWN_AT_FIRST = 20_000;

/** A text of somebody else in full; of a very long one the beginning, and the rest when asked. @param {string} text */
export function prose(text) {
  const block = h("div", { class: "prose", dir: "auto" });
  if (text.length <= SHOWN_AT_FIRST) {
    block.textContent = text;
    return block;
  }
  block.textContent = text.slice(0, SHOWN_AT_FIRST);
  const rest = h("button", { type: "button" }, `Show all of it (${size(new Blob([text]).size)})`);
  rest.addEventListener("click", () => {
    block.textContent = text;
    rest.remove();
  });
  return h("div", null, block, rest);
}

/**
 * A titled part of a page.
 * @param {string} title
 * @param {...(Child | Child[])} children
 */
export const panel = (title, ...children) => h("section", { class: "panel" }, h("h2", null, title), ...children);

/** A number with its name. @param {string} name @param {number | string} value @param {Child} [more] */
export function figure(name, value, more) {
  const text = typeof value === "number" ? count(value) : value;
  return h("div", { class: "figure" }, h("span", { class: "figure-name" }, name), h("strong", null, text), more);
}

/**
 * Names and values, one below the other.
 * @param {[string, Child | Child[]][]} pairs a pair without a value is left out
 */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, shown.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, ...[value].flat())]));
}

/**
 * Asks before something that matters; unless told otherwise it is something that cannot be taken back.
 * @param {string} title
 * @param {Child} content
 * @param {string} yes
 * @param {"danger" | "primary"} [kind]
 * @returns {Promise<boolean>}
 */
export function confirm(title, content, yes, kind = "danger") {
  return new Promise((resolve) => {
    const answer = (/** @type {boolean} */ value) => {
      dialog.remove();
      resolve(value);
    };
    const dialog = h("dialog", { "aria-label": title }, h("form", {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        answer(true);
      },
    }, h("h2", null, title), content, h("div", { class: "buttons" },
      h("button", { type: "button", onclick: () => answer(false) }, "Cancel"),
      h("button", { class: kind, type: "submit" }, yes))));
    dialog.addEventListener("cancel", () => answer(false));
    document.body.append(dialog);
    dialog.showModal();
  });
}
