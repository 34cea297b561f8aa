// Verifying the chain in the browser: every header is hashed here and held against the one after it, and the last one
// against what the server signed.

import { get } from "../../api.js";
import { h, replace } from "../../dom.js";
import { count, things } from "../../format.js";
import { headerHash } from "../../proof.js";
import { commandBlock, facts, hash, panel } from "../../widgets.js";

const PAGE = 500;

/** @param {import("../../app.js").Context} context */
export async function showVerify({ root, signal }) {
  const bar = h("span");
  const progress = h("div", { class: "progress", role: "progressbar", "aria-label": "Commits checked", "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "0" }, bar);
  const told = h("p", { role: "status" }, "Every commit's header is fetched and hashed here; nothing is taken on trust from the server but the texts of the headers.");
  const button = h("button", { class: "primary", type: "button" }, "Verify the chain");
  button.addEventListener("click", async () => {
    button.disabled = true;
    await verify(told, progress, bar, signal).catch((error) => replace(told, String(error.message ?? error)));
    button.disabled = false;
  });
  const server = h("div");
  root.append(h("div", { class: "grid two" },
    panel("In this browser", told, progress, h("p", null, button)),
    panel("By the server, in the background", server)),
  panel("On the data itself", h("p", { class: "muted" }, "This reads the whole data directory, texts included, with or without a running server:"), commandBlock("quipu verify --data DIR")));
  const draw = async () => {
    const ready = await get("/readyz", { also: 503, signal });
    if (!ready.fields) {
      replace(server, h("p", null, `The server is ${ready.status}. Which Field stands where is told to the operator alone.`));
      return;
    }
    replace(server, ...ready.fields.map((/** @type {any} */ field) => facts([
      ["Field", field.name],
      ["Writes", field.ready ? h("span", { class: "status status-active" }, "accepted") : h("span", { class: "status status-failed" }, field.reason ?? "refused")],
      ["Old commits checked", field.background_check.of ? `${count(field.background_check.checked)} of ${count(field.background_check.of)}` : "none were older than the last snapshot"],
    ])));
  };
  await draw();
  const timer = setInterval(() => draw().catch(() => undefined), 2000);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** @param {HTMLElement} told @param {HTMLElement} progress @param {HTMLElement} bar @param {AbortSignal} signal */
async function verify(told, progress, bar, signal) {
  progress.classList.remove("bad");
  let [previous, from, checked] = ["0".repeat(64), /** @type {number | null} */ (1), 0];
  let head = { position: 0, hash: "" };
  while (from) {
    /** @type {{ commits: import("../../live.js").Commit[], head: any, next_from: number | null }} */
    const page = await get("/v1/log", { query: { from, limit: PAGE }, signal });
    head = page.head;
    for (const commit of page.commits) {
      const sound = commit.header.prev === previous && headerHash(commit.header) === commit.hash && commit.position === checked + 1;
      if (!sound) {
        progress.classList.add("bad");
        replace(told, h("span", { class: "status status-failed" }, "broken"), ` Commit ${commit.position} does not follow from the one before.`);
        return;
      }
      previous = commit.hash;
      checked += 1;
    }
    const percent = Math.round((checked / Math.max(1, head.position)) * 100);
    bar.style.width = `${percent}%`;
    progress.setAttribute("aria-valuenow", String(percent));
    replace(told, `${count(checked)} of ${things(head.position, "commit")}…`);
    from = page.next_from;
    // The page stays usable meanwhile.
    await new Promise((resolve) => setTimeout(resolve));
  }
  const [, size = "0", root = ""] = (await get("/v1/log/checkpoint", { as: "text", signal })).split("\n");
  bar.style.width = "100%";
  replace(told, h("span", { class: "status status-active" }, "whole"), ` ${things(checked, "commit")}, each one follows from the one before. The last is `, hash(previous, 16),
    `. The server signs a log of ${things(Number(size), "commit")} with root ${root.slice(0, 12)}….`);
}
