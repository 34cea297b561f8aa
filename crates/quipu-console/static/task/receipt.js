// A receipt, checked here in the browser step by step: of a Task, or one that somebody brings along.

import { get } from "../api.js";
import { h, replace } from "../dom.js";
import { materialSteps } from "../receipt/materials.js";
import { readKey } from "../receipt/signature.js";
import { parse } from "../receipt/strict.js";
import { preimage, verify } from "../receipt/verify.js";
import { digest } from "../sha256.js";
import { agentLink, commandBlock, facts, hash, moment, panel, statusTag } from "../widgets.js";
import { crumbs } from "./detail.js";
import { exported, path, readTask } from "./read.js";

/** @typedef {import("../receipt/verify.js").Step} Step */
/** @typedef {import("../receipt/signature.js").TrustedKey} TrustedKey */

const TRUSTED = "quipu.trusted_receipt_keys";
const MARKS = { good: "✓", bad: "✗", open: "–" };
const WORDS = { good: "holds", bad: "does not hold", open: "not checked" };
const RECEIPTS_BEFORE = 30;

/** @param {HTMLElement} root @param {string} id @param {AbortSignal} signal */
export async function receiptOfTask(root, id, signal) {
  const task = await readTask(id);
  if (!task.receipt_id) return void replace(root, crumbs(task), h("p", { class: "note" }, "This Task has no receipt yet. It gets one when it ends."));
  const text = await get(`/v1/receipts/${encodeURIComponent(task.receipt_id)}`, { as: "text", headers: { Accept: "application/vnd.harn.receipt+json" } });
  const [keys, previous, whole] = await Promise.all([serverKeys(), receiptBefore(task, parse(text)), exported(id)]);
  if (signal.aborted) return;
  const body = h("div", { class: "detail" });
  const check = async () => {
    const receipt = parse(text);
    const verdict = await verify(receipt, { keys: [...keys, ...ownKeys()], taskId: id, ...(previous === undefined ? {} : { previous }) });
    const steps = [...verdict.steps, ...(await materialSteps(receipt, whole))];
    if (!signal.aborted) replace(body, shown(receipt, steps), trust(keys, check), raw(text));
  };
  replace(root, crumbs(task), body);
  body.setAttribute("role", "status");
  await check();
}

/** A receipt from anywhere. @param {HTMLElement} root */
export function receiptFromAnywhere(root) {
  const result = h("div", { class: "detail", "aria-live": "polite" });
  const text = h("textarea", { rows: 10, class: "mono", "aria-label": "The receipt as JSON", placeholder: "Paste a receipt, or the resource that has it in wire.payload" });
  const file = h("input", { type: "file", accept: ".json,application/json", "aria-label": "A file with a receipt" });
  const check = async () => {
    try {
      const read = /** @type {any} */ (parse(text.value));
      const receipt = read?.object === "receipt" && read.wire ? read.wire.payload : read;
      const keys = await serverKeys().catch(() => []);
      const verdict = await verify(receipt, { keys: [...keys, ...ownKeys()] });
      replace(result, shown(receipt, verdict.steps), trust(keys, check));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      replace(result, stepList([{ name: "json", title: "It is JSON", state: "bad", detail }]));
    }
  };
  file.addEventListener("change", async () => {
    text.value = (await file.files?.[0]?.text()) ?? "";
    await check();
  });
  replace(root, panel("Check any receipt", h("p", { class: "note" }, "Nothing is sent anywhere: the check runs in this page."), text,
    h("div", { class: "filters" }, file, h("button", { class: "primary", type: "button", onclick: check }, "Check it"))), result);
}

/** @returns {Promise<TrustedKey[]>} the keys that this server shows */
async function serverKeys() {
  const card = await get("/v1/agent-card");
  return card.metadata?.receipt_keys ?? [];
}

/** @returns {TrustedKey[]} */
function ownKeys() {
  return (sessionStorage.getItem(TRUSTED) ?? "").split("\n").map(readKey).filter((key) => key !== null);
}

/**
 * The hash of the receipt before: of a replay its source's, else the Session's before it. Nothing where it cannot be known.
 * @param {any} task
 * @param {any} receipt
 * @returns {Promise<string | null | undefined>}
 */
async function receiptBefore(task, receipt) {
  const named = receipt?.chain?.previous_receipt_hash ?? null;
  if (task.parent_task_id) return hashOf(task.parent_task_id).catch(() => undefined);
  const { data } = await get("/v1/tasks", { query: { session_id: task.session_id, limit: 200 } });
  const earlier = data.filter((/** @type {any} */ one) => one.id !== task.id && one.receipt_id && !one.parent_task_id && one.updated_at <= task.updated_at)
    .sort((/** @type {any} */ x, /** @type {any} */ y) => y.updated_at.localeCompare(x.updated_at));
  if (earlier.length === 0) return named === null ? null : undefined;
  for (const one of earlier.slice(0, RECEIPTS_BEFORE)) if ((await hashOf(one.id).catch(() => null)) === named) return named;
  // It may be the receipt of a Task that this key does not see.
  return undefined;
}

/** The hash of a Task's receipt, computed here. @param {string} id */
async function hashOf(id) {
  const { data } = await get(`${path(id)}/receipts`);
  return digest(preimage(data.at(-1).wire.payload));
}

/** @param {Step[]} steps */
function stepList(steps) {
  return h("ol", { class: "steps checks" }, steps.map((step) => h("li", { class: step.state === "open" ? "skipped" : step.state, dataset: { step: step.name, state: step.state } },
    h("span", { class: "mark", "aria-hidden": "true" }, MARKS[step.state]),
    h("div", null, h("strong", null, step.title), h("span", { class: "note" }, ` ${WORDS[step.state]}`), h("p", { class: "note step-detail" }, step.detail)))));
}

/** @param {any} receipt @param {Step[]} steps */
function shown(receipt, steps) {
  const bad = steps.filter((step) => step.state === "bad").length;
  const open = steps.filter((step) => step.state === "open").length;
  const word = bad > 0 ? "This receipt does not hold" : "This receipt holds";
  const rest = open > 0 ? ` ${open} of ${steps.length} steps could not be checked here.` : " Every step was checked in this browser, and the server was not asked for its opinion.";
  return h("div", { class: "grid two" },
    h("section", { class: bad > 0 ? "panel verdict diverged" : "panel verdict same" }, h("h2", null, word), h("p", { class: "note" }, bad > 0 ? `${bad} of ${steps.length} steps do not hold.` : rest.trim()), stepList(steps)),
    panel("What it says", says(receipt)));
}

/** @param {any} receipt */
function says(receipt) {
  const value = (/** @type {any} */ text) => (typeof text === "string" ? text : null);
  const deltas = Array.isArray(receipt?.deltas) ? receipt.deltas : [];
  return facts([
    ["Receipt", value(receipt?.receipt_id)],
    ["Of", [value(receipt?.subject?.object), " ", value(receipt?.subject?.id)]],
    ["Ended", value(receipt?.lifecycle?.final_state) && statusTag(receipt.lifecycle.final_state)],
    ["Issued", value(receipt?.issued_at) && [moment(receipt.issued_at), ` by ${receipt.issuer?.name ?? receipt.issuer?.id}`]],
    ["Agent", value(receipt?.metadata?.agent_id) && agentLink(receipt.metadata.agent_id)],
    ["Determinism", value(receipt?.replay_input?.determinism)?.replaceAll("_", " ")],
    ["Rests on", receipt?.replay_input?.materials?.map?.((/** @type {any} */ material) => h("div", null, h("span", { class: "mono" }, material.id ?? material.kind), " ", material.sha256 ? hash(material.sha256, 18) : null))],
    ["Changed", deltas.length > 0 ? deltas.map((/** @type {any} */ delta) => h("div", null, h("strong", null, `${delta.operation} `), h("span", { class: "mono" }, delta.override_key ?? delta.path), delta.reason ? [": ", h("bdi", null, delta.reason)] : null)) : null],
    ["Withheld", receipt?.redactions?.length > 0 ? receipt.redactions.map((/** @type {any} */ one) => h("div", null, `${one.field}: ${one.reason}`)) : null],
    ["Hash", value(receipt?.chain?.receipt_hash) && hash(receipt.chain.receipt_hash, 28)],
    ["Follows", value(receipt?.chain?.previous_receipt_hash) ? hash(receipt.chain.previous_receipt_hash, 28) : "nothing"],
  ]);
}

/** Which keys are trusted, and a place for one's own. @param {TrustedKey[]} keys @param {() => void} check */
function trust(keys, check) {
  const input = h("input", { class: "mono", "aria-label": "A key of your own", placeholder: "KEY_ID=BASE64" });
  const problem = h("p", { class: "problem", role: "alert" });
  const add = (/** @type {Event} */ event) => {
    event.preventDefault();
    const key = readKey(input.value);
    if (!key) return void replace(problem, "A key is written KEY_ID=BASE64, with 32 bytes in base64.");
    sessionStorage.setItem(TRUSTED, [sessionStorage.getItem(TRUSTED) ?? "", input.value.trim()].filter(Boolean).join("\n"));
    check();
  };
  const row = (/** @type {TrustedKey} */ key, /** @type {string} */ whence) => h("li", null, h("span", { class: "mono" }, key.key_id), h("span", { class: "note" }, ` ${whence} `), hash(key.public_key, 16));
  return panel("Whom to trust", h("p", { class: "note" }, "The keys that this server shows vouch for themselves only to somebody who knows them. If you were given a key in another way, add it."),
    h("ul", { class: "linked" }, keys.map((key) => row(key, "shown by this server")), ownKeys().map((key) => row(key, "yours"))),
    h("form", { class: "filters", onsubmit: add }, input, h("button", { type: "submit" }, "Trust this key")), problem);
}

/** @param {string} text */
function raw(text) {
  return panel("Check it elsewhere", commandBlock("quipu receipt verify receipt.json"),
    h("details", null, h("summary", null, "The receipt as it was received"), h("pre", { class: "value raw" }, text)));
}
