// Proofs about the log, checked here and not by the server: the hash of a commit's header, its place in the Merkle
// tree (RFC 6962), and the signature under the tree's root (a C2SP note).

import { canonical } from "./receipt/canon.js";
import { fromBase64, signed } from "./receipt/signature.js";
import { hex, sha256 } from "./sha256.js";

/** @typedef {{ name: string, holds: boolean | null, detail: string }} Step `null`: it could not be checked here */

/** The hash that the log gives a commit with this header. @param {any} header */
export const headerHash = (header) => hex(sha256(new TextEncoder().encode(canonical(header))));

/** @param {...Uint8Array} parts */
function joined(...parts) {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @param {Uint8Array} left @param {Uint8Array} right */
const inner = (left, right) => sha256(joined(Uint8Array.of(1), left, right));

/**
 * The root that a leaf and its siblings give (RFC 9162, 2.1.3.2).
 * @param {Uint8Array} entry
 * @param {number} index
 * @param {number} size
 * @param {Uint8Array[]} path
 * @returns {Uint8Array | null} nothing where no such path can be
 */
export function rootOf(entry, index, size, path) {
  if (index >= size) return null;
  let [at, last] = [index, size - 1];
  let node = sha256(joined(Uint8Array.of(0), entry));
  for (const sibling of path) {
    if (last === 0) return null;
    if (at % 2 === 1 || at === last) {
      node = inner(sibling, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      node = inner(node, sibling);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? node : null;
}

/** @param {string} text of a proof file */
export function readProof(text) {
  const [top = "", ...rest] = text.split("\n\n");
  const lines = top.split("\n");
  const word = (/** @type {string} */ name) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
  const path = lines.slice(lines.findIndex((line) => line.startsWith("index ")) + 1).filter(Boolean).map(bytes);
  const [note = "", signatures = ""] = rest;
  const [origin = "", size = "", root = ""] = note.split("\n");
  const header = new TextDecoder().decode(bytes(word("extra")));
  return { header, index: Number(word("index")), path, origin, size: Number(size), root: bytes(root), note: `${note}\n`, signatures };
}

/** @param {string} text @returns {Uint8Array} */
const bytes = (text) => fromBase64(text) ?? new Uint8Array();

/**
 * Checks a proof file step by step.
 * @param {string} text the file
 * @param {string} verifier the key that checkpoints are checked with, as the log names it
 * @param {{ position: number, unit?: string }} claim what it is said to prove
 * @returns {Promise<Step[]>}
 */
export async function checkProof(text, verifier, claim) {
  const proof = readProof(text);
  const hash = sha256(new TextEncoder().encode(proof.header));
  /** @type {any} */
  let header = {};
  try {
    header = JSON.parse(proof.header);
  } catch {
    // It is said below that it is not the header that was meant.
  }
  const names = (header.events ?? []).some((/** @type {any} */ sealed) => !claim.unit || sealed.event?.unit === claim.unit);
  const root = rootOf(hash, proof.index, proof.size, proof.path);
  const sameRoot = root !== null && hex(root) === hex(proof.root);
  const signature = await checkNote(proof, verifier);
  const about = claim.unit ? `commit ${claim.position} recorded ${claim.unit}` : `it is commit ${claim.position}`;
  return [
    { name: "The header is the one that is meant", holds: header.position === claim.position && proof.index === claim.position - 1 && names, detail: about },
    { name: "Its hash is the tree's leaf", holds: root !== null, detail: `SHA-256 ${hex(hash)}` },
    { name: "The path leads to the root", holds: sameRoot, detail: `${proof.path.length} siblings up to ${hex(proof.root)}, a log of ${proof.size} commits` },
    { name: "The root is signed", holds: signature, detail: signature === null ? "this browser cannot check Ed25519 here" : `by ${proof.origin}` },
  ];
}

/**
 * @param {ReturnType<typeof readProof>} proof
 * @param {string} verifier `name+hash+base64`
 * @returns {Promise<boolean | null>}
 */
async function checkNote(proof, verifier) {
  const [name = "", , material = ""] = verifier.trim().split("+");
  const publicKey = bytes(verifier.trim().slice(verifier.trim().indexOf(material)));
  const line = proof.signatures.split("\n").find((other) => other.startsWith(`\u2014 ${name} `));
  const given = bytes(line?.split(" ").at(-1) ?? "");
  if (given.length !== 68 || publicKey.length !== 33 || name !== proof.origin) return false;
  const text = (/** @type {Uint8Array} */ raw) => btoa(String.fromCharCode(...raw));
  const answer = await signed(proof.note, `base64:${text(given.slice(4))}`, text(publicKey.slice(1)));
  return answer === "cannot tell" ? null : answer === "by";
}
