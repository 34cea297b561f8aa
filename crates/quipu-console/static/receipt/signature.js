// Ed25519 signatures, by the browser's own cryptography. A page that came neither over TLS nor from loopback has none,
// and then it says so instead of guessing.

/** @typedef {{ key_id: string, public_key: string }} TrustedKey `public_key` in base64 */
/** @typedef {"by" | "not by" | "cannot tell"} Answer */

const ALGORITHM = "Ed25519";

/** @param {string} text @returns {Uint8Array<ArrayBuffer> | null} */
export function fromBase64(text) {
  try {
    const raw = atob(text);
    // Only the one way to write these bytes counts.
    if (btoa(raw) !== text) return null;
    return Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

/**
 * Whether a key made a signature over a text.
 * @param {string} text
 * @param {string} signature `base64:` and the bytes
 * @param {string} publicKey base64 of 32 bytes
 * @returns {Promise<Answer>}
 */
export async function signed(text, signature, publicKey) {
  const bytes = signature.startsWith("base64:") ? fromBase64(signature.slice("base64:".length)) : null;
  const raw = fromBase64(publicKey);
  if (!bytes || !raw || raw.length !== 32) return "not by";
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return "cannot tell";
  let key;
  try {
    key = await subtle.importKey("raw", raw, ALGORITHM, false, ["verify"]);
  } catch (error) {
    return error instanceof DOMException && error.name === "NotSupportedError" ? "cannot tell" : "not by";
  }
  const holds = await subtle.verify(ALGORITHM, key, bytes, new TextEncoder().encode(text));
  return holds ? "by" : "not by";
}

/** Reads `KEY_ID=BASE64`. @param {string} text @returns {TrustedKey | null} */
export function readKey(text) {
  const [, key_id = "", public_key = ""] = /^\s*([^=\s]+)=(\S+)\s*$/.exec(text) ?? [];
  return key_id && fromBase64(public_key)?.length === 32 ? { key_id, public_key } : null;
}
