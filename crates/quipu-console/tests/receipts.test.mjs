// The browser's own check of receipts, held against receipts of a real server: whole ones hold, and whatever
// is altered in one is found.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { canonical, NotCanonical } from "../static/receipt/canon.js";
import { breaches } from "../static/receipt/schema.js";
import { fromBase64, readKey } from "../static/receipt/signature.js";
import { NotStrict, parse } from "../static/receipt/strict.js";
import { verify } from "../static/receipt/verify.js";
import { digest } from "../static/sha256.js";
import { finishedTask, replayed } from "./scenes.mjs";
import { Server } from "./server.mjs";

/** @type {Server} */ let server;
/** @type {any} */ let first;
/** @type {any} */ let second;
/** @type {any} */ let replay;
/** @type {any[]} */ let keys;

/** @param {string} task */
const receiptOf = async (task) => (await server.call(`/v1/tasks/${task}/receipts`)).data[0].wire.payload;

before(async () => {
  server = await Server.start();
  const task = await finishedTask(server);
  first = await receiptOf(task);
  second = await receiptOf(await finishedTask(server));
  replay = await receiptOf((await replayed(server, task, { tier: "tin" })).id);
  keys = (await server.call("/v1/agent-card")).metadata.receipt_keys;
});

after(() => server?.end());

/** @param {any} verdict */
const bad = (verdict) => verdict.steps.filter((/** @type {any} */ step) => step.state === "bad").map((/** @type {any} */ step) => step.name);

test("SHA-256 gives the published digests", () => {
  assert.equal(digest(""), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(digest("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const long = digest("a".repeat(1_000_000));
  assert.equal(long, "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (let length = 50; length < 70; length += 1) assert.notEqual(digest("x".repeat(length)), digest("x".repeat(length + 1)));
});

test("SHA-256 agrees with the machine's own for every length around a block", async () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + length) % 256);
    const own = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
    assert.equal(digest(bytes), `sha256:${own}`);
  }
});

test("canonical JSON sorts by UTF-16, writes the shortest numbers and the fewest escapes", () => {
  assert.equal(canonical({ "€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\u0080": 6, "ö": 7 }),
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"דּ":3}');
  assert.equal(canonical([333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0]), "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]");
  assert.equal(canonical({ b: [null, true], a: "\u000f\n\"\\/" }), '{"a":"\\u000f\\n\\"\\\\/","b":[null,true]}');
  assert.throws(() => canonical("\ud800"), NotCanonical);
  assert.throws(() => canonical(Number.NaN), NotCanonical);
});

test("strict JSON refuses what JSON.parse would pass over", () => {
  assert.deepEqual(parse(' {"a": [1, -2.5e3, "\\u00e9"], "b": {"c": null}} '), { a: [1, -2500, "é"], b: { c: null } });
  for (const text of ['{"a":1,"a":2}', "9007199254740993", "[1,]", "{} {}", "01", '"\n"', "nul", "", "[".repeat(70)]) {
    assert.throws(() => parse(text), NotStrict, text);
  }
  assert.deepEqual(Object.keys(/** @type {any} */ (parse('{"__proto__": 1}'))), ["__proto__"]);
});

test("receipts of a real server hold, chain and signature included", async () => {
  for (const [receipt, previous] of [[second, first.chain.receipt_hash], [replay, first.chain.receipt_hash]]) {
    const verdict = await verify(receipt, { keys, previous, taskId: receipt.identifiers.task_id });
    assert.deepEqual(verdict.steps.map((step) => step.state), Array(verdict.steps.length).fill("good"), JSON.stringify(verdict));
    assert.equal(verdict.hash, receipt.chain.receipt_hash);
  }
});

test("what cannot be checked is neither good nor bad", async () => {
  const verdict = await verify(second, {});
  assert.deepEqual(verdict.steps.filter((step) => step.state === "open").map((step) => step.name), ["chain", "signature-0", "unsigned"]);
  assert.ok(verdict.valid);
});

test("a browser that gives no Ed25519 leaves the signature unchecked, and says so", async () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    const verdict = await verify(second, { keys, previous: first.chain.receipt_hash });
    const step = verdict.steps.find((one) => one.name.startsWith("signature-0"));
    assert.equal(step?.state, "open");
    assert.match(step?.detail ?? "", /open it over TLS or from loopback/);
    assert.ok(verdict.valid, "what could be checked holds");
  } finally {
    if (own) Object.defineProperty(globalThis, "crypto", own);
  }
});

/** Every place of a value with another value in it. @param {any} value @param {string[]} [path] @returns {Generator<string[]>} */
function* leaves(value, path = []) {
  if (typeof value !== "object" || value === null) yield path;
  else for (const name of Object.keys(value)) yield* leaves(value[name], [...path, name]);
}

/** @param {any} receipt @param {string[]} path @param {(old: any) => any} change */
function altered(receipt, path, change) {
  const copy = structuredClone(receipt);
  const name = /** @type {string} */ (path.at(-1));
  const parent = path.slice(0, -1).reduce((/** @type {any} */ at, step) => at[step], copy);
  const next = change(parent[name]);
  if (next === undefined) delete parent[name];
  else parent[name] = next;
  return copy;
}

/** @param {any} old */
const other = (old) => (typeof old === "number" ? old + 1 : typeof old === "boolean" ? !old : old === null ? "x" : `${old}x`);

test("a receipt that is altered in any one place does not hold", async () => {
  let tried = 0;
  for (const receipt of [second, replay]) {
    for (const path of leaves(receipt)) {
      // When a signature was made is beside the signature; the protocol does not seal it.
      if (path.at(-1) === "signed_at") continue;
      for (const change of [other, () => undefined]) {
        const verdict = await verify(altered(receipt, path, change), { keys, previous: first.chain.receipt_hash });
        assert.ok(!verdict.valid, `/${path.join("/")} was altered and nothing noticed it`);
        tried += 1;
      }
    }
  }
  assert.ok(tried > 100, `${tried}`);
});

test("each kind of alteration is found by its own step", async () => {
  const previous = first.chain.receipt_hash;
  const check = async (/** @type {string[]} */ path, /** @type {any} */ value) =>
    bad(await verify(altered(second, path, () => value), { keys, previous }));
  assert.deepEqual(await check(["cost", "total"], 5), ["hash", "signature-0", "unsigned"]);
  assert.deepEqual(await check(["chain", "receipt_hash"], `sha256:${"0".repeat(64)}`), ["hash"]);
  assert.ok((await check(["mood"], "good")).includes("schema"));
  assert.ok((await check(["chain", "previous_receipt_hash"], null)).includes("chain"));
  assert.deepEqual(await check(["signatures", "0", "signature"], replay.signatures[0].signature), ["signature-0", "unsigned"]);
  assert.deepEqual(await check(["signatures"], []), ["unsigned"]);
  const resealed = altered(second, ["cost", "total"], () => 5);
  const { hash } = await verify(resealed, {});
  resealed.chain.receipt_hash = hash;
  assert.deepEqual(bad(await verify(resealed, { keys, previous })), ["signature-0", "unsigned"], "a new hash needs the key");
  assert.deepEqual(bad(await verify(second, { keys, previous, taskId: "task_other" })), ["subject"]);
});

test("the schema is closed and names the place", () => {
  assert.deepEqual(breaches(first), []);
  assert.deepEqual(breaches({ ...first, constructor: 1 }), [{ path: "/constructor", problem: "is not a member that receipts have" }]);
  const paths = (/** @type {any} */ patch) => breaches({ ...first, ...patch }).map((breach) => breach.path);
  assert.deepEqual(paths({ issued_at: "yesterday" }), ["/issued_at"]);
  assert.deepEqual(paths({ deltas: [3] }), ["/deltas/0"]);
  assert.deepEqual(paths({ chain: { previous_receipt_hash: [first.chain.receipt_hash], receipt_hash: "x" } }),
    ["/chain/previous_receipt_hash", "/chain/receipt_hash"]);
  assert.equal(breaches(null)[0]?.problem, "must be an object");
});

test("a key is read in one way only", () => {
  const key = keys[0];
  assert.deepEqual(readKey(` ${key.key_id}=${key.public_key} `), { key_id: key.key_id, public_key: key.public_key });
  for (const wrong of ["", "a", "a=", `a=${"A".repeat(44)}`, `=${key.public_key}`]) assert.equal(readKey(wrong), null, wrong);
  assert.equal(fromBase64("AB=="), null, "bits beyond the last byte");
});
