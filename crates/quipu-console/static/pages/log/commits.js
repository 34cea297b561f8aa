// The commits, newest on top and live, and one of them in full.

import { get } from "../../api.js";
import { tellCommit } from "../../commits.js";
import { h, replace, said } from "../../dom.js";
import { short, things, when } from "../../format.js";
import { onNews } from "../../live.js";
import { Paged } from "../../paged.js";
import { headerHash } from "../../proof.js";
import { go, href } from "../../router.js";
import { VirtualList } from "../../virtual.js";
import { curl, empty, facts, hash, moment, panel } from "../../widgets.js";

/** @typedef {import("../../live.js").Commit} Commit */

/** @param {import("../../app.js").Context} context */
export async function showCommits({ root, signal, fail }) {
  const summary = h("p", { class: "muted small", role: "status" });
  const place = h("div", { class: "page" });
  let total = 0;
  /** @type {Paged<Commit>} */
  const paged = new Paged(
    async (skip, limit, aborted) => (await get("/v1/log", { query: { from: skip + 1, limit }, signal: aborted })).commits,
    () => stream.refresh(), fail);
  const stream = new VirtualList({
    label: "Commits",
    rowHeight: 38,
    fill: (row, index) => fillRow(row, paged.at(total - 1 - index)),
    open: (index) => go("log", [String(total - index)]),
    inView: (first, last) => {
      if (total > 0) paged.want(Math.max(0, total - last), Math.max(1, total - first));
    },
  });
  const grow = (/** @type {number} */ position, /** @type {Commit[]} */ added = []) => {
    if (position <= total) return;
    const next = added.filter((commit) => commit.position > total);
    paged.forget(total, position - next.length);
    paged.add(position - next.length, next);
    const more = position - total;
    const first = total === 0;
    total = position;
    replace(summary, `${things(total, "commit")}, as they land`);
    if (first) replace(place, stream.element);
    stream.shift(more);
  };
  root.append(summary, place);
  const { head } = await get("/v1/log", { query: { limit: 1 }, signal });
  if (head.position === 0) {
    replace(place, empty("The log is empty", "The first operation is the first commit.", curl("/v1/register", { id: "ana", role: "researcher" })));
  }
  grow(head.position);
  onNews((news) => grow(news.behind ? (news.commits.at(-1)?.position ?? 0) : news.head.position, news.commits), signal);
}

/** @param {HTMLElement} row @param {Commit | undefined} commit */
function fillRow(row, commit) {
  if (!commit) {
    replace(row, h("div", { class: "commit-row" }, h("span", { class: "muted" }, "…")));
    return;
  }
  const { header } = commit;
  replace(row, h("div", { class: "commit-row" },
    h("span", { class: "mono" }, `#${commit.position}`),
    h("span", { class: "muted small" }, `epoch ${header.epoch}`),
    h("span", { class: "clip" }, tellCommit(commit)),
    h("span", { class: "clip muted small" }, header.session ? said(header.session) : ""),
    h("span", { class: "mono muted" }, short(commit.hash, 14)),
    h("span", { class: "muted small" }, moment(header.time_ms))));
}

/** @param {import("../../app.js").Context} context @param {number} position */
export async function showCommit({ root, signal }, position) {
  const { commits, head } = await get("/v1/log", { query: { from: position, limit: 1 }, signal });
  const commit = commits[0];
  if (!commit) {
    root.append(empty("No such commit", `The log ends at commit ${head.position}.`));
    return;
  }
  const { header } = commit;
  const computed = headerHash(header);
  const step = (/** @type {number} */ to, /** @type {string} */ name) => (to >= 1 && to <= head.position ? h("a", { href: href("log", [String(to)]) }, name) : h("span", { class: "muted" }, name));
  root.append(
    h("p", null, step(position - 1, "← earlier"), "  ·  ", step(position + 1, "later →")),
    h("div", { class: "grid two" },
      panel(`Commit ${position}`, facts([
        ["What", tellCommit(commit)],
        ["When", when(header.time_ms)],
        ["Epoch", header.epoch],
        ["Session", header.session && said(header.session)],
        ["Request", header.request && h("code", null, header.request)],
        ["Hash", hash(commit.hash, 24)],
        ["Before it", hash(header.prev, 24)],
        ["Checked here", h("span", { class: `status status-${computed === commit.hash ? "active" : "failed"}` }, computed === commit.hash ? "the header has this hash" : "the header has another hash")],
      ])),
      panel("Header", h("pre", { tabindex: "0" }, JSON.stringify(header, null, 2)))));
}
