// The closed schema of receipts (`receipt-2026-04-25`) as a table of short words: a member that must be there has
// no mark, one that may be there ends with `?`.

/** @typedef {import("./canon.js").Json} Json */
/** @typedef {{ path: string, problem: string }} Breach */
/** @typedef {string | string[] | Shape | [Shape]} Kind a word below, the words allowed, an object, or a list of objects */
/** @typedef {{ [name: string]: any }} Shape */

const TIERS = ["shadow", "suggest", "act_with_approval", "act_auto"];
const AMOUNT = { "usd?": "amount", "input_tokens?": "count", "output_tokens?": "count", "tool_calls?": "count", "wall_time_ms?": "count" };
const MODEL = { provider: "text", model: "text", "version?": "text", "reason?": "text" };
const MATERIAL_KINDS = ["llm_provider_response", "mcp_tool_return", "event_log", "artifact", "host_fact"];

/** One of these sets must be in a material. */
const MATERIAL_PARTS = [["uri", "sha256"], ["bytes_base64", "sha256"], ["metadata"]];
const MATERIAL = {
  kind: MATERIAL_KINDS, "id?": "text", "uri?": "text", "sha256?": "digest", "content_type?": "text",
  "bytes_base64?": "text", "metadata?": "open",
};

const RECEIPT = {
  schema: ["receipt-2026-04-25"],
  receipt_id: "text",
  subject: { object: ["task", "outcome", "event", "artifact", "approval", "tool_call", "replay_segment"], id: "text" },
  issuer: { id: "text", kind: ["harness", "host", "agent", "connector"], "name?": "text", "version?": "text", "public_key_id?": "text" },
  issued_at: "time",
  identifiers: {
    "tenant_id?": "text", "persona_ref?": "text", workspace_ref: "text", session_id: "text", task_id: "text",
    "branch_id?": "text", "trace_id?": "text",
  },
  lifecycle: {
    "created_at?": "time", started_at: "time", completed_at: "time", final_state: ["SUCCEEDED", "FAILED", "CANCELED"],
    "failure?": "open or null",
  },
  "approvals?": [{
    "approval_id?": "text", actor: "text", action: "text", decision: ["approved", "denied", "canceled", "timeout"],
    decided_at: "time", "quorum_proof?": "open or null", "evidence_hash?": "digest",
  }],
  trust: { start_tier: TIERS, end_tier: TIERS, "policy_ref?": "text" },
  autonomy_budget: { "limit?": AMOUNT, consumed: AMOUNT },
  replay_input: {
    determinism: ["byte_deterministic", "best_effort", "unavailable"], materials: [MATERIAL], "unavailable_reason?": "text",
  },
  model_route: { chosen_model: MODEL, alternatives_considered: [MODEL], route_policy_reason: "text" },
  cost: {
    currency: "currency", total: "amount",
    provider_breakdown: [{
      provider: "text", "model?": "text", amount: "amount", "input_tokens?": "count", "output_tokens?": "count", "metadata?": "open",
    }],
  },
  side_effects: {
    fs_writes: [{
      path: "text", operation: ["create", "modify", "delete", "rename"], "before_sha256?": "digest or null",
      "after_sha256?": "digest or null",
    }],
    network_egress: [{ destination: "text", purpose: "text", "bytes_sent?": "count", "metadata?": "open" }],
    tool_calls: [{
      tool: "text", call_id: "text", status: ["succeeded", "failed", "canceled"], "input_hash?": "digest", "output_hash?": "digest",
      "metadata?": "open",
    }],
    a2a_handoffs: [{
      target_agent: "text", task_id: "text", status: ["accepted", "rejected", "failed", "completed"], "receipt_id?": "text",
    }],
  },
  final_artifacts: [{ artifact_id: "text", kind: "text", "uri?": "text", "sha256?": "digest" }],
  "deltas?": [{
    "delta_id?": "text", operation: ["add", "replace", "remove"], path: "text", "override_key?": "text", "event_id?": "text",
    "before_sha256?": "digest or null", "after_sha256?": "digest or null", "artifact_id?": "text", "reason?": "text",
  }],
  chain: { previous_receipt_hash: "digest or null", receipt_hash: "digest", "merkle_root?": "digest" },
  "redactions?": [{ field: "text", reason: "text", "proof_hash?": "digest" }],
  "signatures?": [{ key_id: "text", algorithm: "text", signature: "text", "signed_at?": "time" }],
  "metadata?": "open",
};

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** @param {unknown} value @returns {value is Record<string, Json>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @type {Record<string, [(value: any) => boolean, string]>} */
const WORDS = {
  text: [(value) => typeof value === "string" && value !== "", "a text that is not empty"],
  digest: [(value) => typeof value === "string" && DIGEST.test(value), "sha256: and 64 lowercase hexadecimal digits"],
  "digest or null": [(value) => value === null || (typeof value === "string" && DIGEST.test(value)), "sha256: and 64 lowercase hexadecimal digits, or null"],
  time: [(value) => typeof value === "string" && TIME.test(value), "a time as RFC 3339 has it"],
  currency: [(value) => typeof value === "string" && /^[A-Z]{3}$/.test(value), "three capital letters"],
  count: [(value) => Number.isInteger(value) && value >= 0, "an integer from 0 on"],
  amount: [(value) => typeof value === "number" && value >= 0, "a number from 0 on"],
  open: [isObject, "an object"],
  "open or null": [(value) => value === null || isObject(value), "an object or null"],
};

/** Every breach of the schema. @param {Json} receipt @returns {Breach[]} */
export function breaches(receipt) {
  /** @type {Breach[]} */
  const found = [];
  checkObject(receipt, RECEIPT, "", found);
  return found.slice(0, 100);
}

/** @param {Json} value @param {Shape} shape @param {string} path @param {Breach[]} found */
function checkObject(value, shape, path, found) {
  if (!isObject(value)) {
    found.push({ path, problem: "must be an object" });
    return;
  }
  for (const name of Object.keys(value)) {
    const known = Object.hasOwn(shape, name) || Object.hasOwn(shape, `${name}?`);
    if (!known) found.push({ path: below(path, name), problem: "is not a member that receipts have" });
  }
  if (shape === MATERIAL && !MATERIAL_PARTS.some((names) => names.every((name) => Object.hasOwn(value, name)))) {
    found.push({ path, problem: "must have `uri` and `sha256`, `bytes_base64` and `sha256`, or `metadata`" });
  }
  for (const [entry, kind] of Object.entries(shape)) {
    const name = entry.replace(/\?$/, "");
    if (Object.hasOwn(value, name)) checkMember(/** @type {Json} */ (value[name]), kind, below(path, name), found);
    else if (name === entry) found.push({ path: below(path, name), problem: "is required" });
  }
}

/** @param {Json} value @param {Kind} kind @param {string} path @param {Breach[]} found */
function checkMember(value, kind, path, found) {
  if (typeof kind === "string") {
    const [holds, expected] = WORDS[kind] ?? [() => false, kind];
    if (!holds(value)) found.push({ path, problem: `must be ${expected}` });
  } else if (!Array.isArray(kind)) {
    checkObject(value, kind, path, found);
  } else if (typeof kind[0] === "string") {
    if (!kind.some((word) => word === value)) found.push({ path, problem: `must be one of ${kind.join(", ")}` });
  } else if (!Array.isArray(value)) {
    found.push({ path, problem: "must be an array" });
  } else {
    const shape = /** @type {Shape} */ (kind[0]);
    value.forEach((item, index) => checkObject(item, shape, `${path}/${index}`, found));
  }
}

/** @param {string} path @param {string} name */
const below = (path, name) => `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
