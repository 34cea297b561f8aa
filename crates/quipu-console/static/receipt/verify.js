// Checks a receipt step by step, here in the browser: nothing is taken from the server's word, and nothing is trusted
// because it is written in the receipt.

import { digest } from "../sha256.js";
import { canonical } from "./canon.js";
import { breaches } from "./schema.js";
import { signed } from "./signature.js";

/** @typedef {import("./canon.js").Json} Json */
/** @typedef {"good" | "bad" | "open"} State `open`: there was nothing to check it against */
/** @typedef {{ name: string, title: string, state: State, detail: string }} Step */
/**
 * @typedef {object} Trusted what the one who checks brings along
 * @property {import("./signature.js").TrustedKey[]} [keys] whose signatures count
 * @property {string | null} [previous] the hash of the receipt before; null if it must be the first
 * @property {string} [taskId] the Task that it must be of
 */
/** @typedef {{ steps: Step[], hash: string | null, valid: boolean }} Verdict */

/** @param {Json} value @param {...string} names @returns {Json | undefined} */
function at(value, ...names) {
  /** @type {Json | undefined} */
  let found = value;
  for (const name of names) {
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    found = found[name];
  }
  return found;
}

/** @param {Json | undefined} value */
const text = (value) => (typeof value === "string" ? value : "nothing");

/** What the hash is of: everything but the hash itself and the signatures. @param {Json} receipt @returns {string} */
export function preimage(receipt) {
  if (typeof receipt !== "object" || receipt === null || Array.isArray(receipt)) throw new Error("a receipt must be an object");
  const { signatures: _, chain, ...rest } = receipt;
  if (typeof chain !== "object" || chain === null || Array.isArray(chain)) {
    return canonical(chain === undefined ? rest : { ...rest, chain });
  }
  const { receipt_hash: __, ...links } = chain;
  return canonical({ ...rest, chain: links });
}

/** @param {Json} receipt @param {Trusted} [trusted] @returns {Promise<Verdict>} */
export async function verify(receipt, trusted = {}) {
  const steps = [schemaStep(receipt)];
  const { hash, step } = canonicalStep(receipt);
  steps.push(step);
  if (hash) steps.push(hashStep(receipt, hash));
  if (trusted.taskId !== undefined) steps.push(subjectStep(receipt, trusted.taskId));
  steps.push(chainStep(receipt, trusted.previous));
  if (hash) steps.push(...(await signatureSteps(receipt, hash, trusted.keys ?? [])));
  return { steps, hash, valid: steps.every((one) => one.state !== "bad") };
}

/** @param {Json} receipt @returns {Step} */
function schemaStep(receipt) {
  const found = breaches(receipt);
  const [first] = found;
  const rest = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
  return {
    name: "schema", title: "It has the form of a receipt", state: first ? "bad" : "good",
    detail: first ? `${first.path || "the receipt"} ${first.problem}${rest}` : "Every member is known and well formed (receipt-2026-04-25).",
  };
}

/** @param {Json} receipt @returns {{ hash: string | null, step: Step }} */
function canonicalStep(receipt) {
  const title = "It has a canonical form";
  try {
    const bytes = new TextEncoder().encode(preimage(receipt));
    const detail = `${bytes.length.toLocaleString("en")} bytes of canonical JSON (RFC 8785), made here from what was received.`;
    return { hash: digest(bytes), step: { name: "canonical", title, state: "good", detail } };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { hash: null, step: { name: "canonical", title, state: "bad", detail } };
  }
}

/** @param {Json} receipt @param {string} hash @returns {Step} */
function hashStep(receipt, hash) {
  const stored = text(at(receipt, "chain", "receipt_hash"));
  const same = stored === hash;
  return {
    name: "hash", title: "It was not altered since it was sealed", state: same ? "good" : "bad",
    detail: same ? `SHA-256, computed here: ${hash}` : `${stored} is written in it; computed here it is ${hash}`,
  };
}

/** @param {Json} receipt @param {string} taskId @returns {Step} */
function subjectStep(receipt, taskId) {
  const stored = text(at(receipt, "identifiers", "task_id"));
  const same = stored === taskId;
  return {
    name: "subject", title: "It is of this Task", state: same ? "good" : "bad",
    detail: same ? taskId : `It is of ${stored}, not of ${taskId}.`,
  };
}

/** @param {Json} receipt @param {string | null | undefined} expected @returns {Step} */
function chainStep(receipt, expected) {
  const stored = at(receipt, "chain", "previous_receipt_hash") ?? null;
  const step = { name: "chain", title: "It follows the receipt before it" };
  if (expected === undefined) {
    return { ...step, state: "open", detail: "The receipt before it is not at hand, so its place in the chain is not checked." };
  }
  if (stored === expected) {
    return { ...step, state: "good", detail: expected ?? "It is the first of its Session; nothing comes before it." };
  }
  return { ...step, state: "bad", detail: `The receipt names ${text(stored)} as the one before it, but that is ${expected ?? "nothing"}.` };
}

/** @param {Json} receipt @param {string} hash @param {import("./signature.js").TrustedKey[]} keys @returns {Promise<Step[]>} */
async function signatureSteps(receipt, hash, keys) {
  const all = at(receipt, "signatures");
  const listed = Array.isArray(all) ? all : [];
  const steps = await Promise.all(listed.map((entry, index) => signatureStep(entry, index, hash, keys)));
  if (keys.length > 0 && !steps.some((step) => step.state === "good" || step.name.endsWith("untold"))) {
    const detail = "None of the trusted keys signed it.";
    steps.push({ name: "unsigned", title: "A trusted key signed it", state: "bad", detail });
  }
  if (keys.length === 0) {
    const detail = "No key is trusted yet, so this proves that the receipt is whole, not who made it.";
    steps.push({ name: "unsigned", title: "A trusted key signed it", state: "open", detail });
  }
  return steps;
}

/** @param {Json} entry @param {number} index @param {string} hash @param {import("./signature.js").TrustedKey[]} keys @returns {Promise<Step>} */
async function signatureStep(entry, index, hash, keys) {
  const keyId = text(at(entry, "key_id"));
  const step = { name: `signature-${index}`, title: `${keyId} signed it` };
  const named = keys.filter((key) => key.key_id === keyId);
  if (named.length === 0) return { ...step, state: "open", detail: "This key is not trusted here; its signature proves nothing." };
  if (at(entry, "algorithm") !== "ed25519") return { ...step, state: "bad", detail: `${text(at(entry, "algorithm"))} is not ed25519.` };
  const answers = await Promise.all(named.map((key) => signed(hash, text(at(entry, "signature")), key.public_key)));
  if (answers.includes("by")) return { ...step, state: "good", detail: "Ed25519 over the hash that was computed here." };
  if (answers.includes("cannot tell")) {
    const detail = "This browser gives no Ed25519 to this page (open it over TLS or from loopback), so the signature is not checked.";
    return { ...step, name: `${step.name}-untold`, state: "open", detail };
  }
  return { ...step, state: "bad", detail: `The signature in the name of ${keyId} is not by that key over this receipt.` };
}
