// What a receipt says its Task rests on, held against what the server has: each digest is computed here.

import { get } from "../api.js";
import { digest } from "../sha256.js";
import { valuesByKey } from "../task/read.js";
import { canonical } from "./canon.js";

/** @typedef {import("./verify.js").Step} Step */

/**
 * @param {any} receipt
 * @param {any} whole the Task as one document, where the key may have it
 * @returns {Promise<Step[]>}
 */
export async function materialSteps(receipt, whole) {
  const values = valuesByKey(whole);
  /** @type {any[]} */
  const materials = receipt.replay_input?.materials ?? [];
  return Promise.all(materials.map((material) => materialStep(material, values)));
}

/** @param {any} material @param {Map<string, unknown>} values @returns {Promise<Step>} */
async function materialStep(material, values) {
  const name = material.id ?? material.kind;
  const step = { name: `material-${name}`, title: `${material.kind === "event_log" ? "Its log of events" : name} is the one it names` };
  const found = await contentOf(material, values).catch(() => null);
  if (found === null || !material.sha256) return { ...step, state: "open", detail: "Its content is not at hand here, so its digest is not checked." };
  const own = digest(found);
  if (own === material.sha256) return { ...step, state: "good", detail: `SHA-256, computed here: ${own}` };
  return { ...step, state: "bad", detail: `${material.sha256} is written in the receipt; what the server has is ${own}` };
}

/** @param {any} material @param {Map<string, unknown>} values @returns {Promise<string | null>} */
async function contentOf(material, values) {
  if (values.has(material.id)) return canonical(/** @type {import("./canon.js").Json} */ (values.get(material.id)));
  const artifact = /^artifact:\/\/(.+)$/.exec(material.uri ?? "")?.[1];
  return artifact ? get(`/v1/artifacts/${encodeURIComponent(artifact)}/content`, { as: "text" }) : null;
}
